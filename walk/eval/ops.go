package eval

import (
	"github.com/symtool/symtool/symfmt/vars"
)

// step executes the operation at pc, and returns the index of the next.
func (m *machine) step(ops []vars.Op, pc int) (int, *failure) {
	if !m.budget.charge(1) {
		return 0, invalid("more than %d operations", maxOps)
	}
	op := &ops[pc]
	if m.place != nil && op.Code != vars.OpPiece && op.Code != vars.OpBitPiece {
		return 0, invalid("operation %d after the end of a location", op.Code)
	}
	switch op.Code {
	case vars.OpSkip, vars.OpBranch:
		return m.jump(op, pc, len(ops))
	case vars.OpPiece, vars.OpBitPiece:
		return pc + 1, m.endPiece(op)
	}
	if done, fault := m.locate(op); done || fault != nil {
		return pc + 1, fault
	}
	if done, fault := m.typed(op); done || fault != nil {
		return pc + 1, fault
	}
	return pc + 1, m.compute(op)
}

// jump continues at another operation.
func (m *machine) jump(op *vars.Op, pc, end int) (int, *failure) {
	if op.Code == vars.OpBranch {
		n, fault := m.pop()
		if fault != nil {
			return 0, fault
		}
		if n.isZero() {
			return pc + 1, nil
		}
	}
	if op.To < 0 || op.To > end {
		return 0, invalid("a jump to operation %d of %d", op.To, end)
	}
	return op.To, nil
}

// maxPieceOffset limits the bit of a register or a constant at which a piece begins.
const maxPieceOffset = 1 << 16

// endPiece ends the description of a piece.
func (m *machine) endPiece(op *vars.Op) *failure {
	p := piece{place: m.current(), bits: op.U}
	if m.place == nil && len(m.stack) > 0 {
		m.stack = m.stack[:len(m.stack)-1]
	}
	m.place = nil
	if op.Code == vars.OpBitPiece {
		p.offset = uint64(op.S)
		if p.kind == inMemory {
			p.addr += p.offset / 8
			p.offset %= 8
		}
	} else if p.bits = 8 * op.U; op.U > MaxValue {
		return invalid("a piece of %d bytes", op.U)
	}
	if p.bits > 8*MaxValue || p.offset > maxPieceOffset {
		return invalid("a piece of %d bits at bit %d", p.bits, p.offset)
	}
	if p.bits > 0 {
		m.pieces = append(m.pieces, p)
	}
	return nil
}

// locate executes operations that end the description of a location.
func (m *machine) locate(op *vars.Op) (done bool, fault *failure) {
	p := place{}
	switch op.Code {
	case vars.OpReg:
		p.kind, p.reg = inRegister, uint64(op.Reg)
	case vars.OpImplicitValue:
		p.kind, p.bytes = asBytes, op.Data
	case vars.OpConstValue:
		p.kind, p.bytes = asConstant, op.Data
	case vars.OpConstNumber:
		p.kind, p.number = asNumber, number{class: generic, size: 8, lo: op.U}
	case vars.OpConstSigned:
		p.kind, p.number = asNumber, number{class: signed, size: 8, lo: uint64(op.S)}
	case vars.OpImplicitPointer:
		p.kind, p.target, p.offset = asPointer, target{op.Label, op.Expr}, op.S
	case vars.OpStackValue:
		n, fault := m.pop()
		if fault != nil {
			return true, fault
		}
		p.kind, p.number = asNumber, n
	default:
		return false, nil
	}
	m.place = &p
	return true, nil
}

// typed executes operations that name a type (section 2.5.1.4 and following).
func (m *machine) typed(op *vars.Op) (done bool, fault *failure) {
	switch op.Code {
	case vars.OpConstType, vars.OpRegType, vars.OpDerefType, vars.OpConvert, vars.OpReinterpret:
	default:
		return false, nil
	}
	c, size, fault := m.f.base(op.Type)
	if fault != nil {
		return true, fault
	}
	var n number
	switch op.Code {
	case vars.OpConstType:
		if len(op.Data) != size {
			return true, invalid("a constant of %d bytes for a type of %d", len(op.Data), size)
		}
		n = numberOf(c, op.Data, m.f.BigEndian())
	case vars.OpRegType:
		n, fault = m.register(uint64(op.Reg), size)
		n.class = c
	case vars.OpDerefType:
		var addr uint64
		if addr, fault = m.popAddress(); fault == nil {
			n, fault = m.load(addr, int(min(op.U, 17)))
		}
		n.class, n.size = c, size
	default:
		if n, fault = m.pop(); fault == nil {
			n, fault = converted(op.Code, n, c, size)
		}
	}
	if fault != nil {
		return true, fault
	}
	return true, m.push(n)
}

func converted(op vars.OpCode, n number, c class, size int) (number, *failure) {
	if op == vars.OpReinterpret {
		if n.size != size && c != generic && n.class != generic {
			return n, invalid("%d bytes as a type of %d", n.size, size)
		}
		return n.reinterpret(c, size), nil
	}
	out, ok := n.convert(c, size)
	if !ok {
		return n, absent("a number that cannot be converted")
	}
	return out, nil
}

// register returns the least significant size bytes of a register.
func (m *machine) register(reg uint64, size int) (number, *failure) {
	b, fault := m.f.register(reg)
	if fault != nil {
		return number{}, fault
	}
	if size > 16 || size > len(b) && len(b) < m.f.ptrSize() {
		return number{}, invalid("%d bytes of %s", size, m.f.registerName(reg))
	}
	n := numberOf(generic, b[:min(len(b), 16)], m.f.BigEndian())
	return n.extend(size, false), nil
}

// word returns a register as an integer of the size of an address.
func (m *machine) word(reg uint64) (number, *failure) { return m.register(reg, m.f.ptrSize()) }

// load reads a number of size bytes.
func (m *machine) load(addr uint64, size int) (number, *failure) {
	if size < 1 || size > 16 {
		return number{}, invalid("a number of %d bytes in memory", size)
	}
	v := m.f.Read(addr, size)
	if !v.Whole() {
		return number{}, unavailable("%s", v.Why)
	}
	return numberOf(generic, v.Bytes, m.f.BigEndian()), nil
}

// compute executes the other operations, which work on the stack.
func (m *machine) compute(op *vars.Op) *failure {
	switch op.Code {
	case vars.OpConst:
		return m.pushGeneric(op.U)
	case vars.OpAddr:
		return m.pushGeneric(m.f.Base + op.U)
	case vars.OpBreg:
		n, fault := m.word(uint64(op.Reg))
		if fault != nil {
			return fault
		}
		return m.pushGeneric(n.lo + uint64(op.S))
	case vars.OpFbreg:
		base, fault := m.f.frameBase(m.budget)
		if fault != nil {
			return fault
		}
		return m.pushGeneric(base + uint64(op.S))
	case vars.OpCFA:
		cfa, ok := m.f.CFA()
		if !ok {
			return unavailable("the canonical frame address is not known")
		}
		return m.pushGeneric(cfa)
	case vars.OpObjectAt:
		if m.object == nil {
			return invalid("the address of an object that is not in memory")
		}
		return m.pushGeneric(*m.object)
	case vars.OpTLS:
		offset, fault := m.popAddress()
		if fault != nil {
			return fault
		}
		addr, why := m.f.TLS(offset)
		if why != "" {
			return unavailable("%s", why)
		}
		return m.pushGeneric(addr)
	case vars.OpUnsupported:
		return absent("the location has an operation that the symbols have no form for")
	case vars.OpParam:
		return invalid("a parameter without a place, outside an entry value")
	case vars.OpEntryValue:
		return m.pushed(m.f.entryValue(op.Sub, m.budget))
	case vars.OpCall:
		return m.call(op.Label)
	case vars.OpVariableValue:
		return m.pushed(m.variableValue(op.Label))
	}
	return m.manipulate(op)
}

// pushed pushes the result of an operation.
func (m *machine) pushed(n number, fault *failure) *failure {
	if fault != nil {
		return fault
	}
	return m.push(n)
}

// manipulate executes operations on the entries of the stack.
func (m *machine) manipulate(op *vars.Op) *failure {
	switch op.Code {
	case vars.OpDup:
		return m.pick(0)
	case vars.OpOver:
		return m.pick(1)
	case vars.OpPick:
		return m.pick(op.U)
	case vars.OpDrop:
		_, fault := m.pop()
		return fault
	case vars.OpSwap:
		return m.rotate(2)
	case vars.OpRot:
		return m.rotate(3)
	case vars.OpDeref:
		addr, fault := m.popAddress()
		if fault != nil {
			return fault
		}
		n, fault := m.load(addr, int(min(op.U, uint64(m.f.ptrSize())+1)))
		return m.pushed(n.extend(m.f.ptrSize(), false), fault)
	}
	a, fault := m.pop()
	if fault != nil {
		return fault
	}
	switch op.Code {
	case vars.OpAbs, vars.OpNeg, vars.OpNot:
		return m.pushed(unary(op.Code, a))
	case vars.OpPlusConst:
		return m.pushed(operate(vars.OpPlus, a, number{class: generic, size: m.f.ptrSize(), lo: op.U}.mask()))
	}
	b := a // the operand on top
	if a, fault = m.pop(); fault != nil {
		return fault
	}
	n, fault := operate(op.Code, a, b)
	if n.class == generic { // a comparison works on numbers of any size
		n = n.extend(m.f.ptrSize(), false)
	}
	return m.pushed(n, fault)
}

func (m *machine) pick(i uint64) *failure {
	if i >= uint64(len(m.stack)) {
		return invalid("entry %d of a stack of %d", i, len(m.stack))
	}
	return m.push(m.stack[len(m.stack)-1-int(i)])
}

// rotate moves the top of the stack below the want-1 entries under it.
func (m *machine) rotate(want int) *failure {
	n := len(m.stack)
	if n < want {
		return invalid("a stack of %d, want %d", n, want)
	}
	top := m.stack[n-1]
	copy(m.stack[n-want+1:], m.stack[n-want:n-1])
	m.stack[n-want] = top
	return nil
}
