package symfmt

import (
	"encoding/binary"
	"slices"
)

// DropInlines removes all INLINE and INLINE_ORIGIN records and returns the number removed.
func (m *Module) DropInlines() int {
	n := len(m.Origins)
	m.Origins = nil
	var b BodyBuilder
	var a Arena
	for i := range m.Funcs {
		f := &m.Funcs[i]
		inlines, _ := f.Body.Counts()
		if inlines == 0 {
			continue
		}
		n += inlines
		b.Reset(f.RVA)
		for l := range f.Lines() {
			b.AddLine(l)
		}
		f.Body = b.Finish(&a)
	}
	return n
}

// DropCFI removes all STACK CFI and STACK WIN records and returns the number removed.
func (m *Module) DropCFI() int {
	n := len(m.CFI.Blocks) + m.CFI.TextRows() + len(m.Wins)
	m.CFI, m.Wins = CFITable{}, nil
	return n
}

// KeepCFI removes all records except MODULE, INFO, STACK CFI and STACK WIN, and
// returns the number removed.
func (m *Module) KeepCFI() int {
	n := 0
	for kind, count := range m.counts() {
		switch Kind(kind) {
		case KindFile, KindInlineOrigin, KindFunc, KindInline, KindLine, KindPublic:
			n += count
		}
	}
	m.Files, m.Origins, m.Funcs, m.Publics = nil, nil, nil, nil
	return n
}

// MapFiles replaces each file's name with the result of f.
func (m *Module) MapFiles(f func(string) string) {
	for i := range m.Files {
		m.Files[i].Name = f(m.Files[i].Name)
	}
}

// Deduplicate removes records that repeat another one: equal FUNCs with equal
// bodies, PUBLICs, STACK WINs and INFOs, and STACK CFI INITs with equal rows.
// It returns the number removed. m must be canonical (see Canonicalize).
func (m *Module) Deduplicate() int {
	before := m.deduplicated()
	m.Infos = uniqueInfos(m.Infos)
	m.Funcs = unique(m.Funcs, compareFuncs, func(f *Func) string { return string(f.Body.data) })
	m.Publics = slices.Compact(m.Publics)
	m.Wins = unique(m.Wins, compareWins, func(w *StackWin) StackWin { return *w })
	m.CFI.Blocks = unique(m.CFI.Blocks, compareBlocks, m.CFI.blockKey)
	m.CFI.dropLooseRows()
	return before - m.deduplicated()
}

func (m *Module) deduplicated() int {
	return len(m.Infos) + len(m.Funcs) + len(m.Publics) + len(m.Wins) + len(m.CFI.Blocks)
}

func uniqueInfos(infos []Info) []Info {
	have := make(map[Info]bool, len(infos))
	return slices.DeleteFunc(infos, func(in Info) bool {
		again := have[in]
		have[in] = true
		return again
	})
}

// unique removes all but the first record with each key among adjacent records
// that compare as equal.
func unique[T any, K comparable](s []T, compare func(a, b *T) int, key func(*T) K) []T {
	out := s[:0]
	for i := 0; i < len(s); {
		end := i + 1
		for end < len(s) && compare(&s[i], &s[end]) == 0 {
			end++
		}
		if end == i+1 {
			out = append(out, s[i])
			i = end
			continue
		}
		have := make(map[K]bool, end-i)
		for ; i < end; i++ {
			if k := key(&s[i]); !have[k] {
				have[k] = true
				out = append(out, s[i])
			}
		}
	}
	clear(s[len(out):])
	return out
}

// blockKey returns a key of a block: its rules, by number, and their addresses.
func (t *CFITable) blockKey(b *CFIBlock) string {
	key := binary.AppendUvarint([]byte{byte(b.Marks)}, uint64(b.Init))
	for _, row := range t.Rows[b.First : b.First+b.Count] {
		key = binary.AppendUvarint(binary.AppendUvarint(append(key, byte(row.Marks)), uint64(row.RVA)), uint64(row.Rules))
	}
	return string(key)
}

// dropLooseRows removes the rows that belong to no block.
func (t *CFITable) dropLooseRows() {
	n := 0
	for i := range t.Blocks {
		n += int(t.Blocks[i].Count)
	}
	if n == len(t.Rows) {
		return
	}
	rows := make([]CFIRow, 0, n)
	for i := range t.Blocks {
		b := &t.Blocks[i]
		first := uint32(len(rows))
		rows = append(rows, t.Rows[b.First:b.First+b.Count]...)
		b.First = first
	}
	t.Rows = rows
}

// sameBlock reports whether a, a block of t, and b, a block of o, are equal.
func (t *CFITable) sameBlock(a *CFIBlock, o *CFITable, b *CFIBlock) bool {
	return a.RVA == b.RVA && a.Size == b.Size && t.Rules.Text(a.Init) == o.Rules.Text(b.Init) &&
		slices.EqualFunc(t.Rows[a.First:a.First+a.Count], o.Rows[b.First:b.First+b.Count], func(x, y CFIRow) bool {
			return x.RVA == y.RVA && t.Rules.Text(x.Rules) == o.Rules.Text(y.Rules)
		})
}
