package symsframe

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// STACK CFI -> SFrame. A block becomes a function, and its rules for the CFA,
// the return address and the frame pointer become rows; rules for other
// registers are left out, as SFrame has no place for them. A function of which a
// row cannot be said is left out as a whole, as GNU as does: an unwinder that
// finds no function looks elsewhere, one that finds a wrong row does not.
//
//   - The CFA is a register and an offset, or the word in memory there.
//   - So is the return address, or it is in the CFA's frame, or still in its
//     register; ".ra: 1", with which dwarf2sym ends the stack, and ".ra: 0" are
//     the outermost frame. ".ra: .undef" is not: it stands for rules that have
//     no text, too.
//   - So is the frame pointer. One that is .undef cannot be said.
//   - The caller's stack pointer is the CFA; on s390x 160 bytes below it,
//     wherever it was saved.

// Extra is what STACK CFI has no form for and SFrame has. Ranges ascend.
type Extra struct {
	Signal []symfmt.Range // code of signal frames
	KeyB   []symfmt.Range // AArch64: code whose return addresses are signed with key B
	Signed []symfmt.Range // AArch64: code where the return address is signed
}

// FromCFI returns the functions of a table, with RVA 0 at the address base. A
// problem costs its function.
func FromCFI(t *symfmt.CFITable, abi sframe.ABI, base uint64, x Extra) ([]sframe.Func, []bin.Problem) {
	r := cfiReader{t: t, regs: newRuleRegs(abi), base: base, extra: &x, names: cfi.NewNames(CPU(abi))}
	r.rules = make([]parsed, t.Rules.Len())
	r.sp, r.fp = r.names.Lookup(r.regs.sp), r.names.Lookup(r.regs.fp)
	funcs := make([]sframe.Func, 0, len(t.Blocks))
	var problems []bin.Problem
	for i := range t.Blocks {
		f, err := r.function(&t.Blocks[i])
		if err != nil {
			lost := fmt.Sprintf("function at %#x", base+uint64(t.Blocks[i].RVA))
			problems = append(problems, bin.Problem{Lost: lost, Err: err})
			continue
		}
		funcs = append(funcs, f)
	}
	return funcs, problems
}

// cfiReader is one FromCFI.
type cfiReader struct {
	t      *symfmt.CFITable
	regs   ruleRegs
	base   uint64
	extra  *Extra
	names  *cfi.Names
	sp, fp cfi.Reg
	rules  []parsed // by RuleID
	row    cfi.Row
}

// parsed are rules, once they were asked for.
type parsed struct {
	done  bool
	rules cfi.Rules
	err   error
}

func (r *cfiReader) parse(id symfmt.RuleID) (cfi.Rules, error) {
	p := &r.rules[id]
	if !p.done {
		p.done = true
		p.rules, p.err = r.names.ParseRules(r.t.Rules.Text(id))
	}
	return p.rules, p.err
}

func (r *cfiReader) function(b *symfmt.CFIBlock) (sframe.Func, error) {
	f := sframe.Func{Start: r.base + uint64(b.RVA), Size: uint32(b.Size)}
	if b.Size > math.MaxUint32 {
		return f, fmt.Errorf("%#x bytes of code, more than 32 bits", b.Size)
	}
	f.Signal, f.KeyB = contains(r.extra.Signal, b.RVA), contains(r.extra.KeyB, b.RVA)
	r.row.Reset()
	if err := r.apply(&f, b.RVA, 0, b.Init); err != nil {
		return f, err
	}
	for i := range b.Count {
		row := &r.t.Rows[b.First+i]
		if row.RVA < b.RVA || uint64(row.RVA-b.RVA) >= b.Size {
			return f, fmt.Errorf("a row at %#x outside of its %#x bytes", row.RVA, b.Size)
		}
		if err := r.apply(&f, row.RVA, uint32(row.RVA-b.RVA), row.Rules); err != nil {
			return f, err
		}
	}
	r.sign(&f, b.RVA)
	return f, nil
}

// apply adds a record's rules to those in force, and a row, if that changes one.
func (r *cfiReader) apply(f *sframe.Func, at symfmt.RVA, start uint32, id symfmt.RuleID) error {
	rules, err := r.parse(id)
	if err != nil {
		return err
	}
	r.row.Apply(rules)
	row, err := r.translate()
	if err != nil {
		return fmt.Errorf("at %#x: %w", at, err)
	}
	n := len(f.Rows)
	if n > 0 && f.Rows[n-1].Start > start {
		return fmt.Errorf("a row at %#x behind a later one", at)
	}
	if row.Start = start; n > 0 && f.Rows[n-1].Start == start {
		f.Rows[n-1] = row
	} else {
		f.Rows = append(f.Rows, row)
	}
	f.Rows = dropRepeated(f.Rows)
	return nil
}

// dropRepeated drops the last row if it says what the one before it does.
func dropRepeated(rows []sframe.Row) []sframe.Row {
	if n := len(rows); n > 1 {
		last := rows[n-1]
		last.Start = rows[n-2].Start
		if last == rows[n-2] {
			return rows[:n-1]
		}
	}
	return rows
}

// translate makes a row of the rules in force.
func (r *cfiReader) translate() (row sframe.Row, err error) {
	if err := r.checkSP(); err != nil {
		return row, err
	}
	var ok bool
	if row.CFA, ok = r.rule(r.row.CFA); !ok || row.CFA.Reg == sframe.CFA {
		return row, fmt.Errorf("no row for .cfa: %s", r.row.CFA)
	}
	if r.row.RA.EndsStack() {
		return sframe.Row{RA: sframe.Rule{Kind: sframe.Undefined}}, nil
	}
	if row.RA, ok = r.rule(r.row.RA); !ok {
		return row, fmt.Errorf("no row for .ra: %s", r.row.RA)
	}
	if ra := r.regs.abi.RA(); r.regs.ra != "" && row.RA == (sframe.Rule{Kind: sframe.Value, Reg: ra}) {
		row.RA = sframe.Rule{}
	}
	fp := r.row.Rule(r.fp)
	if fp.IsZero() {
		return row, nil
	}
	if row.FP, ok = r.rule(fp); !ok {
		return row, fmt.Errorf("no row for %s: %s", r.regs.fp, fp)
	}
	if row.FP == (sframe.Rule{Kind: sframe.Value, Reg: r.regs.abi.FP()}) {
		row.FP = sframe.Rule{}
	}
	return row, nil
}

// checkSP refuses a rule that makes the caller's stack pointer another than the
// ABI says. On s390x those that say where it was saved do not.
func (r *cfiReader) checkSP() error {
	e := r.row.Rule(r.sp)
	if e.IsZero() || e.IsUndef() {
		return nil
	}
	base, offset, ok := e.AsOffset()
	if ok && base == cfi.CFA && offset == -r.regs.above || r.regs.above != 0 && (!ok || base != cfi.CFA) {
		return nil
	}
	return fmt.Errorf("no row for %s: %s", r.regs.sp, e)
}

// rule translates an expression.
func (r *cfiReader) rule(e cfi.Expr) (rule sframe.Rule, ok bool) {
	if e.IsZero() {
		return rule, false
	}
	rule.Kind = sframe.Value
	base, offset, ok := e.AsOffset()
	if !ok {
		rule.Kind = sframe.Memory
		if base, offset, ok = e.AsLoad(); !ok {
			return rule, false
		}
	}
	rule.Reg, rule.Offset = sframe.CFA, offset
	if base != cfi.CFA {
		number, known := r.regs.cpu.RegNumber(r.names.Name(base))
		rule.Reg, ok = sframe.Reg(number), known
	}
	return rule, ok
}

// sign marks the rows of code with signed return addresses, and cuts rows where
// that changes.
func (r *cfiReader) sign(f *sframe.Func, at symfmt.RVA) {
	end := at + symfmt.RVA(f.Size)
	for _, s := range r.extra.Signed[after(r.extra.Signed, at):] {
		if s.RVA >= end {
			break
		}
		lo, hi := max(s.RVA, at), min(s.RVA+symfmt.RVA(s.Size), end)
		first := cut(f, uint32(lo-at))
		last := len(f.Rows)
		if hi < end {
			last = cut(f, uint32(hi-at))
		}
		for i := first; i < last; i++ {
			f.Rows[i].Signed = !f.Rows[i].Outermost()
		}
	}
}

// cut makes a row start at an offset, and returns its place.
func cut(f *sframe.Func, start uint32) int {
	i, found := slices.BinarySearchFunc(f.Rows, start, func(r sframe.Row, start uint32) int { return cmp.Compare(r.Start, start) })
	if !found && i > 0 {
		row := f.Rows[i-1]
		row.Start = start
		row.Signed = false
		f.Rows = slices.Insert(f.Rows, i, row)
	}
	return i
}

// contains tells whether an address is in one of the ranges.
func contains(ranges []symfmt.Range, at symfmt.RVA) bool {
	i := after(ranges, at)
	return i < len(ranges) && ranges[i].RVA <= at
}

// after returns the place of the first range that ends behind an address.
func after(ranges []symfmt.Range, at symfmt.RVA) int {
	i, _ := slices.BinarySearchFunc(ranges, at, func(r symfmt.Range, at symfmt.RVA) int {
		return cmp.Or(cmp.Compare(r.RVA+symfmt.RVA(r.Size), at), -1)
	})
	return i
}
