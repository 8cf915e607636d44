package walk

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/walk/internal/cpu"
)

// isNowhere reports whether there is certainly no code at an address: the address is not canonical, the dump says that
// its memory is not executable or that nothing is there, or it is in a data section. On Windows permissions prove
// nothing, because data execution prevention may be off.
func (u *unwinder) isNowhere(pc uint64) bool {
	i := u.d.ModuleAt(pc)
	switch {
	case !u.isCanonical(pc) || u.isLinux() && u.isProtected(pc):
		return true
	case i < 0:
		return u.isUnmapped(pc)
	case u.isLinux() && u.d.InGap(i, pc) && u.d.InGap(i, pc-u.cpu.Call):
		return true
	}
	return u.isData(i, pc)
}

// isProtected reports whether the dump says that the memory at a return address is not executable. If code ends with a
// call that does not return, the address after the call is beyond the code's memory and proves nothing.
func (u *unwinder) isProtected(pc uint64) bool {
	m := u.d.MappingAt(pc)
	return m != nil && !m.Unknown && (m.Read || m.Write) && !m.Exec && !u.isExecutable(pc-u.cpu.Call)
}

// isUnmapped reports whether an address outside modules is below everything that the dump knows about. Other addresses
// may be mapped: QEMU's cores lack the page to which signal handlers return.
func (u *unwinder) isUnmapped(pc uint64) bool {
	return pc >= FirstPage && len(u.d.Modules) > 0 && pc < u.d.Modules[0].Addr && !u.mappedBelow(pc)
}

// mappedBelow reports whether the dump has a mapping or memory at an address or below.
func (u *unwinder) mappedBelow(addr uint64) bool {
	r, m := u.d.Memory.Regions, u.d.Maps
	return len(r) > 0 && r[0].Addr <= addr || len(m) > 0 && m[0].Addr <= addr
}

// isData reports whether, according to the module's binary, an address is in a section without code. If symbols have a
// function there, they are believed without asking the binary.
func (u *unwinder) isData(module int, pc uint64) bool {
	st, at := u.stateOf(module), pc-u.d.Modules[module].Addr
	if r := st.resolver(u.ctx); r != nil {
		if p := u.places.find(u.ctx, r, rva(at-u.cpu.Call)); p.found && p.err == nil && !p.at.Guess && p.at.Source != resolve.Public {
			return false
		}
	}
	f := st.file(u.ctx)
	if f == nil {
		return false
	}
	return slices.ContainsFunc(f.Loaded(), func(s *object.Section) bool { return s.Alloc && !s.Exec && s.Holds(f.Base+at) }) && !hasCode(f, f.Base+at)
}

// inData reports whether the instruction of a frame in a module is certainly data: the dump says that its memory is not
// executable, or the module's binary has no code there. p is the result of looking the address up in the symbols; a
// FUNC there is believed.
func (u *unwinder) inData(f *Frame, p *place) bool {
	if p.found && p.err == nil && p.at.Source != resolve.Public {
		return false
	}
	m := u.d.MappingAt(f.Inst)
	if u.isLinux() && m != nil && !m.Unknown && m.Read && !m.Exec {
		return true
	}
	return (m == nil || !m.Exec) && u.isData(f.Module, f.Inst)
}

// noteData adds a note if the thread executes data.
func (u *unwinder) noteData() {
	if !u.frame.Data {
		return
	}
	m := &u.d.Modules[u.frame.Module]
	u.stack.Notes = append(u.stack.Notes, fmt.Sprintf("the program counter, %#x, is in data of %s: what was called or jumped to is no function", u.frame.PC, cmp.Or(u.d.System.OS.Base(m.Path), "a module without a name")))
}

// hasCode reports whether a section with code contains an address or ends there, which is the case after a final call
// that does not return.
func hasCode(f *object.File, addr uint64) bool {
	return slices.ContainsFunc(f.Loaded(), func(s *object.Section) bool { return s.Exec && (s.Holds(addr) || s.Holds(addr-1)) })
}

// isReturn reports whether an address is plausible as a return address: it is in a module, in a function if the module
// has symbols, and after a call if its code is known; or it is the code to which a signal handler returns. The
// program's entry point is excluded, because the stack contains it in the auxiliary vector.
func (u *unwinder) isReturn(pc uint64) bool {
	if pc < FirstPage || pc%u.cpu.Align != 0 || pc == u.entry {
		return false
	}
	i := u.d.ModuleAt(pc - u.cpu.Call)
	if i < 0 {
		return u.generatedAt(pc-u.cpu.Call) != nil && !u.noCall(pc)
	}
	base := u.d.Modules[i].Addr
	if r := u.stateOf(i).resolver(u.ctx); r != nil {
		if ok, err := r.Nearest(u.ctx, rva(pc-u.cpu.Call-base), &u.at); !ok && err == nil {
			return false
		}
	}
	return !u.noCall(pc) || u.isHandlerReturn(&Frame{PC: pc})
}

// noCall reports whether the code before an address is known and is not a call.
func (u *unwinder) noCall(pc uint64) bool {
	code := u.code(pc-cpu.MaxCall, cpu.MaxCall)
	return cpu.CallBefore(u.cpu.Arch, u.d.Memory.Order, code, pc, u.isCallable) == cpu.CallNo
}

// isCallable reports whether a direct call may lead to an address: to code, or to the frame's own address. The latter
// covers calls of data such as .bss, which many writers of dumps do not include in their modules.
func (u *unwinder) isCallable(addr uint64) bool { return u.isCode(addr) || addr == u.frame.PC }

// isCanonical reports whether the unused bits of an address have the values that the CPU requires.
func (u *unwinder) isCanonical(pc uint64) bool { return u.cpu.Arch.IsCanonical(pc) }

// isExecutable reports whether the dump says that the memory at an address is executable, for
// instance in a program that generates code.
func (u *unwinder) isExecutable(addr uint64) bool {
	m := u.d.MappingAt(addr)
	return m != nil && m.Exec
}
