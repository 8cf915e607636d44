package unwind

import (
	"math"
	"slices"

	"github.com/symtool/symtool/internal/insn"
)

// maxFlow is the number of instructions of a range that are followed: each needs memory for its frame.
const maxFlow = 1 << 17

// Guesses may follow the same code repeatedly. For a range, flowBase instructions are followed, plus flowEffort for
// each byte; real code, whose instructions have more than two bytes, needs less than one per byte.
const (
	flowEffort = 2
	flowBase   = 1 << 12
)

// compactFlow holds what is known about the frame at the instructions of a range.
type compactFlow struct {
	effect insn.Effect
	fp     uint8 // the frame pointer's DWARF number
	lo     uint64
	code   []byte
	starts []uint64 // of functions in the range
	entry  insn.Frame

	codeAt   func(addr uint64) []byte // returns code of the file, or nothing
	outlined map[uint64]bool          // by targets of calls

	found    []flowPlace // by offset in code
	at       []uint32    // the offsets of what was found, in that order
	state    []insn.Stack
	frame    insn.Frame // before the instruction being followed
	now      []flowItem
	later    []flowItem               // after calls, which may not return
	last     []flowItem               // in other functions
	jumps    []insn.Frame             // the different frames at switches, the last one first
	frames   []insn.Frame             // being tried
	whole    []uint32                 // starts of functions whose instructions return without a contradiction
	wrong    []uint32                 // starts of code that takes more from the stack than a function can
	starting map[uint64]startEvidence // of starts
	origin   uint32                   // start of the function being followed, or noOrigin
	ended    bool                     // a return was reached
	short    bool                     // code takes the return address off the stack before it returns
	bad      bool                     // a return with another stack pointer than at the entry, or bytes that do not decode
	full     bool                     // there were too many instructions
	labels   bool                     // starts are labels of an interpreter
	left     int                      // number of instructions that may still be followed
	guess    bool                     // the frame where the path begins is uncertain
	deep     bool                     // code after calls is followed at once
	unclean  bool                     // a jump out of the function with another stack pointer than at the entry
}

// noOrigin means that it is unknown which function the code being followed belongs to.
const noOrigin = math.MaxUint32

type flowItem struct {
	at    uint32
	frame insn.Frame
}

// flowPlace describes an offset: 0 if no instruction is known to begin there, otherwise the index of its frame in
// compactFlow.state, plus 1, above four bits for its size. Most instructions leave the frame unchanged.
type flowPlace uint32

const flowSize = 15 // a mask; no instruction is longer

func (p flowPlace) state() int { return int(p>>4) - 1 }

// size returns the size of the instruction, at least one byte.
func (p flowPlace) size() uint64 { return uint64(max(p&flowSize, 1)) }

// begin prepares for following a range.
func (w *compactFlow) begin(lo uint64, code []byte, starts []uint64, entry insn.Frame) {
	w.lo, w.code, w.starts, w.entry = lo, code, starts, entry
	w.found = slices.Grow(w.found[:0], len(code))[:len(code)]
	clear(w.found)
	w.at, w.state, w.now, w.later = w.at[:0], w.state[:0], w.now[:0], w.later[:0]
	w.wrong, w.origin, w.labels = w.wrong[:0], 0, false
	w.last = w.last[:0]
	clear(w.starting)
	w.whole, w.jumps, w.full, w.left = w.whole[:0], w.jumps[:0], false, flowBase+flowEffort*len(code)
}

// isStart reports whether a function begins at an offset.
func (w *compactFlow) isStart(at uint32) bool {
	_, found := slices.BinarySearch(w.starts, w.lo+uint64(at))
	return found
}

// try follows the instructions from an offset on, and reports whether there is no contradiction. If there is one, and
// the frame was not sure, what was found is discarded.
func (w *compactFlow) try(at uint32, f insn.Frame, sure bool) bool {
	if int(at) >= len(w.code) || w.found[at] != 0 {
		return true
	}
	before := w.mark()
	w.bad, w.ended, w.short, w.unclean, w.guess = false, false, false, false, !sure
	w.now = append(w.now[:0], flowItem{at, f})
	for w.next(before.later) {
		item := w.now[len(w.now)-1]
		w.now = w.now[:len(w.now)-1]
		w.frame = item.frame
		w.path(item.at)
	}
	switch {
	case sure && w.short:
		w.wrong = append(w.wrong, at)
	case sure && !w.bad && w.ended:
		w.whole = append(w.whole, at)
	}
	if !w.bad || sure {
		return !w.bad
	}
	w.forget(before)
	return false
}

// next reports whether there is more to follow. If code after calls is followed at once (deep), it comes last; first is
// the index in later where that code begins.
func (w *compactFlow) next(first int) bool {
	if len(w.now) == 0 && w.deep && !w.bad && len(w.later) > first {
		item := w.later[len(w.later)-1]
		w.later = w.later[:len(w.later)-1]
		if !w.isStart(item.at) {
			w.now = append(w.now, item)
			return true
		}
		return w.next(first)
	}
	return len(w.now) > 0
}

// returns follows the code after calls.
func (w *compactFlow) returns() {
	for len(w.later) > 0 {
		item := w.later[len(w.later)-1]
		w.later = w.later[:len(w.later)-1]
		if !w.isStart(item.at) {
			w.try(item.at, item.frame, false)
		}
	}
}

// path follows instructions, the first of which has the current frame, until one that does not continue.
func (w *compactFlow) path(at uint32) {
	f := &w.frame      // effect may be any function, so a local variable would be allocated for each path
	last := -1         // the state of the previous instruction
	start := uint32(0) // of the next function, once it is looked up
	for int(at) < len(w.code) {
		if p := w.found[at]; p != 0 {
			if have := &w.state[p.state()]; have.SPKnown && f.SPKnown && have.SP != f.SP {
				w.bad = true
			}
			return
		}
		if w.left--; w.left < 0 || len(w.at) >= maxFlow {
			w.full = true
			return
		}
		if last < 0 || w.state[last] != f.Stack {
			last = len(w.state)
			w.state = append(w.state, f.Stack)
			w.setsFrame(f)
		}
		size, flow, target := w.effect(w.code[at:], w.lo+uint64(at), f)
		w.at = append(w.at, at)
		w.found[at] = flowPlace(last+1)<<4 | flowPlace(size)&flowSize
		next := at + uint32(size)
		switch flow {
		case insn.Bad:
			w.bad = true
			w.exits(f)
			return
		case insn.Call:
			w.note(target, usedFunction)
			w.call(target)
			w.later = append(w.later, flowItem{next, *f})
			return
		case insn.Return:
			w.ended = true
			w.exits(f)
			w.bad = w.bad || f.SPKnown && f.SP != w.entry.SP
			return
		case insn.Leave:
			w.dispatches(f)
			w.leaves(f)
			return
		case insn.Stop:
			return
		case insn.Switch:
			w.dispatches(f)
			w.atSwitch(f)
			return
		case insn.Jump, insn.Branch:
			w.branches(target, f)
			if flow == insn.Branch && w.loops(target, at, f) {
				w.bad = true
				f.SP, f.SPKnown = 0, false
			} else if w.crosses(target, at, f) {
				w.last = append(w.last, flowItem{uint32(target - w.lo), *f})
			} else if off := target - w.lo; off < uint64(len(w.code)) && !(w.isStart(uint32(off)) && (w.guess || f.SP == w.entry.SP)) {
				w.now = append(w.now, flowItem{uint32(off), *f})
			} else {
				w.leaves(f)
			}
			if flow == insn.Jump {
				return
			}
		}
		if start <= at {
			start = w.startAfter(at)
		}
		if start <= next && w.enters(start, next, f) {
			return
		}
		at = next
	}
}

// loops reports whether a branch leads back to code that was reached with another stack pointer: a loop that allocates
// a large frame page by page, after which the stack pointer is unknown.
func (w *compactFlow) loops(target uint64, at uint32, f *insn.Frame) bool {
	off := target - w.lo
	if off > uint64(at) || w.found[off] == 0 {
		return false
	}
	have := &w.state[w.found[off].state()]
	return have.SPKnown && f.SPKnown && have.SP != f.SP
}

// maxOutlined is the maximum number of instructions in a piece of a prologue or epilogue that is a separate function.
const maxOutlined = 16

// call follows a called function that changes the stack pointer, the frame pointer or the set of saved registers: a
// piece of a prologue or epilogue that LLVM's machine outliner has turned into a function, shared by programs optimized
// for size. The effects of other functions are ignored.
func (w *compactFlow) call(target uint64) {
	if is, known := w.outlined[target]; target == 0 || known && !is {
		return
	}
	f, g := w.frame, &w.frame
	is, known := false, f.SPKnown
	code, addr := w.codeAt(target), target
	for range maxOutlined {
		size, flow, _ := w.effect(code, addr, g)
		if flow == insn.Return {
			is = known && g.SPKnown && (g.SP != f.SP || g.FPKnown && (!f.FPKnown || g.FP != f.FP) || g.Saved != f.Saved)
			break
		}
		if flow != insn.Next || size > len(code) {
			break
		}
		code, addr = code[size:], addr+uint64(size)
	}
	if known {
		w.outlined[target] = is
	}
	if !is {
		*g = f
	}
}

// startAfter returns the offset of the first function that begins after an offset.
func (w *compactFlow) startAfter(at uint32) uint32 {
	i, _ := slices.BinarySearch(w.starts, w.lo+uint64(at)+1)
	if i == len(w.starts) {
		return math.MaxUint32
	}
	return uint32(w.starts[i] - w.lo)
}

// enters reports whether a path that continues at next ends because a function begins at start. A guessed path that
// reaches a place where a function cannot begin is padding or data.
func (w *compactFlow) enters(start, next uint32, f *insn.Frame) bool {
	if start == next && !w.guess {
		w.note(w.lo+uint64(next), enteredFrom)
	}
	entry := start == next && f.SPKnown && f.SP == w.entry.SP
	if w.guess && !entry {
		w.bad = true
	}
	return w.guess || entry
}
