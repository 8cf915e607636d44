package cfi

import "math/bits"

// Memory is the known part of a process's memory.
type Memory interface {
	// ReadWord returns the word, of the CPU's size, at an address.
	ReadWord(addr uint64) (value uint64, ok bool)
}

// Eval evaluates e with the callee's registers. All rules but .cfa's are
// evaluated with EvalCFA.
func (e Expr) Eval(regs *Regs, mem Memory) (uint64, error) {
	v, f := e.eval(regs, mem, 0, false)
	return v, f.error(e.names, NoReg, e.code)
}

// EvalCFA evaluates e with the callee's registers and the value of .cfa.
func (e Expr) EvalCFA(regs *Regs, mem Memory, cfa uint64) (uint64, error) {
	v, f := e.eval(regs, mem, cfa, true)
	return v, f.error(e.names, NoReg, e.code)
}

func (e Expr) eval(regs *Regs, mem Memory, cfa uint64, hasCFA bool) (uint64, fault) {
	if len(e.code) == 0 {
		return 0, fault{kind: Empty}
	}
	m := machine{regs: regs, mem: mem, cfa: cfa, hasCFA: hasCFA, mask: e.names.mask}
	if f := m.run(e.code); f.kind != 0 {
		return 0, f
	}
	if m.depth != 1 {
		return 0, fault{kind: Leftover}
	}
	return m.value[0], fault{}
}

// machine evaluates code. An entry of its stack is a value or, in a program, a
// variable that has not been read yet: "=" needs its name, and the other
// operators the value that it has by then.
type machine struct {
	regs   *Regs
	mem    Memory
	cfa    uint64
	hasCFA bool
	mask   uint64
	depth  int
	value  [MaxDepth]uint64
	ref    [MaxDepth]uint32 // Reg+1, or 0 for a value
}

// run executes code up to its end or the first fault.
func (m *machine) run(code []uint32) fault {
	for i, token := 0, 1; i < len(code); i, token = i+opSize(code[i]), token+1 {
		f := fault{}
		arg := code[i] >> opBits
		switch code[i] & (1<<opBits - 1) {
		case opReg:
			v, ok := m.regs.Get(Reg(arg))
			if !ok {
				return fault{kind: Unknown, token: token}
			}
			f.kind = m.push(v, 0)
		case opVar:
			f.kind = m.push(0, arg+1)
		case opBad:
			f.kind = BadConstant
		case opSmall, opConst:
			f.kind = m.push(constant(code[i:])&m.mask, 0)
		case opCFA:
			if !m.hasCFA {
				return fault{kind: Unknown, token: token}
			}
			f.kind = m.push(m.cfa&m.mask, 0)
		case opUndef:
			f.kind = Undefined
		case opLoad:
			f = m.load()
		case opAssign:
			f.kind = m.assign()
		default:
			f = m.binary(code[i])
		}
		if f.kind != 0 {
			f.token = token
			return f
		}
	}
	return fault{}
}

func (m *machine) push(v uint64, ref uint32) Kind {
	if m.depth == MaxDepth {
		return Overflow
	}
	m.value[m.depth], m.ref[m.depth] = v, ref
	m.depth++
	return 0
}

// pop removes a value from the stack and returns it.
func (m *machine) pop() (uint64, Kind) {
	if m.depth == 0 {
		return 0, Underflow
	}
	m.depth--
	ref := m.ref[m.depth]
	if ref == 0 {
		return m.value[m.depth], 0
	}
	v, ok := m.regs.Get(Reg(ref - 1))
	if !ok {
		return 0, Unknown
	}
	return v, 0
}

// load executes "^".
func (m *machine) load() fault {
	addr, k := m.pop()
	if k != 0 {
		return fault{kind: k}
	}
	if m.mem == nil {
		return fault{kind: Unreadable, value: addr}
	}
	v, ok := m.mem.ReadWord(addr)
	if !ok {
		return fault{kind: Unreadable, value: addr}
	}
	return fault{kind: m.push(v&m.mask, 0)}
}

// assign executes "=". Rules never get here with a variable on the stack.
func (m *machine) assign() Kind {
	v, k := m.pop()
	if k != 0 {
		return k
	}
	if m.depth == 0 {
		return Underflow
	}
	m.depth--
	reg := Reg(m.ref[m.depth]) - 1
	if reg < 0 || m.regs.names.Name(reg)[0] != '$' {
		return Assignment
	}
	m.regs.assign(reg, v)
	return 0
}

// binary applies an operator to two operands.
func (m *machine) binary(op uint32) fault {
	b, k := m.pop()
	if k != 0 {
		return fault{kind: k}
	}
	a, k := m.pop()
	if k != 0 {
		return fault{kind: k}
	}
	v, k := calc(op, a, b)
	if k != 0 {
		return fault{kind: k, value: b}
	}
	return fault{kind: m.push(v&m.mask, 0)}
}

// calc computes a op b. The operands of opDiv, opMod and opAlign must be
// unsigned and fit the word.
func calc(op uint32, a, b uint64) (uint64, Kind) {
	switch op {
	case opAdd:
		return a + b, 0
	case opSub:
		return a - b, 0
	case opMul:
		return a * b, 0
	case opAlign:
		if bits.OnesCount64(b) != 1 {
			return 0, BadAlignment
		}
		return a &^ (b - 1), 0
	}
	if b == 0 {
		return 0, DivisionByZero
	}
	if op == opDiv {
		return a / b, 0
	}
	return a % b, 0
}
