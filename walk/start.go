package walk

import "github.com/symtool/symtool/walk/dump"

// starts are the functions in which programs and threads of Linux begin. Their
// call frame information often does not say so.
var starts = map[string]bool{
	"_start": true, "__start": true, "_start_c": true,
	"clone": true, "__clone": true, "clone3": true, "__clone3": true,
}

// isStart tells whether the frame is where the program or a thread begins: it
// has called what is above it. A frame that was interrupted there may be that
// of a caller of clone.
func (u *unwinder) isStart() bool {
	if u.d.System.OS != dump.Linux && u.d.System.OS != dump.Android || u.frame.Interrupted {
		return false
	}
	return starts[u.frame.Function()] || len(u.frame.Names) == 0 && u.isEntry(u.frame.Inst)
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
			return a.Value
		}
	}
	return 0
}

// trampolines are the functions that signal handlers return to.
var trampolines = map[string]bool{
	"__restore_rt": true, "__restore": true, "__default_rt_sa_restorer": true, "__default_sa_restorer": true,
	"__kernel_rt_sigreturn": true, "__kernel_sigreturn": true, "__vdso_rt_sigreturn": true, "__vdso_sigreturn": true,
	"__kernel_sigtramp_rt64": true, "__kernel_sigtramp32": true, "__kernel_sigtramp_rt32": true,
}
