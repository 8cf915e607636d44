package walk

import "fmt"

// end tells why a walk did not come to the end of the stack.
func (v *verifier) end(u *unwinder, s *Stack, f *Frame, steps []ruleStep) {
	noMemory := v.result.Dump.Memory.Find(f.SP) == nil
	if f.Module >= 0 && !noMemory { // else no symbols could help
		v.damage(f.Module).broken[s.Thread] = true
		v.lose(f)
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
	case s.End == EndBudget:
		x.Blame = BlameDump
	case s.End == EndNoMemory || noMemory:
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
	x.Text = "no rules give its caller"
	pc, off, answer := v.above(u, f, wordsAbove)
	if answer == callYes {
		x.Text += fmt.Sprintf(", but the stack goes on: a return address %#x is %d bytes above sp", pc, off)
		return
	}
	x.Severity, x.Blame = SeverityWarning, NoBlame
	if answer == callUnknown {
		x.Text += "; without the code it cannot be told whether the stack goes on"
		return
	}
	x.Text += ", and nothing above looks like a return address: it may be where the stack begins"
}

// wordsNear is how near to a return address of 0 there must be another one, for
// the stack to go on: behind the end of a thread's stack may be another's.
const wordsNear = 128

// zero tells of a return address of 0 that is not where the stack begins: of
// memory that was cleared, or of a rule that leads to another word.
func (v *verifier) zero(u *unwinder, s *Stack, f *Frame) {
	pc, off, answer := v.above(u, f, wordsNear)
	if answer != callYes {
		return
	}
	blame, why := v.cause(u, f)
	x := Finding{Severity: SeverityError, Kind: KindBroken, Blame: blame,
		Text: fmt.Sprintf("%s, but a return address %#x is %d bytes above sp%s", s.Why, pc, off, why)}
	if !v.explained(s, f) {
		v.add(s, f, x)
	}
}

// above looks for a return address on the stack, in so many words above a frame's
// stack pointer. Without one, the answer is callUnknown if there may be one in code
// that is not at hand.
func (v *verifier) above(u *unwinder, f *Frame, words uint64) (pc, off uint64, answer callAnswer) {
	word := uint64(u.cpu.arch.PtrSize)
	answer = callNo
	for i := range words {
		pc, ok := u.ReadWord(f.SP + i*word)
		if !ok {
			break
		}
		if pc = u.cpu.clean(u, pc); !u.isCode(pc) {
			continue
		}
		switch v.call(u, pc) {
		case callYes:
			return pc, i * word, callYes
		case callUnknown:
			answer = callUnknown
		}
	}
	return 0, 0, answer
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
