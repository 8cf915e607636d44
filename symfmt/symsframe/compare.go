package symsframe

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// Comparison counts where SFrame and STACK CFI agree on the CFA, the return
// address and the frame pointer. Numbers of bytes are bytes of code.
type Comparison struct {
	Base        uint64 // address of RVA 0
	SFrame, CFI Coverage

	Equal, Different, OnlySFrame, OnlyCFI uint64 // bytes

	Differences []Difference // ascending

	// Functions without any counterpart on the other side, ascending.
	FuncsOnlySFrame, FuncsOnlyCFI []symfmt.Range
}

// Coverage counts what one side describes.
type Coverage struct {
	Funcs, Rows  int
	Bytes        uint64
	SectionBytes uint64 // size of the section or sections; Compare leaves CFI's to the caller
}

// Difference is code for which the two sides have different rules.
type Difference struct {
	symfmt.Range
	SFrame, CFI string // the rules in force, as STACK CFI
}

// Compare compares a section with a table at each address where either changes.
// Rules are equal if they have the same effect, as far as cfi.Expr can see; in
// the outermost frame the CFA is not compared. The stack pointer is left out,
// as SFrame does not record it.
func Compare(s *sframe.Section, t *symfmt.CFITable, cpu *arch.Arch, o ToOptions) *Comparison {
	var own symfmt.CFITable
	AppendCFI(&own, s, o)
	m := comparer{names: t.Rules.Names(), out: &Comparison{Base: o.Base}, number: map[string]int32{}}
	m.fp = m.names.Lookup(cpu.FP)
	a, b := m.side(&own), m.side(t)
	m.run(a, b)
	m.out.SFrame, m.out.FuncsOnlySFrame = a.coverage(), a.alone()
	m.out.CFI, m.out.FuncsOnlyCFI = b.coverage(), b.alone()
	m.out.SFrame.SectionBytes = s.Size()
	return m.out
}

// span is code with one set of rules.
type span struct { // 24 bytes: PCMASK functions make half a million
	lo, hi symfmt.RVA
	block  int32
	rules  int32 // index in comparer.sets
}

// threeRules are the rules that SFrame can express.
type threeRules struct{ cfa, ra, fp cfi.Expr }

// side is one table as spans in ascending order, without overlaps.
type side struct {
	t     *symfmt.CFITable
	spans []span
	met   []bool // by block: the other side has something for it
}

type comparer struct {
	names  *cfi.Names
	fp     cfi.Reg
	out    *Comparison
	sets   []threeRules
	number map[string]int32 // of sets, by code
	key    []byte
}

// side makes spans of a table. Blocks in our own tables do not overlap; in
// other tables, the block that starts last wins, and ends the one before.
func (m *comparer) side(t *symfmt.CFITable) *side {
	s := &side{t: t, met: make([]bool, len(t.Blocks))}
	order := make([]int32, len(t.Blocks))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(t.Blocks[a].RVA, t.Blocks[b].RVA) })
	rules := make([]cfi.Rules, t.Rules.Len())
	for id := range rules { // treat unreadable rules as missing
		rules[id], _ = t.Rules.Rules(symfmt.RuleID(id))
		rules[id] = m.names.Translate(rules[id])
	}
	for _, i := range order {
		s.add(m, i, rules)
	}
	return s
}

func (s *side) add(m *comparer, block int32, rules []cfi.Rules) {
	b := &s.t.Blocks[block]
	if n := len(s.spans); n > 0 && s.spans[n-1].hi > b.RVA {
		s.spans[n-1].hi = max(s.spans[n-1].lo, b.RVA)
	}
	var row cfi.Row
	row.Apply(rules[b.Init])
	end := b.RVA + symfmt.RVA(b.Size)
	at := span{lo: b.RVA, hi: end, block: block, rules: m.three(&row)}
	for _, r := range s.t.Rows[b.First : b.First+b.Count] {
		row.Apply(rules[r.Rules])
		next := m.three(&row)
		if r.RVA < at.lo || r.RVA >= end || m.equal(at.rules, next) {
			continue
		}
		if r.RVA > at.lo {
			at.hi = r.RVA
			s.spans = append(s.spans, at)
		}
		at = span{lo: r.RVA, hi: end, block: block, rules: next}
	}
	s.spans = append(s.spans, at)
}

// three returns the number of the rules in force; without a rule, the frame
// pointer is unchanged.
func (m *comparer) three(row *cfi.Row) int32 {
	r := threeRules{row.CFA, row.RA, row.Rule(m.fp)}
	if r.fp.IsZero() {
		r.fp = m.names.Offset(m.fp, 0)
	}
	m.key = r.fp.AppendCode(r.ra.AppendCode(r.cfa.AppendCode(m.key[:0])))
	n, ok := m.number[string(m.key)]
	if !ok {
		n = int32(len(m.sets))
		m.sets = append(m.sets, r)
		m.number[string(m.key)] = n
	}
	return n
}

func (m *comparer) equal(x, y int32) bool {
	if x == y {
		return true
	}
	a, b := &m.sets[x], &m.sets[y]
	if a.ra.EndsStack() || b.ra.EndsStack() {
		return a.ra.EndsStack() && b.ra.EndsStack()
	}
	return a.ra.Equal(b.ra) && a.cfa.Equal(b.cfa) && a.fp.Equal(b.fp)
}

// text returns the rules in the form of a STACK CFI INIT record.
func (m *comparer) text(set int32) string {
	r := &m.sets[set]
	row := cfi.Row{CFA: r.cfa, RA: r.ra}
	if !r.fp.Equal(m.names.Offset(m.fp, 0)) {
		row.Regs = []cfi.Rule{{Reg: m.fp, Expr: r.fp}}
	}
	return row.String()
}

// run visits the spans of both sides.
func (m *comparer) run(a, b *side) {
	i, j := 0, 0
	at := symfmt.RVA(0)
	for i < len(a.spans) || j < len(b.spans) {
		var x, y *span
		next := ^symfmt.RVA(0)
		if i < len(a.spans) {
			if x = &a.spans[i]; x.hi <= at {
				i++
				continue
			}
			next = min(next, edge(x, at))
		}
		if j < len(b.spans) {
			if y = &b.spans[j]; y.hi <= at {
				j++
				continue
			}
			next = min(next, edge(y, at))
		}
		m.count(a, b, holding(x, at), holding(y, at), symfmt.Range{RVA: at, Size: uint64(next - at)})
		at = next
	}
}

// edge returns the next address at which a span begins or ends.
func edge(s *span, at symfmt.RVA) symfmt.RVA {
	if at < s.lo {
		return s.lo
	}
	return s.hi
}

// holding returns s if it is in force at an address, otherwise nil.
func holding(s *span, at symfmt.RVA) *span {
	if s == nil || at < s.lo {
		return nil
	}
	return s
}

// count counts a piece of code to which x and y apply; either may be nil.
func (m *comparer) count(a, b *side, x, y *span, code symfmt.Range) {
	switch {
	case x == nil && y == nil:
		return
	case y == nil:
		m.out.OnlySFrame += code.Size
		return
	case x == nil:
		m.out.OnlyCFI += code.Size
		return
	}
	a.met[x.block], b.met[y.block] = true, true
	if m.equal(x.rules, y.rules) {
		m.out.Equal += code.Size
		return
	}
	m.out.Different += code.Size
	m.differ(Difference{code, m.text(x.rules), m.text(y.rules)})
}

// differ adds a difference, or extends the last one.
func (m *comparer) differ(d Difference) {
	if n := len(m.out.Differences); n > 0 {
		last := &m.out.Differences[n-1]
		if last.RVA+symfmt.RVA(last.Size) == d.RVA && last.SFrame == d.SFrame && last.CFI == d.CFI {
			last.Size += d.Size
			return
		}
	}
	m.out.Differences = append(m.out.Differences, d)
}

func (s *side) coverage() Coverage {
	c := Coverage{Funcs: len(s.t.Blocks), Rows: len(s.spans)}
	for i := range s.spans {
		c.Bytes += uint64(s.spans[i].hi - s.spans[i].lo)
	}
	return c
}

// alone returns the blocks without any counterpart on the other side.
func (s *side) alone() (out []symfmt.Range) {
	for i := range s.t.Blocks {
		if b := &s.t.Blocks[i]; !s.met[i] && b.Size > 0 {
			out = append(out, symfmt.Range{RVA: b.RVA, Size: b.Size})
		}
	}
	slices.SortFunc(out, func(a, b symfmt.Range) int { return cmp.Compare(a.RVA, b.RVA) })
	return out
}
