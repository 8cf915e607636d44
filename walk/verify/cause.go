package verify

import (
	"slices"

	"github.com/symtool/symtool/walk"
)

// cause is the reason why a stack was lost, until the findings are sorted. Findings further down the stack
// follow from it, because the registers there are guesses.
type cause struct {
	finding int // index in Findings, or -1
	module  int // index in Dump.Modules of the module whose symbols are missing, or -1
}

// noCause is the cause of a stack that was lost because rules are missing, which the counts of
// guesses report.
var noCause = cause{-1, -1}

// consequences are the kinds of findings that follow from a stack lost above. Two sources that differ at the
// same address do so on any stack.
var consequences = []string{KindFramePointer, KindRulesFail, KindNoCall, KindMemory, KindBroken}

// lose records the reason why the current stack was lost, unless it was lost before: below frame f no caller is
// certain.
func (v *verifier) lose(f *walk.Frame) {
	if v.after != nil {
		return
	}
	c := noCause
	if i, ok := v.errorAt(f, append(slices.Clone(aboutRules), KindBroken, KindMemory)...); ok {
		c.finding = i
	} else if f.Module >= 0 && v.symbolsOf(f.Module) == nil {
		c.module = f.Module
	}
	v.after = &c
	if f.Module >= 0 {
		v.damage(f.Module).first++
	}
}

// errorAt returns the index of the error at a frame's address, of the first of the kinds for which there is
// one.
func (v *verifier) errorAt(f *walk.Frame, kinds ...string) (int, bool) {
	for _, kind := range kinds {
		i, ok := v.at[findingKey{kind: kind, module: f.Module, addr: f.Inst}]
		if ok && v.verdict.Findings[i].Severity == SeverityError {
			return i, true
		}
	}
	return 0, false
}

// explained reports whether an error at the frame, or at the frame that led to it, already says why the walk
// ended.
func (v *verifier) explained(s *walk.Stack, f *walk.Frame) bool {
	if _, ok := v.errorAt(f, aboutRules...); ok {
		return true
	}
	n := len(s.Frames)
	if n < 2 {
		return false
	}
	_, ok := v.errorAt(&s.Frames[n-2], aboutRules...)
	return ok
}

// causeAt returns the cause of a finding about a frame: what lost the stack above, or another
// error about the frame's rules. It returns nil if there is none.
func (v *verifier) causeAt(f *walk.Frame, x *Finding) *cause {
	if v.after != nil && slices.Contains(consequences, x.Kind) {
		return v.after
	}
	if !slices.Contains(aboutRules, x.Kind) {
		return nil
	}
	i, ok := v.errorAt(f, aboutRules...)
	if first := v.verdict.Findings; !ok || first[i].Kind == x.Kind && len(x.Sides) == 0 {
		return nil
	}
	return &cause{i, -1}
}

// causeAbove returns an error about the rules that led to the current frame and computed its registers, or nil.
func (v *verifier) causeAbove(s *walk.Stack, f *walk.Frame) *cause {
	if i := v.number(s, f); i > 0 && v.after == nil {
		if x, ok := v.errorAt(&s.Frames[i-1], KindRulesDiffer, KindFramePointer); ok {
			return &cause{x, -1}
		}
	}
	return nil
}

// aboutRules are the kinds of findings about the rules for a frame, the decisive kind first.
var aboutRules = []string{KindRulesDiffer, KindFramePointer, KindNoRules, KindRulesFail, KindNoCall}

// group moves findings below the finding that they follow from. If the cause is not a finding, such as a guess
// that was allowed, its consequences remain separate.
func (v *verifier) group() {
	list := v.verdict.Findings
	modules := map[int]int{}
	for i := range list {
		if list[i].ofModule > 0 {
			modules[list[i].ofModule-1] = i
		}
	}
	counts := v.countsFinding()
	below := make([]int, len(list)) // index of the cause, or -1
	for i := range list {
		below[i] = v.causeOf(&list[i], modules, counts)
	}
	for i := range list { // up to the first cause
		for below[i] >= 0 && below[below[i]] >= 0 {
			below[i] = below[below[i]]
		}
	}
	top := []Finding{}
	place := make([]int, len(list))
	for i := range list {
		if below[i] < 0 {
			place[i] = len(top)
			top = append(top, list[i])
		}
	}
	for i := range list {
		if k := below[i]; k >= 0 {
			x := &top[place[k]]
			x.Follows = append(x.Follows, list[i])
		}
	}
	for i := range top {
		sortFindings(top[i].Follows)
	}
	v.verdict.Findings = top
}

// countsFinding returns the index of the finding about the number of guessed callers, or -1.
func (v *verifier) countsFinding() int {
	return slices.IndexFunc(v.verdict.Findings, func(x Finding) bool { return x.Kind == KindScan || x.Kind == KindShare })
}

// causeOf returns the index of the finding that x follows from, or -1.
func (v *verifier) causeOf(x *Finding, modules map[int]int, counts int) int {
	switch {
	case x.after == nil:
		return -1
	case x.after.finding >= 0:
		return x.after.finding
	case x.after.module >= 0:
		if i, ok := modules[x.after.module]; ok {
			return i
		}
		return -1
	case x.Kind == KindScan || x.Kind == KindShare:
		return -1
	}
	return counts
}

// isClone reports whether a frame was interrupted in a function that starts a
// thread, where it has no rules.
func (v *verifier) isClone(f *walk.Frame, steps []walk.Step) bool {
	return f.Interrupted && walk.IsClone(f.Function()) && !hasRules(steps)
}

// hasRules reports whether any source has rules for a step.
func hasRules(steps []walk.Step) bool {
	return slices.ContainsFunc(steps, func(s walk.Step) bool { return s.By != walk.ByFramePointer && (s.Row != nil || s.Err != nil) })
}
