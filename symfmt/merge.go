package symfmt

import (
	"cmp"
	"fmt"
	"slices"
)

// Merged tells what Merge left out of a module, because another one had it.
type Merged struct {
	Funcs   int // at an address at which m has a FUNC
	Publics int // at an address and with a name that m has, or inside of a FUNC's first byte
	Blocks  int // STACK CFI INITs over code that m has rules for
	Wins    int // STACK WINs equal to one of m
}

// Merge adds the records of o to m: the symbols and the call frame information of
// one binary that were dumped from two files. The two must be of one binary: the
// error says in what they differ. Where both say something of the same code, m
// counts; the bodies of o are taken over and must not be used any more.
func (m *Module) Merge(o *Module) (Merged, error) {
	var out Merged
	for _, f := range [...]struct{ what, a, b string }{
		{"id", m.ID, o.ID}, {"architecture", m.Arch, o.Arch}, {"operating system", m.OS, o.OS},
	} {
		if f.a != f.b {
			return out, fmt.Errorf("not of one binary: the %s is %s and %s", f.what, f.a, f.b)
		}
	}
	for _, in := range o.Infos {
		if !slices.Contains(m.Infos, in) {
			m.Infos = append(m.Infos, in)
		}
	}
	out.Funcs = m.mergeFuncs(o)
	out.Publics = m.mergePublics(o)
	out.Blocks = m.CFI.merge(&o.CFI)
	have := make(map[StackWin]bool, len(m.Wins))
	for _, w := range m.Wins {
		have[w] = true
	}
	for _, w := range o.Wins {
		if have[w] {
			out.Wins++
			continue
		}
		m.Wins = append(m.Wins, w)
	}
	return out, nil
}

// mergeFuncs adds FUNCs with the FILEs and INLINE_ORIGINs that they use.
func (m *Module) mergeFuncs(o *Module) (left int) {
	have := make(map[RVA]bool, len(m.Funcs))
	for i := range m.Funcs {
		have[m.Funcs[i].RVA] = true
	}
	files, origins := m.adoptFiles(o), m.adoptOrigins(o)
	for i := range o.Funcs {
		if f := o.Funcs[i]; have[f.RVA] {
			left++
		} else {
			f.Body.Renumber(files, origins)
			m.Funcs = append(m.Funcs, f)
		}
	}
	return left
}

// adoptFiles adds the FILEs of o under new numbers, and returns what they are.
func (m *Module) adoptFiles(o *Module) func(FileID) FileID {
	byName := make(map[string]FileID, len(m.Files))
	for _, f := range m.Files {
		if _, ok := byName[f.Name]; !ok {
			byName[f.Name] = f.ID
		}
	}
	next := m.freeFileID()
	to := make(map[FileID]FileID, len(o.Files))
	for _, f := range o.Files {
		if _, again := to[f.ID]; again {
			continue
		}
		id, ok := byName[f.Name]
		if !ok {
			id = next
			next++
			m.Files = append(m.Files, File{ID: id, Name: f.Name})
			byName[f.Name] = id
		}
		to[f.ID] = id
	}
	return func(id FileID) FileID {
		if to, ok := to[id]; ok {
			return to
		}
		return next // not declared
	}
}

// adoptOrigins is adoptFiles for the INLINE_ORIGINs.
func (m *Module) adoptOrigins(o *Module) func(OriginID) OriginID {
	var next OriginID
	for i := range m.Origins {
		next = max(next, m.Origins[i].ID+1)
	}
	files := m.adoptFiles(o)
	to := make(map[OriginID]OriginID, len(o.Origins))
	for _, x := range o.Origins {
		if _, again := to[x.ID]; again {
			continue
		}
		to[x.ID] = next
		x.ID = next
		if x.HasFile && x.File >= 0 {
			x.File = int64(files(FileID(x.File)))
		}
		m.Origins = append(m.Origins, x)
		next++
	}
	return func(id OriginID) OriginID {
		if to, ok := to[id]; ok {
			return to
		}
		return next
	}
}

// mergePublics adds PUBLICs where there is no FUNC.
func (m *Module) mergePublics(o *Module) (left int) {
	starts := make(map[RVA]bool, len(m.Funcs))
	for i := range m.Funcs {
		starts[m.Funcs[i].RVA] = true
	}
	type key struct {
		rva  RVA
		name string
	}
	have := make(map[key]bool, len(m.Publics))
	m.Publics = slices.DeleteFunc(m.Publics, func(p Public) bool {
		have[key{p.RVA, p.Name}] = true
		if starts[p.RVA] {
			left++
			return true
		}
		return false
	})
	for _, p := range o.Publics {
		if starts[p.RVA] || have[key{p.RVA, p.Name}] {
			left++
			continue
		}
		m.Publics = append(m.Publics, p)
	}
	return left
}

// merge adds the blocks of o over code that t has no block for.
func (t *CFITable) merge(o *CFITable) (left int) {
	taken := slices.Clone(t.Blocks)
	slices.SortFunc(taken, func(a, b CFIBlock) int { return cmp.Compare(a.RVA, b.RVA) })
	// end[i] is the highest end among taken[:i+1].
	end := make([]RVA, len(taken))
	for i := range taken {
		end[i] = taken[i].RVA + RVA(taken[i].Size)
		if i > 0 {
			end[i] = max(end[i], end[i-1])
		}
	}
	for i := range o.Blocks {
		b := o.Blocks[i]
		n, _ := slices.BinarySearchFunc(taken, b.RVA+RVA(b.Size), func(x CFIBlock, rva RVA) int {
			if x.RVA < rva {
				return -1
			}
			return 1
		})
		if n > 0 && end[n-1] > b.RVA {
			left++
			continue
		}
		first := uint32(len(t.Rows))
		for _, row := range o.Rows[b.First : b.First+b.Count] {
			t.Rows = append(t.Rows, CFIRow{row.RVA, t.Rules.Intern([]byte(o.Rules.Text(row.Rules)))})
		}
		b.Init, b.First = t.Rules.Intern([]byte(o.Rules.Text(b.Init))), first
		t.Blocks = append(t.Blocks, b)
	}
	return left
}
