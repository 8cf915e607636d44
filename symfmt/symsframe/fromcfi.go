package symsframe

import (
	"fmt"
	"math"
	"slices"

	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// STACK CFI -> SFrame. A block becomes a function, and its rules for the CFA,
// the return address and the frame pointer become rows; rules for other
// registers are left out, because SFrame cannot hold them. A function is left
// out completely if SFrame cannot express one of its rows, as in GNU as: an
// unwinder that finds no function looks elsewhere, but one that finds a wrong
// row does not.
//
//   - The CFA is a register plus an offset, or the word in memory there.
//   - The return address is likewise, or it is in the CFA's frame, or still in its
//     register; ".ra: 1", with which dwarf2sym ends the stack, and ".ra: 0" mark
//     the outermost frame. ".ra: .undef" does not: it also stands for rules
//     without a text form.
//   - The frame pointer is likewise. If it is .undef, it cannot be expressed.
//   - The caller's stack pointer is the CFA or, on s390x, 160 bytes below it,
//     wherever it was saved.

// FromCFI returns the functions of a table, with RVA 0 at address base. A
// problem costs its function. The rules must be for the ABI's CPU.
func FromCFI(t *symfmt.CFITable, abi sframe.ABI, base uint64) ([]sframe.Func, []symfmt.Problem) {
	r := cfiReader{t: t, regs: newRuleRegs(t.Rules.Names(), abi), base: base}
	funcs := make([]sframe.Func, 0, len(t.Blocks))
	var problems []symfmt.Problem
	for i := range t.Blocks {
		f, err := r.function(&t.Blocks[i])
		if err != nil {
			lost := fmt.Sprintf("function at %#x", base+uint64(t.Blocks[i].RVA))
			problems = append(problems, symfmt.Problem{Lost: lost, Err: err})
			continue
		}
		funcs = append(funcs, f)
	}
	return funcs, problems
}

// cfiReader is the state of one call of FromCFI.
type cfiReader struct {
	t    *symfmt.CFITable
	regs ruleRegs
	base uint64
	row  cfi.Row
}

func (r *cfiReader) function(b *symfmt.CFIBlock) (sframe.Func, error) {
	f := sframe.Func{Start: r.base + uint64(b.RVA), Size: uint32(b.Size)}
	if b.Size > math.MaxUint32 {
		return f, fmt.Errorf("%#x bytes of code, more than 32 bits", b.Size)
	}
	f.Signal, f.KeyB = b.Marks&symfmt.MarkSignal != 0, b.Marks&symfmt.MarkKeyB != 0
	r.row.Reset()
	if err := r.apply(&f, 0, symfmt.CFIRow{RVA: b.RVA, Rules: b.Init, Marks: b.Marks}); err != nil {
		return f, err
	}
	for i := range b.Count {
		row := r.t.Rows[b.First+i]
		if row.RVA < b.RVA || uint64(row.RVA-b.RVA) >= b.Size {
			return f, fmt.Errorf("a row at %#x outside its %#x bytes", row.RVA, b.Size)
		}
		if err := r.apply(&f, uint32(row.RVA-b.RVA), row); err != nil {
			return f, err
		}
	}
	foldBlocks(&f)
	return f, nil
}

// foldBlocks detects rows that repeat in blocks of equal size, as in a PLT, and keeps the rows
// of one block; AppendCFI repeats them.
func foldBlocks(f *sframe.Func) {
	n := 1 + slices.IndexFunc(f.Rows[1:], func(r sframe.Row) bool {
		first := f.Rows[0]
		first.Start = r.Start
		return r == first
	})
	if n < 2 || f.Rows[0].Start != 0 {
		return
	}
	block := f.Rows[n].Start
	if block > math.MaxUint8 || f.Size%block != 0 || len(f.Rows) != n*int(f.Size/block) {
		return
	}
	for i := n; i < len(f.Rows); i++ {
		before := f.Rows[i-n]
		if before.Start += block; f.Rows[i] != before {
			return
		}
	}
	f.Block, f.Rows = block, f.Rows[:n]
}

// apply adds a record's rules to those in force. If that changes one of the three,
// it also adds a row at start.
func (r *cfiReader) apply(f *sframe.Func, start uint32, record symfmt.CFIRow) error {
	rules, err := r.t.Rules.Rules(record.Rules)
	if err != nil {
		return err
	}
	r.row.Apply(rules)
	row, err := r.translate()
	if err != nil {
		return fmt.Errorf("at %#x: %w", record.RVA, err)
	}
	row.Signed = record.Marks&symfmt.MarkSigned != 0 && !row.Outermost()
	n := len(f.Rows)
	if n > 0 && f.Rows[n-1].Start > start {
		return fmt.Errorf("a row at %#x after a later one", record.RVA)
	}
	if row.Start = start; n > 0 && f.Rows[n-1].Start == start {
		f.Rows[n-1] = row
	} else {
		f.Rows = append(f.Rows, row)
	}
	f.Rows = dropRepeated(f.Rows)
	return nil
}

// dropRepeated drops the last row if it equals the one before it.
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

// translate returns the rules in force as a row.
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
	if ra := r.regs.abi.RA(); r.regs.ra != cfi.NoReg && row.RA == (sframe.Rule{Kind: sframe.Value, Reg: ra}) {
		row.RA = sframe.Rule{}
	}
	fp := r.row.Rule(r.regs.fp)
	if fp.IsZero() {
		return row, nil
	}
	if row.FP, ok = r.rule(fp); !ok {
		return row, fmt.Errorf("no row for %s: %s", r.regs.names.Name(r.regs.fp), fp)
	}
	if row.FP == (sframe.Rule{Kind: sframe.Value, Reg: r.regs.abi.FP()}) {
		row.FP = sframe.Rule{}
	}
	return row, nil
}

// checkSP rejects a rule for the caller's stack pointer that differs from the
// ABI's. On s390x, rules may say where it was saved.
func (r *cfiReader) checkSP() error {
	e := r.row.Rule(r.regs.sp)
	if e.IsZero() || e.IsUndef() {
		return nil
	}
	base, offset, ok := e.AsOffset()
	if ok && base == cfi.CFA && offset == -r.regs.above || r.regs.above != 0 && (!ok || base != cfi.CFA) {
		return nil
	}
	return fmt.Errorf("no row for %s: %s", r.regs.names.Name(r.regs.sp), e)
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
		number, known := CPU(r.regs.abi).RegNumber(r.regs.names.Name(base))
		rule.Reg, ok = sframe.Reg(number), known
	}
	return rule, ok
}
