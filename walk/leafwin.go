package walk

import "github.com/symtool/symtool/walk/dump"

// byLeaf is for functions of 64-bit Windows without call frame information: by
// the system's convention they neither move the stack pointer nor save
// registers, so that the return address is on top of the stack (Microsoft, "x64
// stack usage", leaf functions; Breakpad's "simulating a return from leaf
// function"). Only the topmost frame can be such a function.
func byLeaf(u *unwinder, f *Frame) outcome {
	if !u.may[ByReturn] || u.d.System.OS != dump.Windows || u.frame.Trust != TrustContext {
		return nothing
	}
	pc, ok := u.ReadWord(u.frame.SP)
	if !ok || !u.isReturn(pc) {
		u.note("%v: no return address on top of the stack", ByReturn)
		return nothing
	}
	u.keepAll()
	u.leave(f, pc, u.frame.SP+8)
	f.Trust, f.By = TrustScan, ByReturn
	return found
}

// keepAll copies all registers of the frame to the caller.
func (u *unwinder) keepAll() {
	for _, r := range u.cpu.kept {
		if v, ok := u.in.Get(r); ok {
			u.out.Set(r, v)
		}
	}
}
