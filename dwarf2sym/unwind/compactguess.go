package unwind

import (
	"slices"

	"github.com/symtool/symtool/internal/insn"
)

// No instruction that can be followed leads to the cases of a switch. Their frame is the frame at the switch; a
// function may have switches with several frames, since some paths may need none. The instructions of a case decide:
// with a wrong frame they return with a wrong stack pointer, or lead to code that has another frame.

// maxJumps is the number of different switch frames that are remembered for a function.
const maxJumps = 4

// atSwitch remembers the frame at a switch, moving it to the front.
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

// indexOf returns the index of the remembered frame that equals f, or -1. A stack pointer that only one of them knows
// is ignored.
func (w *compactFlow) indexOf(f *insn.Frame) int {
	return slices.IndexFunc(w.jumps, func(j insn.Frame) bool {
		a, b := j.Stack, f.Stack
		if a.FPKnown && b.FPKnown && a.SPKnown != b.SPKnown {
			a.SP, a.SPKnown, b.SP, b.SPKnown = 0, false, 0, false
		}
		return a == b
	})
}

// afterSwitch follows code that nothing leads to, with the frames at switches. It reports whether one of them causes no
// contradiction.
func (w *compactFlow) afterSwitch(at uint32) bool {
	return len(w.jumps) > 1 && w.best(at) || len(w.jumps) > 0 && w.try(at, w.jumps[0], false)
}

// best follows code with the first switch frame that causes no contradiction, calls included, and with which the code
// leaves the function with the stack pointer as at its entry. If there is none, it uses the first frame without a
// contradiction. It reports false if every frame causes one.
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

// flowMark records how much had been found at some point.
type flowMark struct{ at, states, later int }

func (w *compactFlow) mark() flowMark { return flowMark{len(w.at), len(w.state), len(w.later)} }

// forget discards what was found since m.
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

// startEvidence says what shows whether a function really begins at a start.
type startEvidence uint8

const (
	inFunction   startEvidence = 1 << iota // is inside another function
	usedFunction                           // is called, or jumped to as in a tail call
	enteredFrom                            // code before it continues into it
	ownFrame                               // points the frame pointer to where it saved the caller's
	outerFrame                             // continues in the frame of another function, as the handlers of interpreters do
)

// note records evidence about the start at addr, if there is a start.
func (w *compactFlow) note(addr uint64, e startEvidence) {
	if off := addr - w.lo; off < uint64(len(w.code)) && w.isStart(uint32(off)) {
		w.starting[addr] |= e
	}
}

// dispatches notes an indirect jump in code that uses the frame pointer of a frame that it did not make. JSC's
// interpreter is one function in assembly, with a label for each bytecode instruction, reached through a table of
// jumps. Pieces of functions that LLVM's outliner turned into functions use such frames, too, but return.
func (w *compactFlow) dispatches(f *insn.Frame) {
	if f.Outer {
		w.note(w.lo+uint64(w.origin), outerFrame)
	}
}

// exits notes a return or jump for which the return address is no longer on the stack, where calls put it there.
// Epilogue pieces that LLVM's outliner turned into functions do this on arm64.
func (w *compactFlow) exits(f *insn.Frame) {
	if f.SPKnown && f.SP < w.entry.SP && w.entry.SP > 0 {
		w.short = true
		w.note(w.lo+uint64(w.origin), inFunction)
	}
}

// branches notes a jump to the start of a function. LC_FUNCTION_STARTS also lists labels of assembly: a label that code
// with a frame jumps to is inside a function.
func (w *compactFlow) branches(target uint64, f *insn.Frame) {
	switch {
	case !f.SPKnown:
	case f.SP == w.entry.SP:
		w.note(target, usedFunction)
	default:
		w.note(target, inFunction)
	}
}

// crosses reports whether a jump without a frame leads into the middle of another function. Tail calls lead to the
// start; data that decodes as code has such jumps, so the functions there are followed first.
func (w *compactFlow) crosses(target uint64, at uint32, f *insn.Frame) bool {
	off := target - w.lo
	if off >= uint64(len(w.code)) || f.SP != w.entry.SP || w.isStart(uint32(off)) {
		return false
	}
	from, _ := slices.BinarySearch(w.starts, w.lo+uint64(at)+1)
	to, _ := slices.BinarySearch(w.starts, target)
	return from != to
}

// inside reports whether the start at addr is inside another function. V8's functions jump to others with arguments on
// the stack, but those make their own frames.
func (w *compactFlow) inside(addr uint64) bool {
	return addr != w.lo && w.starting[addr]&(inFunction|usedFunction|ownFrame) == inFunction
}

// interpreter reports whether the starts are labels of an interpreter in assembly: some continue in a frame that
// another one made, and code continues into many of them, which never happens between functions of compilers.
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
