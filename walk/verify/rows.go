package verify

import (
	"errors"
	"fmt"
	"slices"

	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/walk"
)

// sourceName returns the name of a source in findings.
func sourceName(t walk.Technique) string {
	switch t {
	case walk.ByEHFrame:
		return ".eh_frame"
	case walk.BySFrame:
		return ".sframe"
	case walk.ByFramePointer:
		return "the frame pointer"
	}
	return "the symbol file"
}

// difference is the first difference between two steps.
type difference struct {
	reg  cfi.Reg // of the caller; cfi.CFA and cfi.RA for the frame itself
	what string
}

// differ compares two steps of sources with rules. If a source restores only the frame pointer, only
// that, the stack pointer and the program counter are compared.
func differ(u *walk.Inspector, a, b *walk.Step) (difference, bool) {
	switch {
	case a.IsLast() && b.IsLast():
		return difference{}, false
	case a.Outermost != b.Outermost:
		return difference{cfi.RA, "whether there is a caller"}, true
	case a.HasCFA && b.HasCFA && a.CFA != b.CFA && !a.NoSP && !b.NoSP:
		return difference{cfi.CFA, "cfa"}, true
	case a.Err != nil && b.Err != nil:
		return difference{}, false
	case (a.Err == nil) != (b.Err == nil):
		return difference{faultOf(a, b), "whether the rules can be followed"}, true
	case a.PC != b.PC:
		return difference{cfi.RA, "return address"}, true
	case a.SP != b.SP && !a.NoSP && !b.NoSP:
		return difference{register(u, u.Arch().SP), u.Arch().SP}, true
	}
	for _, r := range compared(u, a, b) {
		x, ok1 := a.Regs.Get(r)
		y, ok2 := b.Regs.Get(r)
		saved := slices.Contains(u.Arch().CalleeSaved, u.Names().Name(r))
		if ok1 && ok2 && x != y || ok1 != ok2 && saved {
			return difference{r, u.Names().Name(r)}, true
		}
	}
	return difference{}, false
}

// faultOf returns the register whose rule could not be followed in the step that failed.
func faultOf(a, b *walk.Step) cfi.Reg {
	var fault *cfi.Error
	if errors.As(errors.Join(a.Err, b.Err), &fault) && fault.Rule == ".cfa" {
		return cfi.CFA
	}
	return cfi.RA
}

// compared returns the registers by which two steps are compared, besides the
// program counter and the stack pointer: callee-saved registers, and any other
// for which both have a rule.
func compared(u *walk.Inspector, a, b *walk.Step) (regs []cfi.Reg) {
	if fp := u.Arch().FP; a.FPOnly || b.FPOnly {
		if fp == "" {
			return nil
		}
		return []cfi.Reg{register(u, fp)}
	}
	for _, name := range u.Arch().CalleeSaved {
		regs = append(regs, register(u, name))
	}
	pc, sp := register(u, u.Arch().PC), register(u, u.Arch().SP)
	for _, rule := range a.Row.Regs {
		if u.Names().Known(rule.Reg) && rule.Reg != pc && rule.Reg != sp &&
			!b.Row.Rule(rule.Reg).IsZero() && !slices.Contains(regs, rule.Reg) {
			regs = append(regs, rule.Reg)
		}
	}
	return regs
}

// register returns the number of one of the CPU's registers.
func register(u *walk.Inspector, name string) cfi.Reg {
	i, _ := u.Arch().RegIndex(name)
	return cfi.Reg(i)
}

// rows compares the sources' steps from a frame.
func (v *verifier) rows(u *walk.Inspector, s *walk.Stack, f *walk.Frame) (steps []walk.Step) {
	steps = u.Steps(f)
	for i := 1; i < len(steps); i++ {
		if steps[i].By == walk.ByFramePointer && v.leavesStack(s) {
			continue // the frame pointer already, or still, belongs to the other stack
		}
		v.pair(u, s, f, &steps[0], &steps[i])
	}
	return steps
}

// leavesStack reports whether the current frame's caller is on another stack, that of C or Go.
func (v *verifier) leavesStack(s *walk.Stack) bool {
	next := v.current + 1
	return next < len(s.Frames) && s.Frames[next].By == walk.ByGoStack
}

// goesOn reports whether a step leads to code that has made a call. Where a program or a thread
// begins, rules that do not mark the outermost frame lead to whatever the stack begins with.
func (v *verifier) goesOn(u *walk.Inspector, s *walk.Step) bool {
	return !s.IsLast() && s.Err == nil && u.IsCode(s.PC) && u.Call(s.PC) != walk.CallNo
}

// pair compares the first source with another.
func (v *verifier) pair(u *walk.Inspector, s *walk.Stack, f *walk.Frame, a, b *walk.Step) {
	has := [2]bool{a.Row != nil || a.Err != nil, b.Row != nil || b.Err != nil || b.By == walk.ByFramePointer}
	switch {
	case !has[0] && !has[1], b.By != walk.ByEHFrame && (!has[0] || !has[1]):
		return // .sframe need not cover every function
	case !has[0]:
		v.add(s, f, Finding{Severity: SeverityError, Kind: KindNoRules, Blame: BlameSymbols,
			brief: "the symbol file has no rules, " + sourceName(b.By) + " has",
			Text:  fmt.Sprintf("the symbol file has no rules, %s has %s", sourceName(b.By), b.Row)})
		return
	case !has[1]:
		v.add(s, f, Finding{Severity: SeverityNote, Kind: KindExtraRules,
			Text: fmt.Sprintf("%s has rules where %s has none", sourceName(a.By), sourceName(b.By))})
		return
	}
	v.verdict.Compared++
	d, differs := differ(u, a, b)
	if differs && s.End == walk.EndStart && f == &s.Frames[len(s.Frames)-1] && !v.goesOn(u, a) && !v.goesOn(u, b) {
		differs = false // some writers of symbol files do not mark where a stack ends, and here the mark is not needed
	}
	if !differs {
		if a.Row != nil && b.Row != nil && !a.FPOnly && !b.FPOnly && !a.Row.Equal(b.Row) {
			v.add(s, f, Finding{Severity: SeverityNote, Kind: KindSameEffect, Blame: BlameSymbols,
				Text: fmt.Sprintf("%s has %s, %s has %s: no difference in this dump", sourceName(a.By), a.Row, sourceName(b.By), b.Row)})
		}
		return
	}
	x := Finding{Severity: SeverityError, Kind: KindRulesDiffer, Blame: BlameSymbols, Sides: []Side{side(u, a, d), side(u, b, d)}}
	if b.By == walk.ByFramePointer {
		x.Kind = KindFramePointer
		if a.Row != nil && a.Row.Rule(d.reg).IsZero() && d.reg != cfi.CFA && d.reg != cfi.RA {
			// Go's compiler never says where a frame pointer was saved. The binary's rules have what
			// the symbol file lost.
			x.Severity = SeverityWarning
		}
	}
	if a.By != walk.BySymbols {
		x.Blame = BlameBinary
	}
	x.Text = fmt.Sprintf("%s: by %s %s, by %s %s", d.what, sourceName(a.By), x.Sides[0].says(d), sourceName(b.By), x.Sides[1].says(d))
	x.brief = fmt.Sprintf("%s: %s differs from %s", d.what, sourceName(a.By), sourceName(b.By))
	v.add(s, f, x)
}

// side describes one source's side of a difference.
func side(u *walk.Inspector, s *walk.Step, d difference) Side {
	x := Side{Source: s.By.String(), CFA: walk.Address(s.CFA), PC: walk.Address(s.PC)}
	if d.reg != cfi.CFA && d.reg != cfi.RA {
		x.Register = u.Names().Name(d.reg)
	}
	if s.Row != nil {
		x.Rule = ruleText(u, s.Row, d.reg)
	}
	switch {
	case s.Err != nil:
		x.Error = s.Err.Error()
	case s.Outermost:
		x.Error = "no caller"
	case x.Register != "":
		v, ok := s.Regs.Get(d.reg)
		if x.Value = walk.Address(v); !ok {
			x.Error = "unknown"
		}
	}
	return x
}

// ruleText returns the rule of a register, preceded by the rule of .cfa, on which it depends.
func ruleText(u *walk.Inspector, row *cfi.Row, reg cfi.Reg) string {
	text := ".cfa: " + row.CFA.String()
	name := ".ra"
	if reg >= 0 {
		name = u.Names().Name(reg)
	}
	if reg == cfi.CFA {
		return text
	}
	if e := row.Rule(reg); !e.IsZero() {
		return text + " " + name + ": " + e.String()
	}
	return text + ", none for " + name
}

// says formats a side for people.
func (x *Side) says(d difference) string {
	text := x.Value.String()
	switch {
	case x.Error != "":
		text = x.Error
	case d.reg == cfi.CFA:
		text = x.CFA.String()
	case x.Register == "":
		text = x.PC.String()
	}
	if x.Rule == "" {
		return text
	}
	return text + " (" + x.Rule + ")"
}
