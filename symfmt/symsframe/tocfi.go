package symsframe

import (
	"errors"
	"fmt"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// SFrame -> STACK CFI. A function becomes a block, as an FDE of .eh_frame does
// in dwarf2sym, and the records have the same form, so that symbol files from
// either can be compared line by line. Rules in addition to those of
// dwarf2sym/internal/callframe:
//
//   - SFrame has rules only for the CFA, the return address and the frame pointer.
//     Walkers treat other callee-saved registers as unchanged, whatever the function does
//     with them.
//   - A row of the outermost frame has no CFA. Its return address is 1, which
//     ends the stack; the CFA is the block's last one or, at its start, the one
//     at a function's entry, because walkers need a rule.
//   - On s390x the stack pointer is the CFA minus 160 in all rows.
//   - For a PCMASK function the rows of each block are written, except those
//     that change nothing.
//   - Signal frames and signed return addresses become marks of the rows.
//   - Where functions overlap the one that starts last wins, as in
//     Section.Find; after its end the enclosing one continues.
//   - Damage in rows also costs the row before it, whose end is unknown, and
//     the rest of the function.

// ToOptions hold what AppendCFI must know about the file.
type ToOptions struct {
	Base uint64                 // address of RVA 0
	Code func(addr uint64) bool // reports whether there can be code at an address; nil if unknown
}

// ToStats counts what AppendCFI came across.
type ToStats struct {
	Dead   int // functions whose code the linker dropped
	Empty  int // functions without code
	Signal int // pieces of code that are signal frames
}

const (
	// maxRepeated bounds the rows made from PCMASK functions: two per entry of a
	// PLT with 262,144 entries.
	maxRepeated = 1 << 19

	// At most freeRows rows plus one per byte of the section's rows are read. A row takes
	// at least two bytes, but FDEs may share rows, and in a damaged section each of many
	// FDEs may refer to all of them.
	freeRows = 1 << 12

	// maxProblems bounds the list of problems; the others are counted.
	maxProblems = 1000
)

// AppendCFI appends the rows of a section to a table in order of address. A
// problem costs at most a function; the section's own problems are not returned
// again.
func AppendCFI(t *symfmt.CFITable, s *sframe.Section, o ToOptions) (ToStats, []symfmt.Problem) {
	if len(s.Headers) > 0 {
		t.Rules.SetArch(CPU(s.Headers[0].ABI))
	}
	w := cfiWriter{t: t, build: t.Rules.Names().Builder(), s: s, o: &o, repeats: maxRepeated, reads: freeRows + s.RowBytes()}
	w.known = make(map[uint64]bool, len(s.Problems))
	for _, p := range s.Problems {
		w.known[offsetOf(p.Err)] = true
	}
	for _, p := range fdeRanges(s, w.wanted) {
		w.piece(p)
	}
	if w.dropped > 0 {
		w.problems = append(w.problems, symfmt.Problem{Err: w.errorf(0, "and %d more problems", w.dropped)})
	}
	return w.stats, w.problems
}

// cfiWriter is the state of one call of AppendCFI.
type cfiWriter struct {
	t        *symfmt.CFITable
	s        *sframe.Section
	o        *ToOptions
	stats    ToStats
	problems []symfmt.Problem
	dropped  int             // problems beyond maxProblems
	repeats  int             // rows that PCMASK functions may still produce
	reads    uint64          // number of rows that may still be read
	known    map[uint64]bool // offsets of the problems in Section.Problems

	regs   ruleRegs
	header *sframe.Header // header that defines the registers
	rows   []sframe.Row   // of an FDE
	at     fdeRange

	open     bool       // a block can be continued
	end      uint64     // end of its last row
	said     sframe.Row // rules in force in the block, and whether return addresses are signed
	reported bool       // a nameless register in this FDE was reported

	build cfi.Builder
	set   cfi.Rules // of the record being made
}

// wanted reports whether an FDE describes code of this file; it counts those
// that do not.
func (w *cfiWriter) wanted(i int) bool {
	f := &w.s.FDEs[i]
	switch {
	case f.Start < w.o.Base, w.o.Code != nil && f.Size > 0 && !w.o.Code(f.Start):
		w.stats.Dead++
	case f.Size == 0:
		w.stats.Empty++
	case f.Start+uint64(f.Size) < f.Start:
		w.at = fdeRange{fde: i, first: true}
		w.lose("", "%#x bytes of code at %#x pass the end of the address space", f.Size, f.Start)
	default:
		return true
	}
	return false
}

func (w *cfiWriter) lose(what, format string, args ...any) {
	w.problem(what, w.errorf(w.s.Offset(w.at.fde), format, args...))
}

func (w *cfiWriter) errorf(offset uint64, format string, args ...any) error {
	return &bin.Error{Section: w.s.Name, Offset: offset, Msg: fmt.Sprintf(format, args...)}
}

func offsetOf(err error) uint64 {
	var at *bin.Error
	if errors.As(err, &at) {
		return at.Offset
	}
	return 0
}

// problem reports what the FDE loses, once for all its pieces, unless the section already
// reported it.
func (w *cfiWriter) problem(what string, err error) {
	if w.at.first && !w.known[offsetOf(err)] {
		if len(w.problems) == maxProblems {
			w.dropped++
			return
		}
		lost := fmt.Sprintf("FDE %d for %#x%s", w.at.fde, w.s.FDEs[w.at.fde].Start, what)
		w.problems = append(w.problems, symfmt.Problem{Lost: lost, Err: err})
	}
}

// piece writes an FDE's rules for a piece of its code.
func (w *cfiWriter) piece(p fdeRange) {
	w.open, w.at, w.reported = false, p, false
	f := &w.s.FDEs[p.fde]
	if h := w.s.Header(p.fde); h != w.header {
		w.header, w.regs = h, newRuleRegs(w.t.Rules.Names(), h.ABI)
	}
	end := w.read(p.fde)
	if len(w.rows) == 0 {
		return
	}
	if f.Signal {
		w.stats.Signal++
	}
	if f.Mask {
		w.repeat(f)
	} else {
		w.block(f.Start, end)
	}
	w.close()
}

// read reads an FDE's rows. They apply up to end, an offset from the function's
// start.
func (w *cfiWriter) read(i int) (end uint64) {
	f := &w.s.FDEs[i]
	w.rows = w.rows[:0]
	if w.s.Outermost(i) {
		w.rows = append(w.rows, sframe.Row{RA: sframe.Rule{Kind: sframe.Undefined}})
		return uint64(f.Size)
	}
	rows := w.s.Rows(i)
	for rows.Next() {
		if w.reads == 0 {
			return w.damaged(i, w.errorf(rows.Form.Offset, "more rows than there are bytes for: functions share them"))
		}
		w.reads--
		if n := len(w.rows); n > 0 && rows.Row.Start < w.rows[n-1].Start {
			return w.damaged(i, w.errorf(rows.Form.Offset, "row for %#x after one for %#x", rows.Row.Start, w.rows[n-1].Start))
		}
		w.rows = append(w.rows, rows.Row)
	}
	if err := rows.Err(); err != nil {
		return w.damaged(i, err)
	}
	return uint64(f.Size)
}

// damaged keeps the rows whose ends are known.
func (w *cfiWriter) damaged(i int, err error) (end uint64) {
	f, what := &w.s.FDEs[i], ""
	if n := len(w.rows); n > 0 && !f.Mask {
		end, w.rows = uint64(w.rows[n-1].Start), w.rows[:n-1]
	} else {
		w.rows = w.rows[:0]
	}
	if len(w.rows) > 0 {
		what = fmt.Sprintf(", from %#x on", f.Start+end)
	}
	w.problem(what, err)
	return end
}

// block writes the rows for size bytes from start on. Rows may start after them.
func (w *cfiWriter) block(start, size uint64) {
	for k := range w.rows {
		lo, hi := uint64(w.rows[k].Start), size
		if k+1 < len(w.rows) {
			hi = min(hi, uint64(w.rows[k+1].Start))
		}
		if lo < hi {
			w.cover(start+lo, start+hi, &w.rows[k])
		}
	}
}

// repeat writes the rows for each block of a PCMASK function.
func (w *cfiWriter) repeat(f *sframe.FDE) {
	size := uint64(f.Block)
	if size == 0 {
		w.lose("", "PCMASK with a block of size 0")
		return
	}
	end := min(w.at.hi, f.Start+uint64(f.Size))
	for at := w.at.lo - (w.at.lo-f.Start)%size; at < end; at += size {
		if w.repeats -= len(w.rows); w.repeats < 0 {
			w.lose(fmt.Sprintf(", from %#x on", at), "more than %d rows of PCMASK functions", maxRepeated)
			return
		}
		w.block(at, min(size, end-at))
	}
}

// cover writes the changes that a row makes at its start.
func (w *cfiWriter) cover(lo, hi uint64, row *sframe.Row) {
	lo, hi = max(lo, w.at.lo), min(hi, w.at.hi)
	if lo >= hi {
		return
	}
	if !w.open || w.end != lo {
		w.close()
	}
	next, ok := w.rules(row)
	if !ok {
		w.close()
		return
	}
	w.set = nil
	if !w.open || next.CFA != w.said.CFA {
		w.say(cfi.CFA, next.CFA)
	}
	if !w.open || next.RA != w.said.RA {
		w.say(cfi.RA, next.RA)
	}
	if next.FP != w.said.FP {
		w.say(w.regs.fp, next.FP)
	}
	if !w.open && w.regs.above != 0 {
		w.say(w.regs.sp, sframe.Rule{Kind: sframe.Value, Reg: sframe.CFA, Offset: -w.regs.above})
	}
	w.record(lo, next.Signed != w.said.Signed, w.marks(next.Signed))
	w.said = next
	w.end = hi
}

// rules returns a row's rules as far as text can express them. ok is false if
// there is no CFA.
func (w *cfiWriter) rules(row *sframe.Row) (next sframe.Row, ok bool) {
	if row.Outermost() {
		next = w.said
		if !w.open {
			next.CFA = sframe.Rule{Kind: sframe.Value, Reg: w.regs.abi.SP(), Offset: w.regs.entry}
		}
		next.RA, next.Signed = row.RA, false
		return next, true
	}
	next = sframe.Row{CFA: row.CFA, RA: w.named(row.RA), FP: w.named(row.FP), Signed: row.Signed}
	return next, w.named(row.CFA).Kind != sframe.Undefined
}

// named makes a rule undefined if its register has no name, and reports that.
func (w *cfiWriter) named(r sframe.Rule) sframe.Rule {
	if r.Kind < sframe.Value || w.regs.reg(r.Reg) != cfi.NoReg {
		return r
	}
	if !w.reported {
		w.reported = true
		w.lose(": a rule", "DWARF register %d has no name", r.Reg)
	}
	return sframe.Rule{Kind: sframe.Undefined, Reg: r.Reg}
}

// record adds a block or a row, unless nothing has changed.
func (w *cfiWriter) record(at uint64, marked bool, marks symfmt.CFIMarks) {
	t, rva := w.t, symfmt.RVA(at-w.o.Base)
	switch {
	case !w.open:
		w.open = true
		t.Blocks = append(t.Blocks, symfmt.CFIBlock{RVA: rva, Init: t.Rules.Add(w.set), First: uint32(len(t.Rows)), Marks: marks})
	case len(w.set) > 0 || marked:
		t.Rows = append(t.Rows, symfmt.CFIRow{RVA: rva, Rules: t.Rules.Add(w.set), Marks: marks})
		t.Blocks[len(t.Blocks)-1].Count++
	}
}

// close closes the block, if one is open.
func (w *cfiWriter) close() {
	if w.open {
		b := &w.t.Blocks[len(w.t.Blocks)-1]
		b.Size = w.end - w.o.Base - uint64(b.RVA)
	}
	w.open, w.said = false, sframe.Row{}
}

// marks returns the marks of the FDE and of a row.
func (w *cfiWriter) marks(signed bool) (m symfmt.CFIMarks) {
	f := &w.s.FDEs[w.at.fde]
	if f.Signal {
		m |= symfmt.MarkSignal
	}
	if f.KeyB {
		m |= symfmt.MarkKeyB
	}
	if signed {
		m |= symfmt.MarkSigned
	}
	return m
}

// say adds a register's rule to the record in the form that dwarf2sym uses.
func (w *cfiWriter) say(reg cfi.Reg, r sframe.Rule) {
	w.set = append(w.set, cfi.Rule{Reg: reg, Expr: w.expr(reg, r)})
}

func (w *cfiWriter) expr(reg cfi.Reg, r sframe.Rule) cfi.Expr {
	undef := w.t.Rules.Names().Undef()
	switch {
	case r.Kind == sframe.Undefined && reg == cfi.RA && r == sframe.Rule{Kind: sframe.Undefined}:
		w.build.Const(cfi.EndOfStack) // the outermost frame
	case r.Kind == sframe.Undefined:
		return undef
	case r.Kind == sframe.Same && reg != cfi.RA:
		w.build.Value(reg)
	case r.Kind == sframe.Same && w.regs.ra == cfi.NoReg:
		return undef
	case r.Kind == sframe.Same:
		w.build.Value(w.regs.ra)
	default:
		w.regs.addRule(&w.build, r, reg == cfi.CFA)
	}
	return w.build.Expr()
}

// addRule adds the expression of a rule with a base. sum makes it write an offset of
// 0, too.
func (r *ruleRegs) addRule(b *cfi.Builder, rule sframe.Rule, sum bool) {
	base := r.reg(rule.Reg)
	if rule.Offset != 0 || rule.Reg == sframe.CFA || sum && rule.Kind == sframe.Value {
		b.Sum(base, rule.Offset)
	} else {
		b.Value(base)
	}
	if rule.Kind == sframe.Memory {
		b.Apply('^')
	}
}
