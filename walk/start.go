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
	return starts[u.frame.Function()]
}

// trampolines are the functions that signal handlers return to.
var trampolines = map[string]bool{
	"__restore_rt": true, "__restore": true, "__default_rt_sa_restorer": true, "__default_sa_restorer": true,
	"__kernel_rt_sigreturn": true, "__kernel_sigreturn": true, "__vdso_rt_sigreturn": true, "__vdso_sigreturn": true,
	"__kernel_sigtramp_rt64": true, "__kernel_sigtramp32": true, "__kernel_sigtramp_rt32": true,
}
