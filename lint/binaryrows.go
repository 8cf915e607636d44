package lint

import (
	"slices"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// stackRows are the STACK CFI rows of a file in the form for comparisons with a binary: 32 bytes a
// row. They are kept only with a binary.
type stackRows struct {
	names  *cfi.Names
	cpu    *arch.Arch
	blocks []rowBlock
	rows   []stackRow
	places []place
	number map[place]uint32
	known  map[*ruleSet][]placeRule // of rule sets, which repeat
	regs   [3]cfi.Reg               // .cfa, .ra, the frame pointer
	saves  []cfi.Reg                // registers whose rules are compared with instructions, the first .ra
	sets   []saveSet
	setNum map[saveSet]uint32
}

// saveSet are the rules of stackRows.saves: in places. Few differ.
type saveSet [maxSaves]uint32

// rowBlock is a STACK CFI INIT: rows[first:end] are its rows, the INIT itself
// the first of them.
type rowBlock struct {
	rva        symfmt.RVA
	size       uint64
	line       uint32
	first, end uint32
}

// stackRow is a record's place, and the rules that are in force from there on.
type stackRow struct {
	rva   symfmt.RVA
	line  uint32
	rules [3]uint32 // of .cfa, .ra and the frame pointer: in places
	saves uint32    // in sets
}

// place is what a rule computes, as far as it has one of the simple forms.
type place struct {
	kind placeKind
	base cfi.Reg
	off  int64
}

type placeKind uint8

const (
	placeNone  placeKind = iota // no rule
	placeOther                  // an expression
	placeUndef
	placeSum  // base + off
	placeLoad // the word in memory at base + off
)

// placeRule is a rule for one of stackRows.regs, or of its saves; -1 for none.
type placeRule struct {
	which, save int
	id          uint32
}

// maxKnownSets limits the cache of rule sets: real files have a few thousand.
const maxKnownSets = 1 << 16

// see adds a record of STACK CFI and its rules.
func (t *stackRows) see(r *symfmt.Record, facts *cfiFacts, cpu *arch.Arch) {
	switch r.Kind {
	case symfmt.KindCFIInit:
		if t.names == nil {
			t.start(cpu)
		}
		n := uint32(len(t.rows))
		t.blocks = append(t.blocks, rowBlock{r.RVA, r.Size, uint32(r.Pos().Line), n, n})
		t.add(r, facts, stackRow{})
	case symfmt.KindCFI:
		if r.Owner != symfmt.OwnerRead {
			return
		}
		t.add(r, facts, t.rows[len(t.rows)-1])
	}
}

func (t *stackRows) start(cpu *arch.Arch) {
	t.cpu, t.names = cpu, cfi.NewNames(cpu)
	t.number, t.known = map[place]uint32{}, map[*ruleSet][]placeRule{}
	t.placeID(place{})
	t.regs = [3]cfi.Reg{cfi.CFA, cfi.RA, cfi.NoReg}
	if cpu != nil && cpu.FP != "" {
		t.regs[2] = t.names.Lookup(cpu.FP)
	}
	t.setNum = map[saveSet]uint32{}
	t.setID(saveSet{})
	if cpu == nil {
		return
	}
	if followed := followedCPU(cpu.Machine, cpu.Class); followed != nil {
		for _, name := range followed.saves {
			t.saves = append(t.saves, t.names.Lookup(name))
		}
	}
}

// add appends the row that a record makes of the one before it.
func (t *stackRows) add(r *symfmt.Record, facts *cfiFacts, row stackRow) {
	row.rva, row.line = r.RVA, uint32(r.Pos().Line)
	t.change(&row, t.rulesOf(facts))
	b := &t.blocks[len(t.blocks)-1]
	// Of two rows at one address the later counts. One that goes back is damage, which the rules of
	// family 4 report.
	if last := &t.rows; b.end > b.first && (*last)[b.end-1].rva == r.RVA {
		(*last)[b.end-1] = row
		return
	}
	if b.end > b.first && t.rows[b.end-1].rva > r.RVA {
		return
	}
	t.rows = append(t.rows, row)
	b.end++
}

// change puts rules in force.
func (t *stackRows) change(row *stackRow, rules []placeRule) {
	set := t.sets[row.saves]
	for _, rule := range rules {
		if rule.which >= 0 {
			row.rules[rule.which] = rule.id
		}
		if rule.save >= 0 {
			set[rule.save] = rule.id
		}
	}
	if set != t.sets[row.saves] {
		row.saves = t.setID(set)
	}
}

func (t *stackRows) setID(set saveSet) uint32 {
	id, ok := t.setNum[set]
	if !ok {
		id = uint32(len(t.sets))
		t.sets = append(t.sets, set)
		t.setNum[set] = id
	}
	return id
}

// rulesOf returns the rules of the record that matter here.
func (t *stackRows) rulesOf(facts *cfiFacts) []placeRule {
	set := facts.set
	if known, ok := t.known[set]; ok {
		return known
	}
	var found []placeRule
	rules, _ := facts.sets.table.Rules(set.id)
	for _, rule := range rules {
		i, k := slices.Index(t.regs[:], rule.Reg), slices.Index(t.saves, rule.Reg)
		if (i >= 0 || k >= 0) && rule.Reg != cfi.NoReg {
			found = append(found, placeRule{i, k, t.placeID(t.placeOf(rule.Expr))})
		}
	}
	if len(t.known) < maxKnownSets {
		t.known[set] = found
	}
	return found
}

// placeOf returns the place that an expression computes. Each table numbers registers that the CPU
// does not have by itself.
func (t *stackRows) placeOf(e cfi.Expr) place {
	p := placeOf(e)
	if (p.kind == placeSum || p.kind == placeLoad) && !t.names.Known(p.base) {
		return place{kind: placeOther}
	}
	return p
}

func placeOf(e cfi.Expr) place {
	if e.IsUndef() || e.EndsStack() { // the latter is what dumpers write for readers that do not know .undef
		return place{kind: placeUndef}
	}
	if base, off, ok := e.AsOffset(); ok {
		return place{placeSum, base, off}
	}
	if base, off, ok := e.AsLoad(); ok {
		return place{placeLoad, base, off}
	}
	return place{kind: placeOther}
}

func (t *stackRows) placeID(p place) uint32 {
	id, ok := t.number[p]
	if !ok {
		id = uint32(len(t.places))
		t.places = append(t.places, p)
		t.number[p] = id
	}
	return id
}

func (t *stackRows) cfa(row *stackRow) place { return t.places[row.rules[0]] }

// finish puts the blocks in order.
func (t *stackRows) finish() {
	t.known, t.number, t.setNum = nil, nil, nil
	slices.SortStableFunc(t.blocks, func(a, b rowBlock) int {
		if a.rva != b.rva {
			return cmpRVA(a.rva, b.rva)
		}
		return int(a.line) - int(b.line)
	})
}

// block returns the block that covers an address; of several, the one that begins last. It returns
// nil without one.
func (t *stackRows) block(rva symfmt.RVA) *rowBlock {
	i, _ := slices.BinarySearchFunc(t.blocks, rva+1, func(b rowBlock, at symfmt.RVA) int { return cmpRVA(b.rva, at) })
	if i == 0 || uint64(rva-t.blocks[i-1].rva) >= t.blocks[i-1].size {
		return nil
	}
	return &t.blocks[i-1]
}

// row returns the row that is in force at an address of a block.
func (t *stackRows) row(b *rowBlock, rva symfmt.RVA) *stackRow {
	rows := t.rows[b.first:b.end]
	i, exact := slices.BinarySearchFunc(rows, rva, func(r stackRow, at symfmt.RVA) int { return cmpRVA(r.rva, at) })
	if !exact {
		i--
	}
	if i < 0 {
		return nil
	}
	return &rows[i]
}

func cmpRVA(a, b symfmt.RVA) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
