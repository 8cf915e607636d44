package walk

import (
	"encoding/binary"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/cpu"
)

// starts are the functions in which programs and threads of Linux begin. Their call frame
// information often does not say so.
var starts = map[string]bool{
	"_start": true, "__start": true, "_start_c": true,
	"clone": true, "__clone": true, "clone3": true, "__clone3": true, // see clones
	"runtime.rt0_go": true, "runtime.clone": true, "runtime.goexit": true, // Go's
	"make_fcontext": true, // Boost's: the return address of a coroutine's first function
}

// schedulers are the functions in which Go's runtime begins to use a thread's stack anew, for the scheduler or for
// itself. Their callers are on a goroutine's stack.
var schedulers = map[string]bool{"runtime.mcall": true, "runtime.morestack": true, "runtime.systemstack": true}

// injected are functions that a signal handler calls on behalf of the code that was interrupted: their return address
// is where the signal arrived, not after a call. Go's runtime does that on a fault, and to preempt a goroutine.
var injected = map[string]bool{
	"runtime.sigpanic": true, "runtime.sigpanic0": true, "runtime.asyncPreempt": true, "runtime.asyncPreempt.abi0": true, "runtime.debugCallV2": true,
}

// clones are the functions among starts that other functions call to start a thread. By design they have no rules after
// the system call, because the two threads return differently. A program's own function may have such a name.
var clones = map[string]bool{"clone": true, "__clone": true, "clone3": true, "__clone3": true}

// IsStart reports whether programs or threads of Linux begin in the named function.
func IsStart(function string) bool { return starts[function] || schedulers[function] }

// IsClone reports whether the named function, for which IsStart is true, is one that other functions call to start a
// thread.
func IsClone(function string) bool { return clones[function] }

// isStart reports whether the program or a thread begins in the frame: the frame called the frame above it, or the
// thread has not begun.
func (u *unwinder) isStart() bool {
	if u.frame.IsEntry() && !u.rulesReturn() {
		return true
	}
	if !u.isLinux() {
		return false
	}
	name := u.frame.Function()
	if u.frame.Interrupted {
		return clones[name] && u.isNewThread()
	}
	if u.isForeignStart(u.frame) {
		u.note("the symbols have _start at %#x, the process began at %#x", u.frame.Start, u.entry)
		return false
	}
	if clones[name] && u.rulesReturn() {
		u.note("%s has a caller by its rules", name)
		return false
	}
	if schedulers[runtimeFunction(u.frame)] {
		return byGoStack(u, &u.next) != found
	}
	return starts[name] || len(u.frame.Names) == 0 && u.isEntry(u.frame.Inst)
}

// isFirst reports whether an address is the first instruction of a function and does not follow a call. It follows
// a call if the function before it ends with a call that does not return. If symbols have no function there, call
// frame information gives the function's start.
func (u *unwinder) isFirst(pc uint64) bool {
	i := u.d.ModuleAt(pc)
	if i < 0 || pc < FirstPage {
		return false
	}
	st, base := u.stateOf(i), u.d.Modules[i].Addr
	at, first := rva(pc&^u.cpu.Arch.ISABit-base), false
	if r := st.names(u.ctx); r != nil {
		p := u.places.find(u.ctx, r, at)
		first = p.found && p.err == nil && p.at.Start == at
		if p.found && !p.at.Guess && p.at.Source != resolve.Public && !first {
			return false
		}
	}
	if r := st.resolver(u.ctx); r != nil && !first {
		row := u.rows.at(u.ctx, r, at)
		first = row.row != nil && row.start == at
	}
	return first && u.call(pc) == CallNo
}

// isKernels reports whether a thread has neither code nor a stack, and is not the thread for which the dump was made.
// Linux creates such threads for io_uring; their other registers are those of the thread that created them.
func (u *unwinder) isKernels() bool {
	_, known := u.in.Get(u.cpu.SP)
	return u.isLinux() && u.frame.PC == 0 && u.frame.SP == 0 && known && u.stack.Thread != u.d.RequestingThread()
}

// rulesReturn reports whether the frame's rules lead to code that has made a call.
func (u *unwinder) rulesReturn() bool {
	var f Frame
	for _, rules := range []technique{bySymbols, byEHFrame} {
		u.out.Reset()
		if rules(u, &f) == found {
			return u.isReturn(u.clean(f.PC))
		}
	}
	return false
}

// isNewThread reports whether a thread was interrupted in a function that starts threads and is itself the new thread:
// the system call has returned 0, and the function has no rules there. On CPUs that keep the return address on the
// stack, the word at the stack pointer must not be a return address.
func (u *unwinder) isNewThread() bool {
	result, ok := u.in.Get(u.cpu.Reg(u.cpu.Result))
	if !ok || result != 0 || u.hasRules() {
		return false
	}
	if u.cpu.Arch.RA != "" {
		return true
	}
	pc, _ := u.ReadWord(u.frame.SP)
	return !u.isReturn(pc)
}

// isForeignStart reports whether the program's symbols have _start elsewhere than where the process began. In that case
// they are from another build, and wrong about the frame.
func (u *unwinder) isForeignStart(f *Frame) bool {
	return u.entry != 0 && f.Function() == "_start" && f.Start != u.entry&^u.cpu.Arch.ISABit && f.Module == u.d.ModuleAt(u.entry)
}

// atEntry is AT_ENTRY, the key of the address of the program's first instruction in Dump.Auxv.
const atEntry = 9

// maxEntry is how many bytes after the program's first instruction its only call may be: less than the shortest such
// function plus its neighbour's first call.
const maxEntry = 0x30

// isEntry reports whether an address is in the code where the system starts the program. It needs no symbols.
func (u *unwinder) isEntry(addr uint64) bool { return u.entry != 0 && addr-u.entry < maxEntry }

// entryOf returns the address of the program's first instruction, or 0 if the dump lacks it.
func entryOf(d *dump.Dump) uint64 {
	for _, a := range d.Auxv {
		if a.Key == atEntry {
			return codeOf(d, a.Value)
		}
	}
	return 0
}

// codeOf returns the address of a function's code, given the function's address. For big-endian 64-bit PowerPC with ABI
// version 1 that is the address of a descriptor in .opd, whose first word is the address of the code. Without that
// memory the code is unknown, because version 2, which some systems use, has no descriptors.
func codeOf(d *dump.Dump, addr uint64) uint64 {
	if c := cpu.All[d.Arch]; c == nil || !c.Descriptors || d.Memory.Order != binary.BigEndian {
		return addr
	}
	code, ok := d.Memory.Word(addr, 8)
	switch {
	case !ok:
		return 0
	case d.ModuleAt(code) >= 0:
		return code
	}
	return addr
}
