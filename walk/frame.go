package walk

import (
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk/coroutine"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/goroutine"
)

// Trust says how reliably a frame was found, from least to most. The names are those in
// rust-minidump's output.
type Trust uint8

// The levels of trust.
const (
	NoTrust        Trust = iota
	TrustScan            // by a word of the stack that looks like a return address
	TrustCFIScan         // by call frame information, partly based on a scan
	TrustFramePtr        // by the frame pointer
	TrustCFI             // by call frame information
	TrustPrewalked       // by the dump's writer, which walked the stack; symtool's readers do not produce it
	TrustContext         // the registers of the thread
)

var trustNames = [...]string{"non", "scan", "cfi_scan", "frame_pointer", "cfi", "prewalked", "context"}

// String returns the name for machine-readable output.
func (t Trust) String() string { return trustNames[t] }

// TrustNamed returns the trust with the given name, or NoTrust.
func TrustNamed(name string) Trust { return Trust(max(0, slices.Index(trustNames[:], name))) }

var trustTexts = [...]string{
	"unknown", "stack scanning", "call frame info with scanning", "previous frame's frame pointer",
	"call frame info", "recovered by external stack walker", "given as instruction pointer in context",
}

// Text returns the text that Breakpad and rust-minidump print after "Found by: ".
func (t Trust) Text() string { return trustTexts[t] }

// Technique says how a frame was found, in more detail than Trust.
type Technique uint8

// The techniques.
const (
	ByContext      Technique = iota
	ByWinProgram             // STACK WIN with a program string
	ByWinFPO                 // STACK WIN with sizes only
	BySymbols                // STACK CFI of the symbol file
	ByEHFrame                // .eh_frame or .debug_frame of the binary
	BySFrame                 // .sframe of the binary
	ByCode                   // rules derived from instructions
	BySignal                 // the layout of the system's signal frame
	ByGoStack                // what Go's runtime records about a stack that it leaves
	ByFramePointer           // the chain of frame pointers
	ByReturn                 // the return address of a function that has just been entered
	ByScan                   // a word of the stack that looks like a return address
	ByCoroutine              // the frame of a coroutine in memory; not a technique to find a caller on a stack
)

var techniqueNames = [...]string{
	"context", "win-program", "win-fpo", "symbols", "eh_frame", "sframe", "code", "signal-frame", "go-stack", "frame-pointer", "return", "scan", "coroutine",
}

// Techniques returns all techniques that find callers on stacks.
func Techniques() (all []Technique) {
	for t := ByWinProgram; t <= ByScan; t++ {
		all = append(all, t)
	}
	return all
}

// String returns the name for machine-readable output and lists of techniques.
func (t Technique) String() string { return techniqueNames[t] }

// Register is a register whose value is known.
type Register struct {
	Index int16 // in arch.Arch.Regs
	Value uint64
}

// Frame is a call that has not returned. Addresses are those of the crashed process.
type Frame struct { // 112 bytes
	// PC is the next instruction to be executed. In a caller it is the return address, without the bits for pointer
	// authentication or the instruction set.
	PC uint64
	SP uint64 // in the frame of a coroutine, the address of its memory
	// Inst is the address at which function, line and rules are looked up: PC or, in a caller, the call before it. It
	// is PC in a caller, too, if PC is a function's first instruction and does not follow a call.
	Inst uint64

	Module int // index in Dump.Modules, or -1
	Trust  Trust
	By     Technique
	// Interrupted means that the frame did not call the frame above it: it is the topmost frame, or a signal
	// interrupted it. Inst is then equal to PC.
	Interrupted bool
	// Handler means that the frame is the code to which a signal handler returns.
	Handler bool

	Multiple bool           // several symbols share the code
	Source   resolve.Source // source of the symbols at Inst, and thus of the fields below
	// Guess means that the function is the nearest PUBLIC before Inst, which may
	// end before Inst: see resolve.Symbols.Nearest.
	Guess bool
	// Data means that Inst is certainly in the module's data, for instance after a call through a pointer to an object.
	// The frame then has no function: the nearest symbol before it, a function or the object itself, is not what is
	// executed.
	Data bool

	// Registers are the known registers, in ascending order of their indices in arch.Arch.Regs. In a stack of more than
	// 131,072 frames, only the first 131,072 frames have them.
	Registers []Register

	// Start is the address of the function, and LineStart the address of its line record; each is 0 if unknown. Names
	// is as in resolve.Frame: the last element is the function itself, and the others were inlined into it, innermost
	// first. Names is empty if nothing is known.
	Start     uint64
	LineStart uint64
	Names     []resolve.Frame

	paramSize uint64 // bytes of arguments, from STACK WIN, FUNC or PUBLIC
}

// IsEntry reports whether a frame that was not interrupted is at the first instruction of a function, although nothing
// called it. Such an address is on the stack of a coroutine, as the return address of its first function.
func (f *Frame) IsEntry() bool { return f.Inst == f.PC && !f.Interrupted && !f.Handler }

// Function returns the name of the function itself, or "".
func (f *Frame) Function() string {
	if len(f.Names) == 0 {
		return ""
	}
	return f.Names[len(f.Names)-1].Function
}

// maxShown is the length in bytes to which messages and traces shorten a function's name. A name may be megabytes
// long, and every message would repeat it.
const maxShown = 4 << 10

// ShortFunction returns the name of the function itself, shortened for messages.
func (f *Frame) ShortFunction() string {
	name := f.Function()
	if len(name) <= maxShown {
		return name
	}
	return strings.ToValidUTF8(name[:maxShown], "") + "..."
}

// Register returns the value of register i of arch.Arch.Regs, if it is known.
func (f *Frame) Register(i int) (uint64, bool) {
	for _, r := range f.Registers {
		if int(r.Index) == i {
			return r.Value, true
		}
	}
	return 0, false
}

// End says why a walk ended.
type End uint8

// The reasons.
const (
	EndOutermost End = iota // the rules say that the frame has no caller
	EndStart                // a thread begins in the function
	EndZero                 // the return address is 0 or in the first page
	EndNoContext            // the dump has no registers for the thread
	EndNoMemory             // the stack is not in the dump
	EndNothing              // no technique found a caller
	EndStuck                // the caller's stack pointer is not above the frame's
	EndLimit                // the limit on the frames of a stack
	EndBudget               // the limit on the frames of all stacks of a dump
	EndWriter               // not walked: the thread wrote the dump
)

var endNames = [...]string{
	"outermost", "start", "zero", "no-context", "no-memory", "not-found", "stuck", "limit", "budget", "writer",
}

// String returns the name for machine-readable output.
func (e End) String() string { return endNames[e] }

// Clean reports whether the walk reached the end of the stack, or the stack did not have to be walked.
func (e End) Clean() bool { return e <= EndZero || e == EndWriter }

// Stack holds the frames of a thread, the topmost first.
type Stack struct {
	Thread int // index in Dump.Threads
	Frames []Frame
	End    End
	Why    string   // details about the end, for people
	Notes  []string // findings about the thread, such as a stack overflow
	// Overflow means that the thread crashed because its stack overflowed.
	Overflow bool
	Trace    []string // the attempts and their results, if Config.Trace is set

	Goroutine *goroutine.Goroutine // the goroutine whose stack it is; nil for a thread's stack, or if Config.Goroutines is not set
	// Coroutine is the first of the coroutines whose stack it is: each frame is one, and goes on when the one above it
	// has finished. It is nil for a thread's stack, or if Config.Coroutines is not set.
	Coroutine *coroutine.Coroutine
}

// Result is the result of walking a dump.
type Result struct {
	// Dump is the dump that was walked. With Config.Goroutines, its Threads contain one thread for each goroutine: the
	// thread that runs it, or else one without an id that has the registers saved by the runtime. The thread that
	// crashed or requested the dump comes last if it runs none of them. With Config.Coroutines, Threads contain one for
	// each stack of coroutines, without registers, and the thread that crashed or requested the dump.
	Dump    *dump.Dump
	Stacks  []Stack   // of the walked threads, in the order of the dump
	Modules []Symbols // for Dump.Modules; symbols are not looked up for modules on no stack

	// FinishedCoroutines is the number of coroutines that have reached their final suspension point and were not
	// destroyed, if Config.Coroutines is set.
	FinishedCoroutines int

	generated      []generated           // what JIT compilers say about code
	soughtJIT      bool                  // generated is set
	code           *memoryCode           // rules derived from the dump's memory
	problems       []symfmt.Problem      // of files about such code
	running        []goroutine.Goroutine // all goroutines that threads run; see goroutineOf
	readGoroutines bool                  // running is set
	bareRuntime    bool                  // the runtime has no debug information
}

// OnStacks reports, for each of Modules, whether the module is on a stack.
func (r *Result) OnStacks() []bool {
	on := make([]bool, len(r.Modules))
	for i := range r.Stacks {
		for k := range r.Stacks[i].Frames {
			if m := r.Stacks[i].Frames[k].Module; m >= 0 {
				on[m] = true
			}
		}
	}
	return on
}

// Address is a number that machine-readable output shows in hexadecimal.
type Address uint64

// String returns a text such as "0x1234".
func (a Address) String() string { return "0x" + strconv.FormatUint(uint64(a), 16) }

// MarshalText encodes the address as a string in JSON.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }
