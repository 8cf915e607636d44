// Package walk walks the stacks of a crashed process's threads. From the registers and the memory
// in a dump, and the symbols and rules that suppliers have for its modules, it finds frames with
// functions, files and lines.
//
// Its files, from the top: each uses only those below it, apart from caches, which are fields of what they serve.
//
//   - inspect.go, sourcefile.go, variables.go, tailcall.go: what is asked about frames after a walk
//   - walk.go: a walk, from the thread's registers to the end of the stack
//   - return.go, stackwin.go, scan.go, start.go, gostack.go, goroutines.go, derived.go, rules.go, framepointer.go: techniques, and
//     where stacks begin and end
//   - prologue.go, step.go: one step, without a walk
//   - nowhere.go, signal.go, code.go, overflow.go, lacking.go: what is known about addresses, code and stacks
//   - walker.go: the state of a walk; symbolcache.go, stackwincache.go: its caches
//   - budget.go, rowcache.go, frame.go: limits; rules; the result
//   - coroutines.go, coroutineline.go, switched.go: coroutines, and stacks that no thread uses
//   - generated.go: names and rules of code that JIT compilers have made
//   - symbols.go, varsource.go, tls.go, image.go, once.go: where symbols come from
package walk

import (
	"context"
	"fmt"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/cpu"
	"github.com/symtool/symtool/walk/jit"
)

// MaxFrames is the default for Config.MaxFrames.
const MaxFrames = 1_000_000

// Config configures walks. The zero value uses all techniques.
type Config struct {
	// Techniques are the techniques that may be used, in any order; nil means all.
	Techniques []Technique
	MaxFrames  int  // limit for each stack; 0 means the constant MaxFrames
	Trace      bool // fill Stack.Trace
	// Goroutines selects the goroutines that are walked instead of threads in dumps of Go programs.
	Goroutines Goroutines
	// JIT, if non-nil, finds the names of code that JIT compilers have made.
	JIT *jit.Finder
	// Coroutines means that suspended coroutines are walked instead of threads: those of C++20, and stacks that a
	// program has switched away from by swapcontext or Boost.Context.
	Coroutines bool
	// Threads selects the threads to walk, as indices in Dump.Threads; nil means all. A thread that
	// wrote the dump is walked only if it is selected.
	Threads func(*dump.Dump) []int
}

// Goroutines says which goroutines of a Go program are walked instead of its threads.
type Goroutines uint8

// The choices.
const (
	NoGoroutines   Goroutines = iota // walk threads
	UserGoroutines                   // all except those that the runtime started for itself
	AllGoroutines
)

// Walker walks the stacks of any number of dumps, and caches the rules that it has parsed. It must
// not be used concurrently.
type Walker struct {
	sources *SymbolSet
	config  Config
	may     [ByScan + 1]bool
	cpus    map[*arch.Arch]*machine
	budget  *Budget // of the dump
}

// NewWalker returns a Walker. Several Walkers may share sources.
func NewWalker(sources *SymbolSet, config Config) *Walker {
	w := &Walker{sources: sources, config: config, cpus: map[*arch.Arch]*machine{}, budget: NewBudget(&dump.Dump{})}
	if w.config.MaxFrames <= 0 {
		w.config.MaxFrames = MaxFrames
	}
	for t := range w.may {
		w.may[t] = config.Techniques == nil
	}
	for _, t := range config.Techniques {
		w.may[t] = true
	}
	return w
}

// machine is a CPU with the rules that were parsed for it.
type machine struct {
	cpu   *cpu.CPU
	steps []technique // functions for cpu.Techniques
	names *cfi.Names
	rows  rowCache
	win   winCache
	regs  [2]*cfi.Regs // of the frame and its caller, alternating

	stepped [ByScan + 1]*cfi.Regs // the caller's, by each source of an Inspector

	places  placeCache
	slab    []Register // backing memory of frames' registers
	scratch []Frame    // backing memory of a stack's frames
}

// SymbolSet returns the set from which the Walker takes symbols.
func (w *Walker) SymbolSet() *SymbolSet { return w.sources }

// unwinder is the walk of one stack.
type unwinder struct {
	*Walker
	*machine
	ctx    context.Context
	result *Result
	d      *dump.Dump
	stack  *Stack

	frame  *Frame // the last frame, whose caller is to be found
	callee *Frame // the one before, or nil
	next   Frame  // the caller, while it is being computed

	in, out  *cfi.Regs // registers of frame, and of its caller while it is being computed
	module   *moduleState
	rva      rva // of frame.Inst in its module
	at       resolve.Location
	region   *dump.Region // region of the last word read
	entry    uint64       // the program's first instruction; 0 if unknown
	mask     uint64       // result of cpu.Mask; 0 until it is needed
	jumps    int          // number of jumps to other stacks, and of steps without a change of the stack pointer
	reads    int          // number of words read by the current technique
	held     bool         // the technique took the return address from a register
	callback uint64       // the thread's stack pointer in the last callback from C to Go; 0 before there is one
	cfa      uint64       // the frame's CFA, by the first rules that give one; 0 if there is none
	lacks    string       // a register that the frame's rules name and whose value is not known; "" if there is none
	lacking  []lack       // all of them, with their frames

	trampoline askedFor
}

// askedFor caches the last result of signalFrameAt.
type askedFor struct {
	asked  bool
	pc     uint64
	frame  *cpu.SignalFrame
	pushed int
}

// lack counts the frames whose rules name a register that the dump lacks.
type lack struct {
	register string
	frames   int
}

type rva = symfmt.RVA

// stateOf returns the state of the symbols of a module of the dump.
func (u *unwinder) stateOf(i int) *moduleState { return u.moduleState(u.result, i) }

// moduleState returns the state of the symbols of a module of a result's dump.
func (w *Walker) moduleState(res *Result, i int) *moduleState {
	m := &res.Modules[i]
	if m.state == nil {
		m.state = w.sources.module(res.Dump, i)
	}
	return m.state
}

// outcome is the result of a technique.
type outcome uint8

const (
	nothing   outcome = iota // the technique does not apply, or found no caller
	found                    // u.next is the caller
	outermost                // the frame has no caller
)

// technique computes the caller's registers, in u.out, and its frame, in f. It sets f.PC, SP,
// Trust, By and, after a signal, Interrupted.
type technique func(u *unwinder, f *Frame) outcome

// clean clears the bits of a program counter that are not part of the address.
func (u *unwinder) clean(pc uint64) uint64 {
	if u.mask == 0 && u.cpu.Mask != nil {
		u.mask = u.cpu.Mask(u.d)
	}
	return u.cpu.Clean(pc, u.mask)
}

// FirstPage is the end of the addresses that hold no code on any system.
const FirstPage = 4096

// where describes the frame's location in messages.
func (u *unwinder) where() string {
	f := u.frame
	if name := f.ShortFunction(); name != "" {
		return name
	}
	if f.Module >= 0 {
		return fmt.Sprintf("%s + %#x", u.d.System.OS.Base(u.d.Modules[f.Module].Path), f.Inst-u.d.Modules[f.Module].Addr)
	}
	return fmt.Sprintf("%#x", f.Inst)
}

func (u *unwinder) end(e End, format string, args ...any) {
	u.stack.End, u.stack.Why = e, fmt.Sprintf(format, args...)
	u.note("end (%v): %s", e, u.stack.Why)
}

// maxTrace limits a trace to the lines of about ten thousand frames.
const maxTrace = 1 << 15

// note adds to the trace.
func (u *unwinder) note(format string, args ...any) {
	if !u.config.Trace || len(u.stack.Trace) > maxTrace || u.budget.lines < 0 {
		return
	}
	line := fmt.Sprintf(format, args...)
	if len(u.stack.Trace) == maxTrace || !u.budget.takeLine(line) {
		line = "further lines are left out"
	}
	u.stack.Trace = append(u.stack.Trace, line)
}

// ReadWord implements cfi.Memory with the words of the dump's memory.
func (u *unwinder) ReadWord(addr uint64) (uint64, bool) {
	u.reads++
	size := uint64(u.cpu.Arch.PtrSize)
	if r := u.region; r == nil || addr-r.Addr >= uint64(len(r.Data)) || uint64(len(r.Data))-(addr-r.Addr) < size {
		v, ok := u.d.Memory.Word(addr, int(size))
		u.region = u.d.Memory.Find(addr)
		return v, ok
	}
	data := u.region.Data[addr-u.region.Addr:]
	if size == 4 {
		return uint64(u.d.Memory.Order.Uint32(data)), true
	}
	return u.d.Memory.Order.Uint64(data), true
}

var _ cfi.Memory = (*unwinder)(nil)
