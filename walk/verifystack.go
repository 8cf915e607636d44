package walk

import (
	"errors"
	"fmt"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt/cfi"
)

// damage is what is broken behind a module's frames, or was found without
// rules.
type damage struct {
	broken map[int]bool // places in Result.Stacks
	weak   int          // callers by frame pointers and scanning
}

// notCalled are functions into whose middle return addresses are put that no
// call has left: Go's runtime gives them to the first function of a goroutine.
var notCalled = map[string]bool{"runtime.goexit": true, "runtime.goexit.abi0": true}

// stack judges a stack.
func (v *verifier) stack(s *Stack) error {
	v.verdict.Threads++
	if !s.End.Clean() {
		v.verdict.Broken++
	}
	u := v.unwinder(s)
	if u == nil {
		v.add(s, nil, Finding{Severity: SeverityError, Kind: KindNoContext, Blame: BlameDump,
			Text: fmt.Sprintf("thread %d: %s", v.result.Dump.Threads[s.Thread].ID, s.Why)})
		return nil
	}
	var last []ruleStep
	for i := range s.Frames {
		if i%1024 == 0 && v.ctx.Err() != nil {
			return v.ctx.Err()
		}
		f := &s.Frames[i]
		v.current = i
		u.enter(f)
		last = nil
		if f.Module >= 0 {
			last = v.rows(u, s, f)
		}
		if i > 0 {
			v.returns(u, s, i)
		}
		if i+1 < len(s.Frames) {
			v.caller(s, f, &s.Frames[i+1], last)
		}
		v.frame(s, f)
	}
	if n := len(s.Frames); n > 0 && !s.End.Clean() {
		v.end(u, s, &s.Frames[n-1], last)
	}
	return nil
}

// unwinder is one that can follow rules of a stack's frames; nil if the thread
// has no registers.
func (v *verifier) unwinder(s *Stack) *unwinder {
	d := v.result.Dump
	c := d.Threads[s.Thread].Context
	if crash := d.Crash; c == nil && crash != nil && crash.Thread == d.Threads[s.Thread].ID {
		c = crash.Context
	}
	if c == nil || c.Arch == nil || len(s.Frames) == 0 {
		return nil
	}
	m := v.w.machine(c.Arch)
	return &unwinder{Walker: v.w, machine: m, ctx: v.ctx, result: v.result, d: d, stack: &Stack{}, in: m.regs[0], out: m.regs[1]}
}

// enter makes a frame the one whose caller is wanted.
func (u *unwinder) enter(f *Frame) {
	u.frame = f
	u.in.Reset()
	for _, r := range f.Registers {
		u.in.Set(cfi.Reg(r.Index), r.Value)
	}
	u.in.Set(u.cpu.pc, f.PC)
	u.in.Set(u.cpu.sp, f.SP)
	u.module = nil
	if f.Module >= 0 {
		u.module = u.stateOf(f.Module)
	}
}

// frame counts a frame.
func (v *verifier) frame(s *Stack, f *Frame) {
	if f.Module < 0 {
		return
	}
	m := v.module(f.Module)
	m.Frames++
	if len(f.Names) > 0 {
		if m.Functions++; f.Source == resolve.Public {
			m.Publics++
		}
		return
	}
	if st := v.result.Modules[f.Module].state; st != nil && st.symbols.resolver != nil {
		v.add(s, f, Finding{Severity: SeverityNote, Kind: KindNoFunction, Blame: BlameSymbols, Text: "the symbols have no function here"})
	}
}

// caller counts a caller, and looks for what is wrong with how it was found.
func (v *verifier) caller(s *Stack, f, next *Frame, steps []ruleStep) {
	v.verdict.Counts.add(next)
	if f.Module < 0 {
		return // no symbols could help
	}
	m := v.module(f.Module)
	m.Counts.add(next)
	weak := next.Trust < TrustCFI
	if weak {
		v.damage(f.Module).weak++
		v.fails(s, f, steps)
	}
	if m.Allowed {
		return
	}
	v.verdict.Counted++
	if next.Trust == TrustCFI {
		v.verdict.CountedCFI++
	}
	if next.Trust == TrustScan {
		v.verdict.CountedScan++
	}
}

// fails tells of rules that there are and that gave no caller.
func (v *verifier) fails(s *Stack, f *Frame, steps []ruleStep) {
	for i := range steps {
		if steps[i].err == nil || steps[i].by == BySFrame || v.has(f, KindRulesDiffer) {
			continue
		}
		x := Finding{Severity: SeverityError, Kind: KindRulesFail, Blame: BlameSymbols,
			Text: fmt.Sprintf("the rules of %s give no caller: %v", sourceName(steps[i].by), steps[i].err)}
		if v.unreadable(steps[i].err) {
			x.Blame = BlameDump
		}
		v.add(s, f, x)
		return
	}
}

func (v *verifier) unreadable(err error) bool { return errors.Is(err, cfi.Unreadable) }

// returns checks that a caller's address follows a call.
func (v *verifier) returns(u *unwinder, s *Stack, i int) {
	f := &s.Frames[i]
	if f.Interrupted || f.Handler || notCalled[f.Function()] {
		return
	}
	switch v.call(u, f.PC) {
	case callYes:
		v.verdict.Calls++
	case callUnknown:
		v.verdict.UnknownCalls++
	case callNo:
		from := &s.Frames[i-1]
		if v.has(from, KindRulesDiffer, KindFramePointer, KindNoRules) {
			return // no wonder
		}
		x := Finding{Severity: SeverityError, Kind: KindNoCall, Blame: BlameSymbols,
			Text: fmt.Sprintf("the caller %#x, by %v, does not follow a call", f.PC, f.By)}
		if f.Trust < TrustCFI {
			x.Severity, x.Blame = SeverityWarning, NoBlame // no rule of the symbols gave it
		} else if v.agreed(u, from) {
			x.Blame = BlameDump // the stack was overwritten
			x.Text += ", and all rules agree: the stack was overwritten there"
		}
		v.add(s, from, x)
		u.enter(f)
	}
}

// agreed tells whether at least two sources have rules for a frame's step.
// They agree, or there were a finding.
func (v *verifier) agreed(u *unwinder, f *Frame) bool {
	if f.Module < 0 {
		return false
	}
	n := 0
	u.enter(f)
	for _, t := range v.tables(u.module) {
		if s := v.compute(u, t, rva(f.Inst-u.d.Modules[f.Module].Addr)); s.row != nil {
			n++
		}
	}
	return n > 1
}

// end tells why a walk did not come to the end of the stack.
func (v *verifier) end(u *unwinder, s *Stack, f *Frame, steps []ruleStep) {
	if f.Module >= 0 {
		v.damage(f.Module).broken[s.Thread] = true
	}
	if v.explained(s, f) {
		return
	}
	for i := range steps {
		if steps[i].err != nil && v.unreadable(steps[i].err) {
			v.add(s, f, Finding{Severity: SeverityError, Kind: KindMemory, Blame: BlameDump, Text: v.memoryText(s, f)})
			return
		}
	}
	x := Finding{Severity: SeverityError, Kind: KindBroken, Blame: BlameSymbols, Text: s.Why}
	st := v.symbolsOf(f.Module)
	switch {
	case s.End == EndLimit:
		x.Severity, x.Blame = SeverityWarning, NoBlame
	case s.End == EndNoMemory || v.result.Dump.Memory.Find(f.SP) == nil:
		x.Kind, x.Blame, x.Text = KindMemory, BlameDump, v.memoryText(s, f)
	case f.Module < 0:
		x.Blame, x.Text = BlameDump, fmt.Sprintf("%#x is in no module: %s", f.PC, s.Why)
	case st == nil:
		return // the module's finding tells it
	case s.End == EndNothing:
		v.nothing(u, f, &x)
	case s.End == EndStuck && len(steps) > 0:
		x.Blame = BlameDump
		if len(steps) == 1 {
			x.Blame = BlameSymbols // nothing else speaks for the rule
		}
	}
	v.add(s, f, x)
}

// wordsAbove is how many words of a stack are looked at for return addresses
// above the frame where a walk ended: what a large array takes.
const wordsAbove = 4096

// nothing tells whether there is more above a frame without a caller: many stacks
// end with a function of which symbols know nothing.
func (v *verifier) nothing(u *unwinder, f *Frame, x *Finding) {
	word := uint64(u.cpu.arch.PtrSize)
	x.Text = "no rules give its caller"
	unknown := false
	for i := range uint64(wordsAbove) {
		pc, ok := u.ReadWord(f.SP + i*word)
		if !ok {
			break
		}
		answer := callNo
		if pc = u.cpu.clean(u, pc); u.isCode(pc) {
			answer = v.call(u, pc)
		}
		unknown = unknown || answer == callUnknown
		if answer == callYes {
			x.Text += fmt.Sprintf(", but the stack goes on: a return address %#x is %d bytes above sp", pc, i*word)
			return
		}
	}
	x.Severity, x.Blame = SeverityWarning, NoBlame
	if unknown {
		x.Text += "; without the code it cannot be told whether the stack goes on"
		return
	}
	x.Text += ", and nothing above looks like a return address: it may be where the stack begins"
}

// explained tells whether a finding about the frame, or about the one that led
// to it, says already why the walk ended.
func (v *verifier) explained(s *Stack, f *Frame) bool {
	why := []string{KindRulesDiffer, KindFramePointer, KindNoRules, KindRulesFail, KindNoCall}
	n := len(s.Frames)
	return v.has(f, why...) || n > 1 && v.has(&s.Frames[n-2], why...)
}

// memoryText tells where the memory of a stack ends.
func (v *verifier) memoryText(s *Stack, f *Frame) string {
	d := v.result.Dump
	text := fmt.Sprintf("thread %d: the dump does not hold the stack at sp %#x", d.Threads[s.Thread].ID, f.SP)
	if r := d.Memory.Find(f.SP); r != nil {
		end := r.End()
		for next := d.Memory.Find(end); next != nil && end != 0; next = d.Memory.Find(end) {
			end = next.End()
		}
		text = fmt.Sprintf("thread %d: the stack memory ends at %#x, %d bytes above sp", d.Threads[s.Thread].ID, end, end-f.SP)
	}
	return text
}
