package unwind

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
)

// exprMachine evaluates DWARF expressions. It has nothing in common with the
// translator: it computes values.
type exprMachine struct {
	a     *arch.Arch
	order binary.ByteOrder
	regs  map[uint64]uint64
	seed  uint64
	stack []uint64
}

func (m *exprMachine) mask() uint64 { return 1<<(8*m.a.PtrSize-1)<<1 - 1 }

// load returns invented memory contents: each byte is a function of its
// address.
func (m *exprMachine) load(addr uint64, size int) uint64 {
	b := make([]byte, 8)
	for i := range size {
		h := ((addr+uint64(i))&m.mask() + m.seed) * 0x9e3779b97f4a7c15
		b[i] = byte(h>>29 ^ h>>51)
	}
	if m.order == binary.ByteOrder(binary.BigEndian) {
		return m.order.Uint64(b) >> (64 - 8*size)
	}
	return m.order.Uint64(b)
}

// ReadWord implements cfi.Memory.
func (m *exprMachine) ReadWord(addr uint64) (uint64, bool) { return m.load(addr, m.a.PtrSize), true }

func (m *exprMachine) signed(v uint64) int64 {
	if m.a.PtrSize == 4 {
		return int64(int32(v))
	}
	return int64(v)
}

// run executes the operations. ok is false if DWARF defines no value.
func (m *exprMachine) run(ops []string) (result uint64, ok bool) {
	defer func() {
		if recover() != nil { // stack underflow, division by zero
			ok = false
		}
	}()
	pop := func() uint64 {
		v := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		return v
	}
	push := func(v uint64) { m.stack = append(m.stack, v&m.mask()) }
	flag := func(b bool) {
		if b {
			push(1)
		} else {
			push(0)
		}
	}
	for _, op := range ops {
		name, arg, _ := strings.Cut(op, ":")
		n := uint64(atoi(arg))
		switch name {
		case "plus_uconst":
			push(pop() + n)
		case "deref":
			push(m.load(pop(), m.a.PtrSize))
		case "deref_size":
			push(m.load(pop(), int(n)))
		case "dup":
			push(m.stack[len(m.stack)-1])
		case "drop":
			pop()
		case "over":
			push(m.stack[len(m.stack)-2])
		case "swap":
			a, b := pop(), pop()
			push(a)
			push(b)
		case "rot":
			a, b, c := pop(), pop(), pop()
			push(a)
			push(c)
			push(b)
		case "neg":
			push(-pop())
		case "not":
			push(^pop())
		case "abs":
			if v := m.signed(pop()); v < 0 {
				push(uint64(-v))
			} else {
				push(uint64(v))
			}
		case "call_frame_cfa":
			push(m.regs[1<<32])
		case "nop":
		case "consts", "const1s", "const1u", "const2u":
			push(n)
		case "plus", "minus", "mul", "and", "or", "xor", "div", "mod", "shl", "shr", "shra", "eq", "ne", "lt", "le", "gt", "ge":
			b, a := pop(), pop()
			x, y := m.signed(a), m.signed(b)
			switch name {
			case "plus":
				push(a + b)
			case "minus":
				push(a - b)
			case "mul":
				push(a * b)
			case "and":
				push(a & b)
			case "or":
				push(a | b)
			case "xor":
				push(a ^ b)
			case "div":
				push(uint64(x / y))
			case "mod":
				push(a % b)
			case "shl":
				push(a << b)
			case "shr":
				push(a >> b)
			case "shra":
				push(uint64(x >> b))
			case "eq":
				flag(x == y)
			case "ne":
				flag(x != y)
			case "lt":
				flag(x < y)
			case "le":
				flag(x <= y)
			case "gt":
				flag(x > y)
			case "ge":
				flag(x >= y)
			}
		default:
			if strings.HasPrefix(name, "lit") {
				push(uint64(atoi(name[3:])))
			} else {
				push(m.regs[uint64(atoi(name[4:]))] + n)
			}
		}
	}
	return m.stack[len(m.stack)-1], true
}

// randomOps returns expressions like those that compilers write, and worse.
func randomOps(rng *rand.Rand, pc uint64) []string {
	regs := []uint64{0, 1, 3, 5, pc}
	var ops []string
	depth := 0
	for n := 2 + rng.IntN(10); n > 0 || depth > 1; n-- {
		op, d := "", 0
		switch k := rng.IntN(10); {
		case depth == 0 || k < 3 && n > 0:
			op, d = fmt.Sprintf("breg%d:%d", regs[rng.IntN(len(regs))], rng.IntN(64)-32), 1
		case k < 5 && n > 0:
			op, d = []string{"lit3", "lit15", "lit16", "lit1", "const1s:-16", "const1s:-1", "const2u:4080", "lit0", "consts:-9", "dup"}[rng.IntN(10)], 1
		case depth > 1 && (k < 9 || n <= 0):
			op, d = []string{"plus", "minus", "mul", "and", "or", "xor", "div", "mod", "shl", "shr", "shra", "eq", "ne", "lt", "le", "gt", "ge", "plus", "minus", "and"}[rng.IntN(20)], -1
			if rng.IntN(8) == 0 {
				op, d = "swap", 0
			}
		default:
			op = []string{"deref", "deref_size:4", "deref_size:1", "neg", "not", "abs", "plus_uconst:24", "nop", "deref_size:2"}[rng.IntN(9)]
		}
		ops = append(ops, op)
		depth += d
	}
	return ops
}

func atoi(s string) int64 {
	v, _ := strconv.ParseInt(s, 0, 64)
	return v
}
