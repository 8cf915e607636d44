package walk

import (
	"errors"
	"fmt"
	"slices"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt/cfi"
)

// ruleStep is one source's step from a frame to its caller.
type ruleStep struct {
	by        Technique
	row       *cfi.Row // nil: it has no rules there
	err       error    // why the caller is not known
	outermost bool
	cfa       uint64
	hasCFA    bool
	pc, sp    uint64
	regs      *cfi.Regs // the caller's
	fpOnly    bool      // it gives no register but the frame pointer
	noSP      bool      // it does not give the stack pointer
}

// isLast reports whether the rule says, in one way or another, that the frame has no caller.
func (s *ruleStep) isLast() bool { return s.outermost || s.err == nil && s.pc < firstPage }

// sourceName is how findings name a source.
func sourceName(t Technique) string {
	switch t {
	case ByEHFrame:
		return ".eh_frame"
	case BySFrame:
		return ".sframe"
	case ByFramePointer:
		return "the frame pointer"
	}
	return "the symbol file"
}

// table is a source of rules for a module.
type table struct {
	by Technique
	r  resolve.Symbols
}

// tables are the sources of rules for a module, the symbol file's first.
func (v *verifier) tables(st *moduleState) (list []table) {
	list, known := v.known[st]
	if known {
		return list
	}
	defer func() { v.known[st] = list }()
	if s := st.symbolsFrom(v.ctx); s.resolver != nil && !s.binary {
		list = append(list, table{BySymbols, s.resolver})
	}
	for i, by := range [...]Technique{tableEHFrame: ByEHFrame, tableSFrame: BySFrame} {
		if r := st.rules(v.ctx, i).resolver; r != nil {
			list = append(list, table{by, r})
		}
	}
	return list
}

// scratch returns registers for the step of a source, until the next frame's.
func (v *verifier) scratch(u *unwinder, by int) *cfi.Regs {
	regs := v.regs[u.machine]
	if regs == nil {
		regs = &[ByScan + 1]*cfi.Regs{}
		v.regs[u.machine] = regs
	}
	if regs[by] == nil {
		regs[by] = u.names.NewRegs()
	}
	return regs[by]
}

// compute evaluates a source's rules on the registers u.in.
func (v *verifier) compute(u *unwinder, t table, rva rva) ruleStep {
	s := ruleStep{by: t.by, fpOnly: t.by == BySFrame}
	row := u.rows.at(t.r, rva)
	if s.row, s.err = row.row, row.err; s.row == nil || s.err != nil {
		return s
	}
	s.regs = v.scratch(u, int(t.by))
	if cfa, err := s.row.CFA.Eval(u.in, u); err == nil {
		s.cfa, s.hasCFA = cfa, true
	}
	if s.outermost = s.row.RA.EndsStack(); s.outermost {
		return s
	}
	err := s.row.Caller(u.in, u, s.regs)
	var fault *cfi.Error
	if errors.As(err, &fault) && fault.Kind == cfi.Undefined && fault.Rule == ".ra" {
		s.outermost = true
		return s
	}
	if s.err = err; err != nil {
		return s
	}
	s.pc, _ = s.regs.Get(u.cpu.pc)
	s.sp, _ = s.regs.Get(u.cpu.sp)
	s.pc = u.cpu.clean(u, s.pc)
	return s
}

// difference is the first difference between two steps.
type difference struct {
	reg  cfi.Reg // of the caller; cfi.CFA and cfi.RA for the frame itself
	what string
}

// differ compares two steps of sources with rules. A source that gives no register but the frame
// pointer is compared by that, the stack pointer and the program counter.
func (u *unwinder) differ(a, b *ruleStep) (difference, bool) {
	switch {
	case a.isLast() && b.isLast():
		return difference{}, false
	case a.outermost != b.outermost:
		return difference{cfi.RA, "whether there is a caller"}, true
	case a.hasCFA && b.hasCFA && a.cfa != b.cfa && !a.noSP && !b.noSP:
		return difference{cfi.CFA, "cfa"}, true
	case a.err != nil && b.err != nil:
		return difference{}, false
	case (a.err == nil) != (b.err == nil):
		return difference{faultOf(a, b), "whether the rules can be followed"}, true
	case a.pc != b.pc:
		return difference{cfi.RA, "return address"}, true
	case a.sp != b.sp && !a.noSP && !b.noSP:
		return difference{u.cpu.sp, u.names.Name(u.cpu.sp)}, true
	}
	for _, r := range u.compared(a, b) {
		x, ok1 := a.regs.Get(r)
		y, ok2 := b.regs.Get(r)
		saved := slices.Contains(u.cpu.arch.CalleeSaved, u.names.Name(r))
		if ok1 && ok2 && x != y || ok1 != ok2 && saved {
			return difference{r, u.names.Name(r)}, true
		}
	}
	return difference{}, false
}

// faultOf returns the register whose rule the failing one of two steps cannot follow.
func faultOf(a, b *ruleStep) cfi.Reg {
	var fault *cfi.Error
	if errors.As(errors.Join(a.err, b.err), &fault) && fault.Rule == ".cfa" {
		return cfi.CFA
	}
	return cfi.RA
}

// compared are the registers by which two steps are compared, beside the
// program counter and the stack pointer: those that functions save, and any
// other of which both have a rule.
func (u *unwinder) compared(a, b *ruleStep) (regs []cfi.Reg) {
	if fp := u.cpu.arch.FP; a.fpOnly || b.fpOnly {
		if fp == "" {
			return nil
		}
		return []cfi.Reg{u.cpu.reg(fp)}
	}
	for _, name := range u.cpu.arch.CalleeSaved {
		regs = append(regs, u.cpu.reg(name))
	}
	for _, rule := range a.row.Regs {
		if u.names.Known(rule.Reg) && rule.Reg != u.cpu.pc && rule.Reg != u.cpu.sp &&
			!b.row.Rule(rule.Reg).IsZero() && !slices.Contains(regs, rule.Reg) {
			regs = append(regs, rule.Reg)
		}
	}
	return regs
}

// rows compares the sources' steps from a frame.
func (v *verifier) rows(u *unwinder, s *Stack, f *Frame) (steps []ruleStep) {
	st := u.stateOf(f.Module)
	at := rva(f.Inst - u.d.Modules[f.Module].Addr)
	for _, t := range v.tables(st) {
		steps = append(steps, v.compute(u, t, at))
	}
	if len(steps) == 0 {
		return nil
	}
	if fp, ok := v.frameChain(u, f); ok {
		steps = append(steps, fp)
	}
	for i := range steps[1:] {
		v.pair(u, s, f, &steps[0], &steps[i+1])
	}
	return steps
}

// goesOn reports whether a step leads to code that has made a call. Where a program or a thread
// begins, rules that do not say so lead to what the stack begins with.
func (v *verifier) goesOn(u *unwinder, s *ruleStep) bool {
	return !s.isLast() && s.err == nil && u.isCode(s.pc) && v.call(u, s.pc) != callNo
}

// pair compares the first source with another.
func (v *verifier) pair(u *unwinder, s *Stack, f *Frame, a, b *ruleStep) {
	has := [2]bool{a.row != nil || a.err != nil, b.row != nil || b.err != nil || b.by == ByFramePointer}
	switch {
	case !has[0] && !has[1], b.by != ByEHFrame && (!has[0] || !has[1]):
		return // .sframe need not cover every function
	case !has[0]:
		v.add(s, f, Finding{Severity: SeverityError, Kind: KindNoRules, Blame: BlameSymbols,
			brief: "the symbol file has no rules, " + sourceName(b.by) + " has",
			Text:  fmt.Sprintf("the symbol file has no rules, %s has %s", sourceName(b.by), b.row)})
		return
	case !has[1]:
		v.add(s, f, Finding{Severity: SeverityNote, Kind: KindExtraRules,
			Text: fmt.Sprintf("%s has rules where %s has none", sourceName(a.by), sourceName(b.by))})
		return
	}
	v.verdict.Compared++
	d, differs := u.differ(a, b)
	if differs && s.End == EndStart && f == &s.Frames[len(s.Frames)-1] && !v.goesOn(u, a) && !v.goesOn(u, b) {
		differs = false // not all writers of symbol files mark where a stack ends, and nobody needs it here
	}
	if !differs {
		if a.row != nil && b.row != nil && !a.fpOnly && !b.fpOnly && !a.row.Equal(b.row) {
			v.add(s, f, Finding{Severity: SeverityNote, Kind: KindSameEffect, Blame: BlameSymbols,
				Text: fmt.Sprintf("%s has %s, %s has %s: the same in this dump", sourceName(a.by), a.row, sourceName(b.by), b.row)})
		}
		return
	}
	x := Finding{Severity: SeverityError, Kind: KindRulesDiffer, Blame: BlameSymbols, Sides: []Side{u.side(a, d), u.side(b, d)}}
	if b.by == ByFramePointer {
		x.Kind = KindFramePointer
		if a.row != nil && a.row.Rule(d.reg).IsZero() && d.reg != cfi.CFA && d.reg != cfi.RA {
			// Go's compiler never says where a frame pointer was saved. The binary's rules have
			// what a symbol file has lost.
			x.Severity = SeverityWarning
		}
	}
	if a.by != BySymbols {
		x.Blame = BlameBinary
	}
	x.Text = fmt.Sprintf("%s: by %s %s, by %s %s", d.what, sourceName(a.by), x.Sides[0].says(d), sourceName(b.by), x.Sides[1].says(d))
	x.brief = fmt.Sprintf("%s: %s differs from %s", d.what, sourceName(a.by), sourceName(b.by))
	v.add(s, f, x)
}
