package unwind

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
)

// maxPrinted bounds the operations that a message shows.
const maxPrinted = 24

// exprOps maps operations to their names and the forms of their operands, one letter each:
// 1 2 4 8 unsigned bytes, b h w d signed ones, u ULEB128, s SLEB128, a address, o section
// offset of 4 bytes, l ULEB128 length and that many bytes, r ULEB128 register.
var exprOps = map[uint8]string{
	0x03: "addr a", 0x06: "deref", 0x08: "const1u 1", 0x09: "const1s b", 0x0a: "const2u 2", 0x0b: "const2s h",
	0x0c: "const4u 4", 0x0d: "const4s w", 0x0e: "const8u 8", 0x0f: "const8s d", 0x10: "constu u", 0x11: "consts s",
	0x12: "dup", 0x13: "drop", 0x14: "over", 0x15: "pick 1", 0x16: "swap", 0x17: "rot", 0x18: "xderef",
	0x19: "abs", 0x1a: "and", 0x1b: "div", 0x1c: "minus", 0x1d: "mod", 0x1e: "mul", 0x1f: "neg", 0x20: "not",
	0x21: "or", 0x22: "plus", 0x23: "plus_uconst u", 0x24: "shl", 0x25: "shr", 0x26: "shra", 0x27: "xor",
	0x28: "bra h", 0x29: "eq", 0x2a: "ge", 0x2b: "gt", 0x2c: "le", 0x2d: "lt", 0x2e: "ne", 0x2f: "skip h",
	0x90: "regx r", 0x91: "fbreg s", 0x92: "bregx r s", 0x93: "piece u", 0x94: "deref_size 1", 0x95: "xderef_size 1",
	0x96: "nop", 0x97: "push_object_address", 0x98: "call2 2", 0x99: "call4 4", 0x9a: "call_ref o",
	0x9b: "form_tls_address", 0x9c: "call_frame_cfa", 0x9d: "bit_piece u u", 0x9e: "implicit_value l",
	0x9f: "stack_value", 0xa0: "implicit_pointer o s", 0xa1: "addrx u", 0xa2: "constx u", 0xa3: "entry_value l",
	0xa4: "const_type u l", 0xa5: "regval_type r u", 0xa6: "deref_type 1 u", 0xa7: "xderef_type 1 u",
	0xa8: "convert u", 0xa9: "reinterpret u", 0xe0: "GNU_push_tls_address", 0xf0: "GNU_uninit",
	0xf3: "GNU_entry_value l",
}

// opName returns the name of an operation.
func opName(op uint8) string {
	form := exprOps[op]
	switch {
	case op >= dw.OpLit0 && op < dw.OpReg0:
		return fmt.Sprintf("DW_OP_lit%d", op-dw.OpLit0)
	case op >= dw.OpReg0 && op < dw.OpBreg0:
		return fmt.Sprintf("DW_OP_reg%d", op-dw.OpReg0)
	case op >= dw.OpBreg0 && op < dw.OpBreg0+32:
		return fmt.Sprintf("DW_OP_breg%d", op-dw.OpBreg0)
	case form == "":
		return fmt.Sprintf("unknown operation %#x", op)
	}
	name, _, _ := strings.Cut(form, " ")
	return "DW_OP_" + name
}

// printExpr formats an expression for a message, as readelf does.
func printExpr(data []byte, order binary.ByteOrder, regs *regTable) string {
	var b strings.Builder
	b.WriteByte('(')
	c := bin.New("", data, order)
	for n := 0; c.Len() > 0; n++ {
		if n > 0 {
			b.WriteString("; ")
		}
		if n == maxPrinted {
			b.WriteString("...")
			break
		}
		if !printOp(&b, &c, regs) {
			break
		}
	}
	b.WriteByte(')')
	return b.String()
}

// printOp formats one operation. It returns false if the next one cannot be found.
func printOp(b *strings.Builder, c *bin.Cursor, regs *regTable) bool {
	op := c.U8()
	b.WriteString(opName(op))
	switch {
	case op >= dw.OpLit0 && op < dw.OpBreg0:
		return true
	case op >= dw.OpBreg0 && op < dw.OpBreg0+32:
		fmt.Fprintf(b, " (%s): %d", regs.describe(uint64(op-dw.OpBreg0)), c.SLEB())
	default:
		form, ok := exprOps[op]
		if !ok {
			return false
		}
		_, operands, _ := strings.Cut(form, " ")
		for _, kind := range strings.Fields(operands) {
			b.WriteByte(' ')
			b.WriteString(printOperand(c, kind[0], regs))
		}
	}
	if c.Err() != nil {
		b.WriteString(" (cut short)")
		return false
	}
	return true
}

func printOperand(c *bin.Cursor, kind byte, regs *regTable) string {
	switch kind {
	case '1', '2', '4', '8':
		return fmt.Sprint(c.Uint(int(kind - '0')))
	case 'b':
		return fmt.Sprint(int8(c.U8()))
	case 'h':
		return fmt.Sprint(int16(c.U16()))
	case 'w':
		return fmt.Sprint(int32(c.U32()))
	case 'd':
		return fmt.Sprint(int64(c.U64()))
	case 'u':
		return fmt.Sprint(c.ULEB())
	case 's':
		return fmt.Sprint(c.SLEB())
	case 'a':
		return fmt.Sprintf("%#x", c.Uint(int(regs.bits/8)))
	case 'o':
		return fmt.Sprintf("<%#x>", c.U32())
	case 'r':
		return regs.describe(c.ULEB())
	}
	n := c.ULEB()
	c.Skip(n)
	return fmt.Sprintf("%d bytes", n)
}
