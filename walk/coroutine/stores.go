package coroutine

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/symtool/symtool/symfmt/arch"
)

// Store is an instruction that sets the number of a suspension point.
type Store struct {
	Addr  uint64
	Index uint64
}

// maxFunction limits the code of a function that is read.
const maxFunction = 1 << 20

// Stores calls each with the address of every instruction of a function, and returns those that set the number of a
// suspension point to a constant. The lines of these are those of the expressions that suspend, also where the code at
// which the coroutine goes on begins with the next line. They may be in the function that resumes, and in the one that
// makes the coroutine.
func (w *Follower) Stores(start, size uint64, l *Layout, each func(addr uint64)) (all []Store) {
	switch {
	case l == nil || l.Index.Size == 0:
		return nil
	case w.d.Arch == arch.ARM64:
		return w.storesARM64(start, min(size, maxFunction), l, each)
	case w.d.Arch != arch.X86_64:
		return nil
	}
	m := &machine{d: w.d, code: w.code, decoded: w.decoded}
	constants := map[x86asm.Reg]uint64{} // by the register's number in 64 bits
	for m.pc = start; m.pc-start < min(size, maxFunction); {
		inst, ok := m.decode()
		if !ok {
			m.pc++
			continue
		}
		each(m.pc)
		if v, ok := storedIndex(&inst, l, constants); ok {
			all = append(all, Store{m.pc, v})
		}
		noteConstant(&inst, constants)
		m.pc += uint64(inst.Len)
	}
	return all
}

// storedIndex returns the constant that an instruction stores where a frame has the number of its suspension point.
func storedIndex(inst *x86asm.Inst, l *Layout, constants map[x86asm.Reg]uint64) (uint64, bool) {
	to, ok := inst.Args[0].(x86asm.Mem)
	if !ok || inst.Op != x86asm.MOV || inst.MemBytes != int(l.Index.Size) || uint64(to.Disp) != l.Index.Addr || to.Base == 0 || to.Base == x86asm.RIP || to.Index != 0 {
		return 0, false
	}
	switch from := inst.Args[1].(type) {
	case x86asm.Imm:
		return cut(uint64(from), inst.MemBytes), true
	case x86asm.Reg:
		n, high, ok := general(from)
		v, known := constants[x86asm.RAX+x86asm.Reg(n)]
		return cut(v, inst.MemBytes), ok && !high && known
	}
	return 0, false
}

// noteConstant keeps the registers that have constants, in the order of the code. After a jump or call another path
// may join, so nothing is kept.
func noteConstant(inst *x86asm.Inst, constants map[x86asm.Reg]uint64) {
	if isJump(inst.Op) || inst.Op == x86asm.CALL || inst.Op == x86asm.RET {
		clear(constants)
		return
	}
	r, ok := inst.Args[0].(x86asm.Reg)
	if !ok {
		return
	}
	n, _, ok := general(r)
	if !ok {
		return
	}
	delete(constants, x86asm.RAX+x86asm.Reg(n))
	if v, ok := inst.Args[1].(x86asm.Imm); ok && inst.Op == x86asm.MOV {
		constants[x86asm.RAX+x86asm.Reg(n)] = uint64(v)
	}
}

// maxToCall is how many instructions may be before the call that FirstCall finds.
const maxToCall = 24

// FirstCall returns the first call after an address: where it is, and where it leads.
func (w *Follower) FirstCall(addr uint64) (at, target uint64, ok bool) {
	m := &machine{d: w.d, code: w.code, decoded: w.decoded, pc: addr}
	for range maxToCall {
		inst, ok := m.decode()
		if !ok || isJump(inst.Op) || inst.Op == x86asm.RET {
			return 0, 0, false
		}
		next := m.pc + uint64(inst.Len)
		if rel, near := inst.Args[0].(x86asm.Rel); near && inst.Op == x86asm.CALL {
			return m.pc, next + uint64(int64(rel)), true
		}
		m.pc = next
	}
	return 0, 0, false
}

// Index returns the number of a coroutine's suspension point.
func (w *Follower) Index(f *Frame, l *Layout) (uint64, bool) {
	if l == nil || l.Index.Size == 0 {
		return 0, false
	}
	return w.d.Memory.Word(f.Addr+l.Index.Addr, int(l.Index.Size))
}
