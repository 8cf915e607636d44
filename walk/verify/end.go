package verify

import (
	"fmt"
	"slices"

	"github.com/symtool/symtool/walk"
)

// end judges where a walk ended. If a stack does not end where threads do, that is an error,
// whatever the reason.
func (v *verifier) end(u *walk.Inspector, s *walk.Stack, f *walk.Frame, steps []walk.Step) {
	switch {
	case s.End == walk.EndWriter || s.End == walk.EndOutermost || s.End == walk.EndStart:
		return
	case s.End == walk.EndZero:
		v.zero(u, s, f, steps)
		return
	}
	noMemory := v.result.Dump.Memory.Find(f.SP) == nil
	v.unended(u, s, f, steps, noMemory)
	if f.Module >= 0 && !noMemory { // otherwise no symbols could help
		v.damage(f.Module).broken[s.Thread] = true
		v.lose(f)
	}
}

// unended adds a finding about a walk that did not reach the end of the stack.
func (v *verifier) unended(u *walk.Inspector, s *walk.Stack, f *walk.Frame, steps []walk.Step, noMemory bool) {
	if v.explained(s, f) {
		return
	}
	for i := range steps {
		if steps[i].Err != nil && v.unreadable(steps[i].Err) {
			x := Finding{Severity: SeverityError, Kind: KindMemory, Blame: BlameDump}
			x.Text, x.brief = v.memoryText(s, f)
			v.add(s, f, x)
			return
		}
	}
	x := Finding{Severity: SeverityError, Kind: KindBroken, Blame: BlameSymbols, Text: s.Why}
	switch {
	case s.End == walk.EndLimit:
		x.Blame, x.Text = NoBlame, "the walk was ended after "+s.Why
	case s.End == walk.EndBudget:
		x.Blame = BlameDump
	case s.End == walk.EndNoMemory || noMemory:
		x.Kind, x.Blame = KindMemory, BlameDump
		x.Text, x.brief = v.memoryText(s, f)
	case f.Module < 0:
		x.Blame, x.Text = BlameDump, fmt.Sprintf("%#x is in no module: %s", f.PC, s.Why)
	case v.symbolsOf(f.Module) == nil:
		return // the module's finding covers it
	case s.End == walk.EndNothing:
		if v.leadsNowhere(u, s, f, steps) || v.fails(s, f, steps) {
			return
		}
		v.nothing(u, f, steps, &x)
	case s.End == walk.EndStuck && len(steps) > 0:
		x.Blame = BlameDump
		if len(steps) == 1 {
			x.Blame = BlameSymbols // nothing else supports the rule
		}
	}
	v.add(s, f, x)
}

// wordsAbove is the number of words of a stack that are searched for return addresses above the
// frame where a walk ended: the size of a large array.
const wordsAbove = 4096

// nothing describes a frame without a caller, outside functions where threads begin.
func (v *verifier) nothing(u *walk.Inspector, f *walk.Frame, steps []walk.Step, x *Finding) {
	why := "its rules give no caller"
	if !hasRules(steps) {
		x.Blame, why = v.bareHere(f.Module)
	}
	pc, off, answer := u.ReturnAbove(f, wordsAbove)
	switch answer {
	case walk.CallYes:
		x.Text = fmt.Sprintf("%s, but the stack goes on: a return address %#x is %d bytes above sp", why, pc, off)
		x.brief = why + ", but the stack goes on"
	case walk.CallNo:
		x.Blame = NoBlame
		x.Text = why + ", and nothing above looks like a return address: it may be where the stack begins"
		x.brief = why + ", and it may be where the stack begins"
	default:
		x.Text = why + ", and it is not known as a function where threads begin; the binary would show whether the stack goes on"
		x.brief = why + ", and threads do not begin here"
	}
}

// bareHere returns the sources that lack rules for a frame without rules.
func (v *verifier) bareHere(i int) (Blame, string) {
	switch {
	case v.module(i).Symbols == "binary":
		return BlameBinary, "the binary has no rules here"
	case v.result.Modules[i].HasBinary(v.ctx):
		return BlameBinary, "neither the symbol file nor the binary has rules here"
	}
	return BlameSymbols, "the symbol file has no rules here"
}

// wordsNear is the distance in words within which another return address must follow a return
// address of 0 for the stack to continue: the stack of another thread may follow the end of a
// thread's stack.
const wordsNear = 128

// zero adds a finding about a return address of 0 that is not where the stack begins. The reason
// may be cleared memory, a rule that leads to the wrong word, or a rule that does not describe the
// stack after a switch to another. On Linux the functions in which programs and threads begin are
// known; elsewhere 0 is the system's own mark.
func (v *verifier) zero(u *walk.Inspector, s *walk.Stack, f *walk.Frame, steps []walk.Step) {
	if f.IsEntry() {
		return
	}
	x := Finding{Severity: SeverityError, Kind: KindBroken}
	pc, off, answer := u.ReturnAbove(f, wordsNear)
	switch {
	case answer == walk.CallYes:
		x.Text = fmt.Sprintf("%s, but a return address %#x is %d bytes above sp", s.Why, pc, off)
	case stackSwitches[f.Function()], v.smallNumber(steps):
		x.Text = s.Why + ", which is not where threads end"
	case v.result.Dump.System.OS.IsLinux() && v.symbolsOf(f.Module) != nil && !isBottom(f.Function()) && !readsNothing(steps):
		x.Text = s.Why + ", but threads are not known to begin here"
	default:
		return
	}
	why := ""
	x.Blame, why = v.culprit(u, f)
	x.brief = x.Text
	x.Text += why
	if !v.explained(s, f) {
		v.add(s, f, x)
	}
}

// bottoms are functions, in addition to walk's starts, to which systems with the Linux kernel give
// a return address of 0.
var bottoms = map[string]bool{
	"__libc_start_main": true, "__libc_start_main_impl": true, "__libc_start_call_main": true, "generic_start_main": true, "__libc_start_main_stage2": true,
	"libc_start_main_stage2": true, "__libc_init": true, "_start_main": true, "_dl_start_user": true,
	"start_thread": true, "thread_start": true, "__thread_start": true, "__start_thread": true, "__pthread_start": true, "__bionic_clone": true,
	"start": true, "__start_context": true,
}

func isBottom(function string) bool { return walk.IsStart(function) || bottoms[function] }

// readsNothing reports whether the rules give a number as the return address, which means that
// there is no caller.
func readsNothing(steps []walk.Step) bool {
	return slices.ContainsFunc(steps, func(s walk.Step) bool {
		if s.Row == nil {
			return false
		}
		_, _, load := s.Row.RA.AsLoad()
		_, _, register := s.Row.RA.AsOffset()
		return s.Outermost || !load && !register
	})
}

// smallNumber reports whether rules read from the stack a return address below
// the first page other than 0. Only a rule that is itself a number may end a
// stack with such an address.
func (v *verifier) smallNumber(steps []walk.Step) bool {
	for i := range steps {
		x := &steps[i]
		if x.Row == nil || x.Err != nil || x.Outermost {
			continue
		}
		_, _, load := x.Row.RA.AsLoad()
		return load && x.PC != 0 && x.PC < walk.FirstPage
	}
	return false
}

// memoryText returns where the memory of a stack ends, in full and for the conclusion.
func (v *verifier) memoryText(s *walk.Stack, f *walk.Frame) (text, brief string) {
	d := v.result.Dump
	thread := fmt.Sprintf("thread %d: ", d.Threads[s.Thread].ID)
	r := d.Memory.Find(f.SP)
	if r == nil {
		text = fmt.Sprintf("the dump does not hold the stack at sp %#x", f.SP)
		return thread + text, text
	}
	end := r.End()
	for next := d.Memory.Find(end); next != nil && end != 0; next = d.Memory.Find(end) {
		end = next.End()
	}
	return thread + fmt.Sprintf("the stack memory ends at %#x, %d bytes above sp", end, end-f.SP),
		fmt.Sprintf("the dump's stack ends %d bytes above sp", end-f.SP)
}
