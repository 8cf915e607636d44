package coroutine

import (
	"golang.org/x/arch/x86/x86asm"
)

// step executes an instruction, and reports whether the next one can be executed.
func (m *machine) step(inst *x86asm.Inst) bool {
	next := m.pc + uint64(inst.Len)
	if isJump(inst.Op) {
		return m.jump(inst, next)
	}
	m.pc = next
	switch inst.Op {
	case x86asm.NOP:
		return true
	case x86asm.PUSH:
		v := m.load(inst, inst.Args[0], 8)
		m.regs[rsp].v -= 8
		return m.store(m.regs[rsp].v, 8, v)
	case x86asm.MOV, x86asm.MOVZX:
		return m.assign(inst, m.load(inst, inst.Args[1], width(inst, 1)))
	case x86asm.MOVSX, x86asm.MOVSXD:
		v := m.load(inst, inst.Args[1], width(inst, 1))
		v.v = signed(v.v, width(inst, 1))
		return m.assign(inst, v)
	case x86asm.CDQE:
		m.regs[0].v = signed(m.regs[0].v&0xffff_ffff, 4)
		return true
	case x86asm.LEA:
		a, ok := inst.Args[1].(x86asm.Mem)
		return ok && m.assign(inst, m.address(a))
	case x86asm.ADD, x86asm.SUB, x86asm.AND, x86asm.OR, x86asm.XOR, x86asm.CMP, x86asm.TEST:
		return m.compute(inst)
	}
	return m.forget(inst)
}

// forget executes an instruction whose result is not computed. It reports false for one that leaves the function, or
// whose result depends on the number of the suspension point.
func (m *machine) forget(inst *x86asm.Inst) bool {
	switch inst.Op {
	case x86asm.CALL, x86asm.RET, x86asm.SYSCALL, x86asm.POP, x86asm.LEAVE, x86asm.UD2, x86asm.INT, x86asm.HLT:
		return false
	}
	for i, a := range inst.Args {
		if a != nil && m.load(inst, a, width(inst, i)).chosen {
			return false
		}
	}
	switch a := inst.Args[0].(type) {
	case x86asm.Reg:
		if n, _, ok := general(a); ok {
			m.regs[n] = value{}
		}
		for _, n := range []int{0, 2} { // what multiplications and others change besides
			if inst.Args[1] == nil {
				m.regs[n] = value{}
			}
		}
	case x86asm.Mem:
		at := m.address(a)
		return at.known && m.store(at.v, max(inst.MemBytes, 1), value{})
	}
	m.last.result = value{}
	return true
}

// assign sets the destination of an instruction.
func (m *machine) assign(inst *x86asm.Inst, v value) bool {
	size := width(inst, 0)
	switch a := inst.Args[0].(type) {
	case x86asm.Reg:
		n, high, ok := general(a)
		if !ok || high {
			return false
		}
		old := m.regs[n]
		switch size {
		case 8:
		case 4:
			v.v &= 0xffff_ffff
		default: // the other bits stay
			mask := uint64(1)<<(8*size) - 1
			v = value{v.v&mask | old.v&^mask, v.known && old.known, v.chosen || old.chosen}
		}
		m.regs[n] = v
		return n != rsp || v.known
	case x86asm.Mem:
		at := m.address(a)
		return at.known && m.store(at.v, size, v)
	}
	return false
}

// compute executes an arithmetic instruction.
func (m *machine) compute(inst *x86asm.Inst) bool {
	size := width(inst, 0)
	a, b := m.load(inst, inst.Args[0], size), m.load(inst, inst.Args[1], size)
	r := value{known: a.known && b.known, chosen: a.chosen || b.chosen}
	switch inst.Op {
	case x86asm.ADD:
		r.v = a.v + b.v
	case x86asm.SUB, x86asm.CMP:
		r.v = a.v - b.v
	case x86asm.AND, x86asm.TEST:
		r.v = a.v & b.v
	case x86asm.OR:
		r.v = a.v | b.v
	case x86asm.XOR:
		if r.v = a.v ^ b.v; inst.Args[0] == inst.Args[1] {
			r = value{known: true}
		}
	}
	r.v = cut(r.v, size)
	m.last.a, m.last.b, m.last.result, m.last.size, m.last.op = a, b, r, size, inst.Op
	if inst.Op == x86asm.CMP || inst.Op == x86asm.TEST {
		return true
	}
	return m.assign(inst, r)
}

func isJump(op x86asm.Op) bool {
	switch op {
	case x86asm.JMP, x86asm.JE, x86asm.JNE, x86asm.JA, x86asm.JAE, x86asm.JB, x86asm.JBE, x86asm.JG, x86asm.JGE, x86asm.JL, x86asm.JLE, x86asm.JS, x86asm.JNS:
		return true
	}
	return false
}

// jump executes a jump, and reports whether its target is known.
func (m *machine) jump(inst *x86asm.Inst, next uint64) bool {
	target, chosen := value{v: next, known: true}, false
	if rel, ok := inst.Args[0].(x86asm.Rel); ok {
		target.v += uint64(int64(rel))
	} else {
		m.pc = next // addresses are relative to the next instruction
		target = m.load(inst, inst.Args[0], 8)
		chosen = target.chosen
	}
	taken := true
	if inst.Op != x86asm.JMP {
		r := &m.last.result
		if chosen = r.chosen; !r.known {
			return false
		}
		taken = m.holds(inst.Op)
	}
	if !target.known {
		return false
	}
	if m.pc = next; taken {
		m.pc = target.v
	}
	if chosen {
		m.arrive()
	}
	return true
}

// holds evaluates the condition of a jump on the last arithmetic, which was a comparison of two numbers or a result
// that is compared with 0.
func (m *machine) holds(op x86asm.Op) bool {
	a, b := cut(m.last.a.v, m.last.size), cut(m.last.b.v, m.last.size)
	if m.last.op != x86asm.CMP && m.last.op != x86asm.SUB {
		a, b = m.last.result.v, 0
	}
	x, y := int64(signed(a, m.last.size)), int64(signed(b, m.last.size))
	switch op {
	case x86asm.JE:
		return a == b
	case x86asm.JNE:
		return a != b
	case x86asm.JA:
		return a > b
	case x86asm.JAE:
		return a >= b
	case x86asm.JB:
		return a < b
	case x86asm.JBE:
		return a <= b
	case x86asm.JG:
		return x > y
	case x86asm.JGE:
		return x >= y
	case x86asm.JL:
		return x < y
	case x86asm.JLE:
		return x <= y
	case x86asm.JS:
		return signed(m.last.result.v, m.last.size)>>63 == 1
	}
	return signed(m.last.result.v, m.last.size)>>63 == 0 // JNS
}

// load returns an operand of an instruction.
func (m *machine) load(inst *x86asm.Inst, arg x86asm.Arg, size int) value {
	switch a := arg.(type) {
	case x86asm.Imm:
		return value{v: uint64(int64(a)), known: true}
	case x86asm.Reg:
		n, high, ok := general(a)
		if !ok || high {
			return value{}
		}
		v := m.regs[n]
		v.v = cut(v.v, size)
		return v
	case x86asm.Mem:
		at := m.address(a)
		if !at.known || a.Segment != 0 {
			return value{chosen: at.chosen}
		}
		v := m.read(at.v, size)
		v.chosen = v.chosen || at.chosen
		return v
	}
	return value{}
}

// address returns the address of an operand in memory.
func (m *machine) address(a x86asm.Mem) value {
	out := value{v: uint64(a.Disp), known: true}
	add := func(r x86asm.Reg, times uint64) {
		if r == x86asm.RIP {
			out.v += m.pc
			return
		}
		n, _, ok := general(r)
		if !ok {
			out.known = false
			return
		}
		v := m.regs[n]
		out.v += v.v * times
		out.known, out.chosen = out.known && v.known, out.chosen || v.chosen
	}
	if a.Base != 0 {
		add(a.Base, 1)
	}
	if a.Index != 0 {
		add(a.Index, uint64(a.Scale))
	}
	return out
}

// read returns a number in memory: what was written, the dump's, or a constant of a module.
func (m *machine) read(addr uint64, size int) value {
	out := value{known: size > 0}
	var from []byte
	for i := range uint64(size) {
		b, ok := m.memory[addr+i]
		if !ok {
			if from == nil {
				from = m.code(addr, size)
			}
			if b.known = i < uint64(len(from)); b.known {
				b.v = uint64(from[i])
			}
		}
		out.v |= b.v << (8 * i)
		out.known, out.chosen = out.known && b.known, out.chosen || b.chosen
	}
	return out
}

// store writes a number to the machine's own memory. It reports false where the number of the suspension point is
// changed: then the coroutine has gone on.
func (m *machine) store(addr uint64, size int, v value) bool {
	for i := range uint64(size) {
		if m.index.Contains(addr + i) {
			return false
		}
		b := value{v.v >> (8 * i) & 0xff, v.known, v.chosen}
		m.memory[addr+i] = b
		m.writes = append(m.writes, write{addr + i, b})
	}
	return true
}

// width returns the size in bytes of an operand.
func width(inst *x86asm.Inst, arg int) int {
	switch a := inst.Args[arg].(type) {
	case x86asm.Reg:
		switch {
		case a >= x86asm.AL && a <= x86asm.R15B:
			return 1
		case a >= x86asm.AX && a <= x86asm.R15W:
			return 2
		case a >= x86asm.EAX && a <= x86asm.R15L:
			return 4
		}
		return 8
	case x86asm.Mem:
		return max(inst.MemBytes, 1)
	}
	return width(inst, 0)
}

// general returns the number of a general register. high means bits 8 to 15 of it.
func general(r x86asm.Reg) (n int, high, ok bool) {
	switch {
	case r >= x86asm.RAX && r <= x86asm.R15:
		return int(r - x86asm.RAX), false, true
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return int(r - x86asm.EAX), false, true
	case r >= x86asm.AX && r <= x86asm.R15W:
		return int(r - x86asm.AX), false, true
	case r >= x86asm.AL && r <= x86asm.BL:
		return int(r - x86asm.AL), false, true
	case r >= x86asm.AH && r <= x86asm.BH:
		return int(r - x86asm.AH), true, true
	case r >= x86asm.SPB && r <= x86asm.R15B:
		return int(r-x86asm.SPB) + rsp, false, true
	}
	return 0, false, false
}

// cut returns the lowest bytes of a number.
func cut(v uint64, size int) uint64 {
	if size >= 8 {
		return v
	}
	return v & (1<<(8*size) - 1)
}

// signed extends the sign of a number of so many bytes.
func signed(v uint64, size int) uint64 {
	shift := 64 - 8*size
	return uint64(int64(v<<shift) >> shift)
}
