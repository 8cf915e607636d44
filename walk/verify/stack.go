package verify

import (
	"errors"
	"fmt"
	"slices"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/walk"
)

// damage counts what is broken after a module's frames, or was found without rules.
type damage struct {
	broken map[int]bool // stacks, by their index in Dump.Threads
	weak   int          // callers by frame pointers and scanning
	bare   int          // of weak, those for which no source has rules and no other finding gives the reason
	unused int          // of weak, those with rules that could not be used
	names  []string     // of functions without rules, one more than is printed
	first  int          // stacks that were lost here first: what follows may not belong to them
}

// notCalled are functions to whose middle return addresses lead although no call left them. Go's
// runtime gives such addresses to the first function of a goroutine, and to the functions that it
// calls on another stack; Boost gives them to the first function of a coroutine.
var notCalled = map[string]bool{
	"make_fcontext":  true,
	"runtime.goexit": true, "runtime.goexit.abi0": true, "runtime.systemstack_switch": true, "runtime.systemstack_switch.abi0": true,
}

// stackSwitches are functions of Go's runtime that call on a stack other than
// their caller's, but whose rules do not say so.
var stackSwitches = map[string]bool{
	"runtime.asmcgocall": true, "runtime.asmcgocall_no_g": true, "runtime.systemstack": true, "runtime.mcall": true,
	"runtime.morestack": true, "runtime.nanotime1": true, "runtime.walltime": true,
}

// stack judges a stack.
func (v *verifier) stack(s *walk.Stack) error {
	v.verdict.Threads++
	if !s.End.Clean() {
		v.verdict.Broken++
	}
	if s.End == walk.EndWriter {
		return nil // it was not walked, and did not crash
	}
	u := v.w.Inspect(v.ctx, v.result, s)
	if u == nil {
		v.add(s, nil, Finding{Severity: SeverityError, Kind: KindNoContext, Blame: BlameDump,
			Text: fmt.Sprintf("thread %d: %s", v.result.Dump.Threads[s.Thread].ID, s.Why)})
		return nil
	}
	var last []walk.Step
	v.after = nil
	for i := range s.Frames {
		if i%1024 == 0 && v.ctx.Err() != nil {
			return v.ctx.Err()
		}
		f := &s.Frames[i]
		v.current = i
		if i > 0 {
			v.returns(u, s, i)
		}
		last = v.rows(u, s, f)
		if i+1 < len(s.Frames) {
			v.caller(u, s, f, &s.Frames[i+1], last)
		}
		v.frame(u, s, f)
	}
	if n := len(s.Frames); n > 0 {
		v.end(u, s, &s.Frames[n-1], last)
	}
	return nil
}

// frame counts a frame.
func (v *verifier) frame(u *walk.Inspector, s *walk.Stack, f *walk.Frame) {
	if f.Module < 0 {
		return
	}
	if entry, foreign := u.ForeignStart(f); foreign {
		v.add(s, f, Finding{Severity: SeverityError, Kind: KindOtherID, Blame: BlameSymbols,
			brief: fmt.Sprintf("the process did not begin at the symbols' _start, %#x: another build's", f.Start),
			Text:  fmt.Sprintf("the process began at %#x, the symbols have _start at %#x: they are another build's", entry, f.Start)})
	}
	m := v.module(f.Module)
	m.Frames++
	if len(f.Names) > 0 {
		if m.Functions++; f.Source == resolve.Public {
			m.Publics++
		}
		return
	}
	if v.symbolsOf(f.Module) != nil {
		v.add(s, f, Finding{Severity: SeverityNote, Kind: KindNoFunction, Blame: BlameSymbols, Text: "the symbols have no function here"})
	}
}

// caller counts a caller, and checks how it was found.
func (v *verifier) caller(u *walk.Inspector, s *walk.Stack, f, next *walk.Frame, steps []walk.Step) {
	v.verdict.Counts.add(next)
	if f.Module < 0 { // symbols could not help
		if next.By == walk.ByScan && v.after == nil {
			v.outside++
			v.lose(f)
		}
		return
	}
	m := v.module(f.Module)
	m.Counts.add(next)
	weak := next.Trust < walk.TrustCFI || next.By == walk.ByCode && !v.result.Modules[f.Module].Binary // a symbol file has no such rules
	if weak && v.isClone(f, steps) && u.Call(next.PC) != walk.CallNo {
		return // no source could do better
	}
	if weak {
		v.guess(u, s, f, steps)
	}
	if m.Allowed {
		return
	}
	v.verdict.Counted++
	if next.Trust == walk.TrustCFI && !weak {
		v.verdict.CountedCFI++
	}
	if next.Trust == walk.TrustScan {
		v.verdict.CountedScan++
	}
}

// guess records a guessed caller, and the reason.
func (v *verifier) guess(u *walk.Inspector, s *walk.Stack, f *walk.Frame, steps []walk.Step) {
	d := v.damage(f.Module)
	d.weak++
	known := v.leadsNowhere(u, s, f, steps) || v.fails(s, f, steps)
	switch {
	case hasRules(steps):
		if !known && v.after == nil {
			d.unused++
		}
	case v.symbolsOf(f.Module) != nil && v.isThere(f):
		d.bare++
		d.without(f)
	}
	v.lose(f)
}

// isThere reports whether a frame belongs to the stack, as far as is known. After the stack was
// lost it may not, unless only rules were missing and the frame was found at least by the frame
// pointer.
func (v *verifier) isThere(f *walk.Frame) bool {
	return v.after == nil || *v.after == noCause && f.Trust >= walk.TrustFramePtr
}

// without records the name of a function that has no rules.
func (d *damage) without(f *walk.Frame) {
	if name := f.ShortFunction(); name != "" && !slices.Contains(d.names, name) && len(d.names) <= maxFunctions {
		d.names = append(d.names, name)
	}
}

// leadsNowhere adds a finding if rules lead to an address outside code.
func (v *verifier) leadsNowhere(u *walk.Inspector, s *walk.Stack, f *walk.Frame, steps []walk.Step) bool {
	for i := range steps {
		x := &steps[i]
		if x.Row == nil || x.Err != nil || x.IsLast() || !u.IsNowhere(x.PC) {
			continue
		}
		blame, why := v.culprit(u, f)
		after := v.causeAbove(s, f)
		if after != nil {
			blame, why = NoBlame, "" // the frame's registers are wrong
		}
		text := fmt.Sprintf("by %s the caller is %#x, which is not code", sourceName(x.By), x.PC)
		v.add(s, f, Finding{Severity: SeverityError, Kind: KindNoCall, Blame: blame, Text: text + why, brief: text, after: after})
		return true
	}
	return false
}

// fails adds a finding if there are rules that gave no caller.
func (v *verifier) fails(s *walk.Stack, f *walk.Frame, steps []walk.Step) bool {
	for i := range steps {
		if steps[i].Err == nil || steps[i].By == walk.BySFrame {
			continue
		}
		if _, ok := v.errorAt(f, KindRulesDiffer); ok {
			continue
		}
		x := Finding{Severity: SeverityError, Kind: KindRulesFail, Blame: BlameSymbols,
			Text: fmt.Sprintf("the rules of %s give no caller: %v", sourceName(steps[i].By), steps[i].Err)}
		if steps[i].By != walk.BySymbols {
			x.Blame = BlameBinary
		}
		if v.unreadable(steps[i].Err) {
			x.Blame = BlameDump
		}
		v.add(s, f, x)
		return true
	}
	return false
}

func (v *verifier) unreadable(err error) bool { return errors.Is(err, cfi.Unreadable) }

// returns checks that a caller's address follows a call.
func (v *verifier) returns(u *walk.Inspector, s *walk.Stack, i int) {
	f := &s.Frames[i]
	if f.Interrupted || f.Handler || notCalled[f.Function()] || beginsAt(s, i) {
		return
	}
	switch u.Call(f.PC) {
	case walk.CallYes:
		v.verdict.Calls++
	case walk.CallUnknown:
		v.verdict.UnknownCalls++
	case walk.CallNo:
		from := &s.Frames[i-1]
		if _, ok := v.errorAt(from, KindRulesDiffer, KindFramePointer, KindNoRules); ok {
			return // as expected
		}
		x := Finding{Severity: SeverityError, Kind: KindNoCall,
			Text: fmt.Sprintf("the caller %#x, by %v, does not follow a call", f.PC, f.By)}
		if f.Trust < walk.TrustCFI || from.Trust < walk.TrustCFI {
			x.Severity = SeverityWarning // no rule of the symbols gave it, or the frame itself is a guess
		} else {
			why := ""
			x.Blame, why = v.culprit(u, from)
			x.brief = x.Text
			x.Text += why
		}
		v.add(s, from, x)
		if x.Severity == SeverityError && from.Module >= 0 {
			v.lose(from)
		}
	}
}

// beginsAt reports whether a stack begins at the first instruction of a function, to which a
// coroutine would return. A wrong rule may lead to a function's address, too, but then the stack
// continues.
func beginsAt(s *walk.Stack, i int) bool {
	return i == len(s.Frames)-1 && s.End.Clean() && s.Frames[i].IsEntry()
}

// culprit returns what is to blame for a wrong caller computed by a frame's rules.
func (v *verifier) culprit(u *walk.Inspector, f *walk.Frame) (Blame, string) {
	switch {
	case v.after != nil:
		return NoBlame, "" // the frame itself is a guess
	case stackSwitches[f.Function()]:
		return BlameBinary, ": the function switches to another stack, which its rules do not describe"
	case v.agreed(u, f):
		return BlameDump, ", and all rules agree: the stack was overwritten there"
	}
	if f.Module >= 0 && v.result.Modules[f.Module].HasBinary(v.ctx) {
		return NoBlame, ": the rule is wrong, or the stack was overwritten there"
	}
	return NoBlame, ": the rule is wrong, or the stack was overwritten there; the binary would show which"
}

// agreed reports whether at least two sources have rules for a frame's step. If so, they agree,
// because a difference would be a finding.
func (v *verifier) agreed(u *walk.Inspector, f *walk.Frame) bool {
	n := 0
	for _, s := range u.Steps(f) {
		if s.Row != nil {
			n++
		}
	}
	return n > 1
}
