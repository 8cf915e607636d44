package walk

import (
	"slices"
	"strings"

	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/walk/internal/cpu"
)

// byGoStack follows calls between Go and C, at which Go's runtime changes the stack: C runs on the thread's stack, Go
// on a goroutine's. No rules describe that. The comments in the runtime's asm_*.s say where the runtime keeps what it
// needs to return.
func byGoStack(u *unwinder, f *Frame) outcome {
	l := u.cpu.Go
	if l == nil || !u.may[ByGoStack] || u.frame.Interrupted {
		return nothing
	}
	did := false
	switch u.assembly(l) {
	case "runtime.mcall", "runtime.morestack":
		did = u.leaveScheduler(f)
	case "runtime.systemstack":
		did = u.leaveSystem(l, f)
	case "runtime.nanotime1", "runtime.walltime", "time.now", "runtime.vgetrandom1":
		did = u.leaveVDSO(l, f)
	case "runtime.asmcgocall":
		did = u.leaveC(l, f)
	case "runtime.cgocallback":
		did = u.leaveCallback(l, f)
	case "crosscall1":
		did = u.leaveThread(l, f)
	case "crosscall2":
		did = u.restoreC(l, f)
	}
	if !did {
		return nothing
	}
	f.Trust, f.By = TrustCFI, ByGoStack
	return found
}

// runtimeFunction returns the name of one of Go's assembly functions, without the suffix for its calling convention.
func runtimeFunction(f *Frame) string { return strings.TrimSuffix(f.Function(), ".abi0") }

// assembly is like runtimeFunction. In a stripped program crosscall1, a C function, has no name and is recognised by
// its code.
func (u *unwinder) assembly(l *cpu.GoStack) string {
	name := runtimeFunction(u.frame)
	i := len(u.stack.Frames) - 2
	if name == "" && l.Restores != "" && i >= 0 && strings.HasPrefix(u.stack.Frames[i].Function(), "runtime.mstart") &&
		string(u.code(u.frame.PC, len(l.Restores))) == l.Restores {
		return "crosscall1"
	}
	return name
}

// leaveScheduler finds the caller of mcall or morestack, which switched from a goroutine's stack to the thread's. Once
// the scheduler has chosen again, the thread may serve another goroutine, unless it is locked to this one.
func (u *unwinder) leaveScheduler(f *Frame) bool {
	g := u.waitsFor()
	if g == nil && !u.called("runtime.schedule") {
		g = u.running()
	}
	if g == nil || g.Sched == nil || !u.isReturn(u.clean(g.Sched.PC())) {
		return false
	}
	for k := range g.Sched.Arch.Regs {
		if v, ok := g.Sched.At(k); ok {
			u.out.Set(cfi.Reg(k), v)
		}
	}
	u.leave(f, u.clean(g.Sched.PC()), g.Sched.SP())
	return true
}

// called reports whether the stack has a frame of the named function.
func (u *unwinder) called(name string) bool {
	return slices.ContainsFunc(u.stack.Frames, func(f Frame) bool { return f.Function() == name })
}

// leaveSystem finds the caller of systemstack. It left a frame on the goroutine's stack with the same layout as its
// frame here.
func (u *unwinder) leaveSystem(l *cpu.GoStack, f *Frame) bool {
	g := u.running()
	return g != nil && g.Sched != nil && g.Stack.Contains(g.Sched.SP()) && u.rulesAt(g.Sched.SP(), l, f)
}

// leaveVDSO finds the caller of a function that called the vDSO. During that call the function keeps its stack pointer
// in a register.
func (u *unwinder) leaveVDSO(l *cpu.GoStack, f *Frame) bool {
	sp, ok := u.in.Get(l.SP)
	return ok && u.rulesAt(sp, l, f)
}

// leaveC finds the caller of asmcgocall, which called C on the thread's stack. It saved two words there: the goroutine,
// and the distance of its stack pointer from the end of the goroutine's stack. If it did not change the stack, they are
// 0 and the stack pointer itself.
func (u *unwinder) leaveC(l *cpu.GoStack, f *Frame) bool {
	g, ok1 := u.ReadWord(u.words(u.frame.SP, l.G))
	at, ok2 := u.ReadWord(u.words(u.frame.SP, l.Depth))
	if g != 0 {
		hi, ok := u.ReadWord(u.words(g, 1)) // stack.hi
		at, ok2 = hi-at, ok2 && ok
	}
	if !ok1 || !ok2 || !u.rulesAt(at, l, f) {
		u.note("%v: at %#x are the goroutine %#x and the stack %#x, which has no return address", ByGoStack, u.frame.SP, g, at)
		return false
	}
	return true
}

// rulesAt finds the caller by the rules of the frame's function, with another stack pointer.
func (u *unwinder) rulesAt(sp uint64, l *cpu.GoStack, f *Frame) bool {
	here, _ := u.in.Get(u.cpu.SP)
	u.in.Set(u.cpu.SP, sp)
	ok := u.rulesFind(f) && u.isReturn(u.clean(f.PC))
	u.in.Set(u.cpu.SP, here)
	if !ok {
		return false
	}
	at := u.words(sp, l.FP)
	if l.FromCFA {
		at = u.words(f.SP, l.FP)
	}
	if fp, known := u.ReadWord(at); known && (!l.FromCFA || at >= sp) {
		u.out.Set(u.cpu.Reg(u.cpu.Arch.FP), fp)
	}
	return true
}

// rulesFind reports whether rules find the caller.
func (u *unwinder) rulesFind(f *Frame) bool {
	return bySymbols(u, f) == found || byEHFrame(u, f) == found
}

// leaveCallback finds the caller of cgocallback on the thread's stack. The function's frame on the goroutine's stack
// imitates the frame there, so that rules lead from it to the Go function that called C. The stack pointer of the
// innermost callback is in the thread's own goroutine, g0; each callback saves the stack pointer of the one before.
func (u *unwinder) leaveCallback(l *cpu.GoStack, f *Frame) bool {
	sp := uint64(0)
	if u.callback != 0 {
		sp, _ = u.ReadWord(u.words(u.callback, l.Callback))
	} else if g := u.running(); g != nil {
		sp = g.SystemSP
	} else if g := u.waitsFor(); g != nil {
		sp = g.SystemSP
	}
	if sp == 0 {
		u.note("%v: the thread's stack pointer is not known", ByGoStack)
		return false
	}
	if !u.rulesAt(sp, l, f) {
		u.note("%v: there is no return address for the stack pointer %#x", ByGoStack, sp)
		return false
	}
	u.callback = sp
	return true
}

// leaveThread finds the caller of crosscall1, with which C threads begin to run Go. On some CPUs it has no rules.
func (u *unwinder) leaveThread(l *cpu.GoStack, f *Frame) bool {
	n := len(l.Pushed)
	pc, ok := u.ReadWord(u.words(u.frame.SP, n))
	if n == 0 || u.hasRules() || !ok || !u.isCode(u.clean(pc)) || u.noCall(u.clean(pc)) { // the functions of stripped C are unknown
		return false
	}
	for i, r := range l.Pushed {
		if v, ok := u.ReadWord(u.words(u.frame.SP, i)); ok {
			u.out.Set(r, v)
		}
	}
	u.leave(f, u.clean(pc), u.words(u.frame.SP, n+1))
	return true
}

// restoreC restores the registers that crosscall2 saved for its caller, a C function: Go's rules restore only the stack
// pointer and the return address.
func (u *unwinder) restoreC(l *cpu.GoStack, f *Frame) bool {
	if !u.rulesFind(f) {
		return false
	}
	if f.SP != u.words(u.frame.SP, l.CrossFrame) {
		u.note("%v: crosscall2 is not one whose frame is known", ByGoStack)
		return false
	}
	for i, r := range l.Saved {
		if v, ok := u.ReadWord(u.words(u.frame.SP, l.SavedAt+i)); ok && r != cfi.NoReg {
			u.out.Set(r, v)
		}
	}
	return true
}
