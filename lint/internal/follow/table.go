package follow

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// Table holds the STACK CFI rows of a file in a form for comparison with a binary, in 32 bytes per
// row. Call Add for each record, then Finish.
type Table struct {
	Names  *cfi.Names
	CPU    *arch.Arch
	Blocks []Block
	rows   []Row
	places []Place
	number map[Place]uint32
	regs   [3]cfi.Reg // .cfa, .ra, the frame pointer
	saves  []cfi.Reg  // registers whose rules are compared with instructions, .ra first
	sets   []saveSet
	setNum map[saveSet]uint32
}

// saveSet holds the rules for Table.saves as indices in places. There are few different sets.
type saveSet [maxSaves]uint32

// Block is a STACK CFI INIT: rows[first:end] are its rows, starting with the
// INIT itself.
type Block struct {
	RVA        symfmt.RVA
	Size       uint64
	Line       uint32
	first, end uint32
}

// Row is the address of a record and the rules in force from there on.
type Row struct {
	RVA   symfmt.RVA
	Line  uint32
	rules [3]uint32 // for .cfa, .ra and the frame pointer: indices in places
	saves uint32    // index in sets
}

// Place is what a rule computes, if the rule has a simple form.
type Place struct {
	Kind PlaceKind
	Base cfi.Reg
	Off  int64
}

// PlaceKind is the form of a rule.
type PlaceKind uint8

// The forms.
const (
	PlaceNone  PlaceKind = iota // no rule
	PlaceOther                  // an expression
	PlaceUndef
	PlaceSum  // base + off
	PlaceLoad // the word in memory at base + off
)

// placeRule is a rule for one of Table.regs or of Table.saves, or -1.
type placeRule struct {
	which, save int
	id          uint32
}

// NewTable returns an empty table for a CPU, or nil for an unknown one.
func NewTable(cpu *arch.Arch) *Table {
	t := &Table{CPU: cpu, Names: cfi.NewNames(cpu), number: map[Place]uint32{}, setNum: map[saveSet]uint32{}}
	t.placeID(Place{})
	t.regs = [3]cfi.Reg{cfi.CFA, cfi.RA, cfi.NoReg}
	if cpu != nil && cpu.FP != "" {
		t.regs[2] = t.Names.Lookup(cpu.FP)
	}
	t.setID(saveSet{})
	if cpu == nil {
		return t
	}
	if followed := CPUOf(cpu, cpu.PtrSize); followed != nil {
		for _, name := range followed.saves {
			t.saves = append(t.saves, t.Names.Lookup(name))
		}
	}
	return t
}

// Add adds a STACK CFI INIT, or a STACK CFI of the last INIT, with the changes that its rules make. A
// STACK CFI whose INIT is missing or malformed is ignored.
func (t *Table) Add(r *symfmt.Record, changes *Changes) {
	row := Row{}
	if r.Kind == symfmt.KindCFIInit {
		n := uint32(len(t.rows))
		t.Blocks = append(t.Blocks, Block{r.RVA, r.Size, uint32(r.Pos().Line), n, n})
	} else if r.Owner != symfmt.OwnerRead {
		return
	} else {
		row = t.rows[len(t.rows)-1]
	}
	row.RVA, row.Line = r.RVA, uint32(r.Pos().Line)
	t.change(&row, changes)
	b := &t.Blocks[len(t.Blocks)-1]
	// If two rows have the same address, the later counts. A row at a lower address is damage, which
	// rules of family 4 report.
	if last := &t.rows; b.end > b.first && (*last)[b.end-1].RVA == r.RVA {
		(*last)[b.end-1] = row
		return
	}
	if b.end > b.first && t.rows[b.end-1].RVA > r.RVA {
		return
	}
	t.rows = append(t.rows, row)
	b.end++
}

// change puts rules in force.
func (t *Table) change(row *Row, changes *Changes) {
	set := t.sets[row.saves]
	for _, rule := range changes.rules {
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

func (t *Table) setID(set saveSet) uint32 {
	id, ok := t.setNum[set]
	if !ok {
		id = uint32(len(t.sets))
		t.sets = append(t.sets, set)
		t.setNum[set] = id
	}
	return id
}

// Changes are the changes that a set of rules makes to a row. As records repeat sets, each set's
// changes are computed once.
type Changes struct{ rules []placeRule }

// Changes returns the changes that rules make.
func (t *Table) Changes(rules cfi.Rules) *Changes {
	c := &Changes{}
	for _, rule := range rules {
		i, k := slices.Index(t.regs[:], rule.Reg), slices.Index(t.saves, rule.Reg)
		if (i >= 0 || k >= 0) && rule.Reg != cfi.NoReg {
			c.rules = append(c.rules, placeRule{i, k, t.placeID(t.placeOf(rule.Expr))})
		}
	}
	return c
}

// placeOf returns the place that an expression computes. Each table numbers registers unknown to
// the CPU separately.
func (t *Table) placeOf(e cfi.Expr) Place {
	p := placeOf(e)
	if (p.Kind == PlaceSum || p.Kind == PlaceLoad) && !t.Names.Known(p.Base) {
		return Place{Kind: PlaceOther}
	}
	return p
}

func placeOf(e cfi.Expr) Place {
	if e.IsUndef() || e.EndsStack() { // dumpers write EndsStack rules for readers that do not know .undef
		return Place{Kind: PlaceUndef}
	}
	if base, off, ok := e.AsOffset(); ok {
		return Place{PlaceSum, base, off}
	}
	if base, off, ok := e.AsLoad(); ok {
		return Place{PlaceLoad, base, off}
	}
	return Place{Kind: PlaceOther}
}

func (t *Table) placeID(p Place) uint32 {
	id, ok := t.number[p]
	if !ok {
		id = uint32(len(t.places))
		t.places = append(t.places, p)
		t.number[p] = id
	}
	return id
}

func (t *Table) cfa(row *Row) Place { return t.Place(row, 0) }

// Finish sorts the blocks.
func (t *Table) Finish() {
	t.number, t.setNum = nil, nil
	slices.SortStableFunc(t.Blocks, func(a, b Block) int {
		if a.RVA != b.RVA {
			return cmp.Compare(a.RVA, b.RVA)
		}
		return int(a.Line) - int(b.Line)
	})
}

// Block returns the block that covers an address, or nil. If several do, it returns the one that
// begins last.
func (t *Table) Block(rva symfmt.RVA) *Block {
	i, _ := slices.BinarySearchFunc(t.Blocks, rva+1, func(b Block, at symfmt.RVA) int { return cmp.Compare(b.RVA, at) })
	if i == 0 || uint64(rva-t.Blocks[i-1].RVA) >= t.Blocks[i-1].Size {
		return nil
	}
	return &t.Blocks[i-1]
}

// Row returns the row in force at an address in a block.
func (t *Table) Row(b *Block, rva symfmt.RVA) *Row {
	rows := t.RowsOf(b)
	i, exact := slices.BinarySearchFunc(rows, rva, func(r Row, at symfmt.RVA) int { return cmp.Compare(r.RVA, at) })
	if !exact {
		i--
	}
	if i < 0 {
		return nil
	}
	return &rows[i]
}

// RowsOf returns the rows of a block.
func (t *Table) RowsOf(b *Block) []Row { return t.rows[b.first:b.end] }

// Place returns the place that one of a row's rules computes: the rule for .cfa (0), .ra (1) or the
// frame pointer (2).
func (t *Table) Place(row *Row, rule int) Place { return t.places[row.rules[rule]] }

// FramePointer returns the CPU's frame pointer, or cfi.NoReg.
func (t *Table) FramePointer() cfi.Reg { return t.regs[2] }
