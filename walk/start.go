package walk

import (
	"encoding/binary"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// starts are the functions in which programs and threads of Linux begin. Their
// call frame information often does not say so.
var starts = map[string]bool{
	"_start": true, "__start": true, "_start_c": true,
	"clone": true, "__clone": true, "clone3": true, "__clone3": true,
	"runtime.rt0_go": true, "runtime.clone": true, "runtime.goexit": true, // of Go
}

// isStart tells whether the frame is where the program or a thread begins: it
// has called what is above it. A frame that was interrupted there may be that
// of a caller of clone.
func (u *unwinder) isStart() bool {
	if u.d.System.OS != dump.Linux && u.d.System.OS != dump.Android || u.frame.Interrupted {
		return false
	}
	if u.isForeignStart(u.frame) {
		u.note("the symbols have _start at %#x, the process began at %#x", u.frame.Start, u.entry)
		return false
	}
	return starts[u.frame.Function()] || len(u.frame.Names) == 0 && u.isEntry(u.frame.Inst)
}

// isForeignStart tells whether the symbols of the program have _start elsewhere
// than where the process began: they are another build's, and what they say of the
// frame is wrong.
func (u *unwinder) isForeignStart(f *Frame) bool {
	return u.entry != 0 && f.Function() == "_start" && f.Start != u.entry&^u.cpu.arch.ISABit && f.Module == u.d.ModuleAt(u.entry)
}

// atEntry is the key of the program's first instruction among Dump.Auxv.
const atEntry = 9

// maxEntry is how far behind the program's first instruction its only call may
// be: less than the shortest such function and its neighbour's first call.
const maxEntry = 0x30

// isEntry tells whether an address is in the code that the system starts a
// program with, which nobody has to have symbols for.
func (u *unwinder) isEntry(addr uint64) bool { return u.entry != 0 && addr-u.entry < maxEntry }

// entryOf is the program's first instruction, 0 if the dump does not tell.
func entryOf(d *dump.Dump) uint64 {
	for _, a := range d.Auxv {
		if a.Key == atEntry {
			return codeOf(d, a.Value)
		}
	}
	return 0
}

// codeOf is the code of a function by its address: of 64-bit PowerPC with big-endian
// numbers and the first ABI that is the address of a descriptor in .opd, which begins
// with the code's. Without the memory there the code is not known: the second ABI,
// which some systems have, has none.
func codeOf(d *dump.Dump, addr uint64) uint64 {
	if d.Arch != arch.PPC64 || d.Memory.Order != binary.BigEndian {
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

// trampolines are the functions that signal handlers return to, by name, and
// the names of the frames that they expect; CPUs with one kind have that.
var trampolines = map[string]string{
	"__restore_rt": "rt", "__restore": "old", "__default_rt_sa_restorer": "rt", "__default_sa_restorer": "old",
	"__kernel_rt_sigreturn": "rt", "__kernel_sigreturn": "old", "__vdso_rt_sigreturn": "rt", "__vdso_sigreturn": "old",
	"__kernel_sigtramp_rt64": "rt", "__kernel_sigtramp32": "old", "__kernel_sigtramp_rt32": "rt",
	"runtime.sigreturn__sigaction": "rt", "runtime.sigreturn__sigaction.abi0": "rt", // of Go
}
