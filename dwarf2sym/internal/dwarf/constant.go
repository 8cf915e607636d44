package dwarf

import (
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
)

// exprAt returns the bytes of an expression whose length is at pos in the unit.
func (u *Unit) exprAt(pos uint64) ([]byte, bool) {
	if pos >= uint64(len(u.data)) {
		return nil, false
	}
	n, at := uleb(u.data, int(pos))
	if at < 0 || n > uint64(len(u.data)-at) {
		return nil, false
	}
	return u.data[at : at+int(n)], true
}

// mostOps bounds the operations of an expression that computes an address; LLVM writes three.
const mostOps = 16

// Constant evaluates an expression that has the same value in every frame and process: a sum of addresses and numbers.
// It reports false for other expressions. LLVM writes such sums to save entries of .debug_addr (-minimize-addr-in-v5).
func (u *Unit) Constant(code []byte) (addr uint64, ok bool) {
	c := u.Cursor(code)
	var stack [mostOps]uint64
	n := 0
	for ops := 0; c.Len() > 0; ops++ {
		if ops == mostOps {
			return 0, false
		}
		switch op := c.U8(); {
		case op == dw.OpPlus && n >= 2:
			n--
			stack[n-1] = u.plus(stack[n-1], stack[n])
		case op == dw.OpPlusUconst && n >= 1:
			stack[n-1] = u.plus(stack[n-1], c.ULEB())
		case op == dw.OpNop:
		default:
			if stack[n], ok = u.operand(&c, op); !ok {
				return 0, false
			}
			n++
		}
	}
	return stack[0], n == 1 && c.Err() == nil
}

// operand returns the number that an operation pushes.
func (u *Unit) operand(c *bin.Cursor, op uint8) (v uint64, ok bool) {
	switch op {
	case dw.OpAddr:
		return c.Uint(int(u.AddrSize)), true
	case dw.OpAddrx, dw.OpGNUAddrIndex:
		return u.addrx(c.ULEB())
	case dw.OpConst1u, dw.OpConst2u, dw.OpConst4u, dw.OpConst8u:
		return c.Uint(1 << ((op - dw.OpConst1u) / 2)), true
	case dw.OpConstu:
		return c.ULEB(), true
	}
	if op >= dw.OpLit0 && op < dw.OpReg0 {
		return uint64(op - dw.OpLit0), true
	}
	return 0, false
}
