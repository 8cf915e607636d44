package unwind

import (
	"slices"

	"github.com/symtool/symtool/internal/insn"
)

// Nothing that is followed leads to the cases of a switch. Their frame is that at the switch; a function may have
// switches with several, as where some paths need no frame. The instructions of a case choose: with another's frame they
// return with a wrong stack pointer, or lead to code that has another.

// maxJumps is the number of different frames at switches that are remembered in a function.
const maxJumps = 4

// atSwitch remembers the frame at a switch, the last one first.
func (w *compactFlow) atSwitch(f *insn.Frame) {
	i := w.indexOf(f)
	switch {
	case i < 0 && len(w.jumps) < maxJumps:
		i = len(w.jumps)
		w.jumps = append(w.jumps, *f)
	case i < 0:
		i = maxJumps - 1
		w.jumps[i] = *f
	case f.SPKnown:
		w.jumps[i] = *f
	}
	w.jumps[0], w.jumps[i] = w.jumps[i], w.jumps[0]
}

// indexOf returns the index of the remembered frame that is f, but for a stack pointer that only one of them knows, or -1.
func (w *compactFlow) indexOf(f *insn.Frame) int {
	return slices.IndexFunc(w.jumps, func(j insn.Frame) bool {
		a, b := j.Stack, f.Stack
		if a.FPKnown && b.FPKnown && a.SPKnown != b.SPKnown {
			a.SP, a.SPKnown, b.SP, b.SPKnown = 0, false, 0, false
		}
		return a == b
	})
}

// afterSwitch follows code that nothing leads to with the frames at switches.
func (w *compactFlow) afterSwitch(at uint32) bool {
	return len(w.jumps) > 1 && w.best(at) || len(w.jumps) > 0 && w.try(at, w.jumps[0], false)
}

// best follows code with the first of the frames at switches with which there is no contradiction, calls included, and
// with which it leaves the function as that was entered; else, with the first without a contradiction.
func (w *compactFlow) best(at uint32) bool {
	w.frames = append(w.frames[:0], w.jumps...) // code may have more switches
	w.deep = true
	defer func() { w.deep = false }()
	first := -1
	for i := range w.frames {
		before := w.mark()
		switch {
		case !w.try(at, w.frames[i], false):
			continue
		case !w.unclean:
			return true
		case first < 0:
			first = i
		}
		w.forget(before)
	}
	return first >= 0 && w.try(at, w.frames[first], false)
}

// flowMark is how much was found at some time.
type flowMark struct{ at, states, later int }

func (w *compactFlow) mark() flowMark { return flowMark{len(w.at), len(w.state), len(w.later)} }

// forget forgets what was found since.
func (w *compactFlow) forget(m flowMark) {
	for _, at := range w.at[m.at:] {
		w.found[at] = 0
	}
	w.at, w.state, w.later = w.at[:m.at], w.state[:m.states], w.later[:min(m.later, len(w.later))]
}

// leaves notes a jump out of the function.
func (w *compactFlow) leaves(f *insn.Frame) {
	w.exits(f)
	w.unclean = w.unclean || f.SPKnown && f.SP != w.entry.SP
}

// startEvidence is what shows whether a function begins at a start.
type startEvidence uint8

const (
	inFunction   startEvidence = 1 << iota // it is in another function
	usedFunction                           // it is called, or jumped to as in a tail call
	enteredFrom                            // code before it goes on into it
	ownFrame                               // it points the frame pointer to where it saved the caller's
	outerFrame                             // it goes on in the frame of another function, as the handlers of interpreters do
)

// note records evidence about the start at an address, if there is one.
func (w *compactFlow) note(addr uint64, e startEvidence) {
	if off := addr - w.lo; off < uint64(len(w.code)) && w.isStart(uint32(off)) {
		w.starting[addr] |= e
	}
}

// dispatches notes an indirect jump behind code that uses the frame pointer of a frame that it did not make. JSC's
// interpreter is one function in assembly, with a label for each instruction, to which jumps through a table lead.
// Pieces of functions that LLVM's outliner made functions use such frames, too, but return.
func (w *compactFlow) dispatches(f *insn.Frame) {
	if f.Outer {
		w.note(w.lo+uint64(w.origin), outerFrame)
	}
}

// exits notes a return or jump with a stack pointer for which the return address is not on the stack any more, where calls
// put it there. Pieces of epilogues that LLVM's outliner made functions of arm64 have such.
func (w *compactFlow) exits(f *insn.Frame) {
	if f.SPKnown && f.SP < w.entry.SP && w.entry.SP > 0 {
		w.short = true
		w.note(w.lo+uint64(w.origin), inFunction)
	}
}

// branches notes a jump to the start of a function. LC_FUNCTION_STARTS lists labels of assembly, too: one to which code
// with a frame jumps is inside of a function.
func (w *compactFlow) branches(target uint64, f *insn.Frame) {
	switch {
	case !f.SPKnown:
	case f.SP == w.entry.SP:
		w.note(target, usedFunction)
	default:
		w.note(target, inFunction)
	}
}

// crosses reports whether a jump without a frame leads into the middle of another function. Tail calls lead to its
// start; data that decodes as code has such jumps, and the functions that are there come first.
func (w *compactFlow) crosses(target uint64, at uint32, f *insn.Frame) bool {
	off := target - w.lo
	if off >= uint64(len(w.code)) || f.SP != w.entry.SP || w.isStart(uint32(off)) {
		return false
	}
	from, _ := slices.BinarySearch(w.starts, w.lo+uint64(at)+1)
	to, _ := slices.BinarySearch(w.starts, target)
	return from != to
}

// inside reports whether the start at an address is in another function. V8's functions jump to others with arguments
// on the stack; those make frames of their own.
func (w *compactFlow) inside(addr uint64) bool {
	return addr != w.lo && w.starting[addr]&(inFunction|usedFunction|ownFrame) == inFunction
}

// interpreter reports whether the starts are labels of an interpreter in assembly: some go on in a frame that others
// made, and code goes on into many, which never happens between functions of compilers.
func (w *compactFlow) interpreter() bool {
	labels, frames := 0, 0
	for _, e := range w.starting {
		labels += int(e & enteredFrom / enteredFrom)
		frames += int(e & outerFrame / outerFrame)
	}
	return frames > 0 && labels > len(w.starts)/8
}

// setsFrame notes a frame that the function at the origin made.
func (w *compactFlow) setsFrame(f *insn.Frame) {
	if !w.guess && f.FPKnown && !f.Popped && f.Saved>>w.fp&1 != 0 && f.FP == -int64(f.At[w.fp]) {
		w.note(w.lo+uint64(w.origin), ownFrame)
	}
}

// has reports whether there is evidence about the start at an address.
func (w *compactFlow) has(addr uint64, e startEvidence) bool { return w.starting[addr]&e != 0 }
