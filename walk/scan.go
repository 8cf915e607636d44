package walk

// Words of the stack in which a return address is looked for, as Breakpad has
// them: more for the topmost frame, which may have a large array.
const (
	scanWords        = 40
	scanWordsContext = 160
)

// byScan takes the first word of the stack that looks like a return address.
func byScan(u *unwinder, f *Frame) outcome {
	if !u.may[ByScan] {
		return nothing
	}
	words, word := scanWords, uint64(u.cpu.arch.PtrSize)
	if u.frame.Interrupted {
		words = scanWordsContext
	}
	for i := range words {
		addr := u.frame.SP + uint64(i)*word
		pc, ok := u.ReadWord(addr)
		if !ok {
			break
		}
		if pc = u.cpu.clean(u, pc); !u.isReturn(pc) {
			continue
		}
		u.leave(f, pc, addr+word)
		f.Trust, f.By = TrustScan, ByScan
		return found
	}
	return nothing
}

// isCode tells whether an address is in a module.
func (u *unwinder) isCode(pc uint64) bool { return pc >= firstPage && u.d.ModuleAt(pc) >= 0 }

// isReturn tells whether an address may be a return address: it is in a module
// and, where that has symbols, in a function.
func (u *unwinder) isReturn(pc uint64) bool {
	i := u.d.ModuleAt(pc - u.cpu.call)
	if pc < firstPage || i < 0 {
		return false
	}
	r := u.stateOf(i).resolver(u.ctx)
	if r == nil {
		return true
	}
	ok, err := r.Find(rva(pc-u.cpu.call-u.d.Modules[i].Addr), &u.at)
	return ok || err != nil
}
