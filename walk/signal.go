package walk

// bySignalFrame reads the registers that the system saved before it called a
// signal handler.
func bySignalFrame(u *unwinder, f *Frame) outcome {
	return nothing
}

// isHandlerReturn tells whether an address is the code that a signal handler
// returns to.
func (u *unwinder) isHandlerReturn(f *Frame) bool {
	i := u.d.ModuleAt(f.PC)
	if i < 0 {
		return false
	}
	r := u.stateOf(i).resolver(u.ctx)
	if r == nil {
		return false
	}
	base := u.d.Modules[i].Addr
	ok, err := r.Find(rva(f.PC-base), &u.at)
	return ok && err == nil && base+uint64(u.at.Start) == f.PC && len(u.at.Frames) > 0 && trampolines[u.at.Frames[len(u.at.Frames)-1].Function]
}
