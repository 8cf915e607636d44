package insn

import "encoding/binary"

// Most instructions need only be measured, so this decoder is a table, some 20 times as fast as a
// decoder of operands (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
// appendix A).

// Flags for what follows an opcode.
const (
	x86M    = 1 << iota // ModRM, SIB and displacement
	x86B                // an immediate byte
	x86Z                // an immediate of 4 bytes, 2 with 66
	x86W                // an immediate of 2 bytes
	x86Bad              // invalid
	x86Bad6             // invalid in 64-bit mode
	x86Odd              // handled by a function of its own
)

// x86One and x86Two describe the one-byte opcodes, and those after 0F, by one letter each: "."
// nothing, "m" M, "b" B, "z" Z, "w" W, "n" M and B, "y" M and Z, "x" invalid, "6" invalid in
// 64-bit mode, "7" the same with B, "8" the same with M and B, "o" odd.
var x86One = x86Table(
	"mmmmbz66mmmmbz6o" + "mmmmbz66mmmmbz66" + "mmmmbzo6mmmmbzo6" + "mmmmbzo6mmmmbzo6" +
		"oooooooooooooooo" + "................" + "66omoooozybn...." + "bbbbbbbbbbbbbbbb" +
		"ny8nmmmmmmmmmmmo" + "..........o....." + "oooo....bz......" + "bbbbbbbboooooooo" +
		"nnw.oonyo.w..b6." + "mmmm776.mmmmmmmm" + "bbbbbbbbooob...." + "o.oo..oo......mo")

var x86Two = x86Table(
	"mmmmx.....x.xm.n" + "mmmmmmmmmmmmmmmm" + "mmmmxxxxmmmmmmmm" + "......x.oxoxxxxx" +
		"mmmmmmmmmmmmmmmm" + "mmmmmmmmmmmmmmmm" + "mmmmmmmmmmmmmmmm" + "nnnnmmm.ommmmmmm" +
		"zzzzzzzzzzzzzzzz" + "mmmmmmmmmmmmmmmm" + "...mnmmm...mnmmm" + "mmmmmmmmmmnmmmmm" +
		"mmnmnnnm........" + "mmmmmmmmmmmmmmmm" + "mmmmmmmmmmmmmmmm" + "mmmmmmmmmmmmmmmm")

func x86Table(letters string) (t [256]uint8) {
	kinds := map[rune]uint8{'.': 0, 'm': x86M, 'b': x86B, 'z': x86Z, 'w': x86W, 'n': x86M | x86B, 'y': x86M | x86Z,
		'x': x86Bad, '6': x86Bad6, '7': x86Bad6 | x86B, '8': x86Bad6 | x86M | x86B, 'o': x86Odd}
	for i, letter := range letters {
		t[i] = kinds[letter]
	}
	return t
}

// AMD64 decodes calls in 64-bit mode. It is a Step.
func AMD64(code []byte, addr uint64) (int, Kind, uint64) { return callX86(code, addr, true) }

// X86 decodes calls in 32-bit mode. It is a Step.
func X86(code []byte, addr uint64) (int, Kind, uint64) { return callX86(code, addr, false) }

// x86Len is an instruction being decoded.
type x86Len struct {
	code         []byte
	long         bool // 64-bit mode
	data16, addr bool // prefixes 66 and 67
	repne        bool // prefix F2
	wide         bool // REX.W
}

// callX86 decodes an instruction.
func callX86(code []byte, addr uint64, long bool) (size int, kind Kind, target uint64) {
	x := x86Len{code: code, long: long}
	i := 0
prefixes:
	for ; ; i++ {
		if i >= len(code) || i > 14 {
			return 0, None, 0
		}
		switch code[i] {
		case 0x66:
			x.data16 = true
		case 0x67:
			x.addr = true
		case 0xf2:
			x.repne = true
		case 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0xf0:
		default:
			break prefixes
		}
	}
	if long && code[i]>>4 == 4 {
		x.wide = code[i]&8 != 0
		if i++; i >= len(code) {
			return 0, None, 0
		}
	}
	op := code[i]
	n := x.length(op, i)
	if n == 0 || n > len(code) || n > 15 {
		return 0, None, 0
	}
	switch {
	case op == 0xe8 && n-i == 5:
		target = addr + uint64(n) + uint64(int64(int32(binary.LittleEndian.Uint32(code[i+1:]))))
		if !long {
			target &= 0xffffffff
		}
		return n, Direct, target
	case op == 0xff && (code[i+1]>>3&7 == 2 || code[i+1]>>3&7 == 3 && code[i+1] < 0xc0), op == 0x9a:
		return n, Indirect, 0
	}
	return n, None, 0
}

// length returns the length of the instruction whose one-byte opcode is at i, or 0 if it does not
// decode.
func (x *x86Len) length(op byte, i int) int {
	what := x86One[op]
	if what&x86Odd != 0 {
		return x.odd(op, i)
	}
	if what&x86Bad6 != 0 && x.long {
		return 0
	}
	return x.operands(what, i+1)
}

// operands returns the end of an instruction whose operands begin at i.
func (x *x86Len) operands(what uint8, i int) int {
	if what&x86Bad != 0 {
		return 0
	}
	if what&x86M != 0 {
		n := x.modRM(i)
		if n == 0 {
			return 0
		}
		i += n
	}
	if what&x86B != 0 {
		i++
	}
	if what&x86W != 0 {
		i += 2
	}
	if what&x86Z != 0 {
		i += x.immediate()
	}
	return i
}

func (x *x86Len) immediate() int {
	if x.data16 && !x.wide {
		return 2
	}
	return 4
}

// modRM returns the length of ModRM, SIB and displacement.
func (x *x86Len) modRM(i int) int {
	if i >= len(x.code) {
		return 0
	}
	mod, rm := x.code[i]>>6, x.code[i]&7
	if mod == 3 {
		return 1
	}
	if x.addr && !x.long {
		if mod == 2 || mod == 0 && rm == 6 {
			return 3
		}
		return 1 + int(mod)
	}
	n := 1
	if rm == 4 {
		if i+1 >= len(x.code) {
			return 0
		}
		if mod == 0 && x.code[i+1]&7 == 5 {
			n += 4
		}
		n++
	} else if mod == 0 && rm == 5 {
		n += 4
	}
	switch mod {
	case 1:
		n++
	case 2:
		n += 4
	}
	return n
}

// odd returns the length of an instruction whose opcode no letter describes.
func (x *x86Len) odd(op byte, i int) int {
	next := byte(0)
	if i+1 < len(x.code) {
		next = x.code[i+1]
	}
	switch op {
	case 0x0f:
		return x.two(next, i+2)
	case 0xc4, 0xc5, 0x62:
		if x.long || next >= 0xc0 {
			return x.vector(op, i)
		}
		return x.operands(x86M, i+1)
	case 0x8f:
		if next>>3&7 != 0 {
			return x.vector(op, i)
		}
		return x.operands(x86M, i+1)
	case 0xa0, 0xa1, 0xa2, 0xa3:
		n := 4 // size of an address
		switch {
		case x.long && !x.addr:
			n = 8
		case !x.long && x.addr:
			n = 2
		}
		return i + 1 + n
	case 0xe8, 0xe9:
		if x.long {
			return i + 5 // as Intel's CPUs decode it
		}
		return i + 1 + x.immediate()
	case 0xc8:
		return i + 4
	case 0x9a, 0xea:
		if x.long {
			return 0
		}
		return i + 3 + x.immediate()
	case 0xf6, 0xf7, 0xff:
		return x.group(op, next, i)
	}
	switch {
	case op>>3 == 0xb8>>3:
		if x.wide {
			return i + 9
		}
		return i + 1 + x.immediate()
	case op>>4 == 4 && !x.long:
		return i + 1 // inc, dec
	}
	return 0
}

// group handles opcodes whose operands depend on the ModRM byte.
func (x *x86Len) group(op, modRM byte, i int) int {
	reg := modRM >> 3 & 7
	switch {
	case op == 0xff && reg == 7:
		return 0
	case op == 0xf6 && reg < 2:
		return x.operands(x86M|x86B, i+1)
	case op == 0xf7 && reg < 2:
		return x.operands(x86M|x86Z, i+1)
	}
	return x.operands(x86M, i+1)
}

// two handles opcodes after 0F, whose operands begin at i.
func (x *x86Len) two(op byte, i int) int {
	switch {
	case op == 0x38:
		return x.operands(x86M, i+1)
	case op == 0x3a:
		return x.operands(x86M|x86B, i+1)
	case op == 0x78 && (x.data16 || x.repne):
		return i + 3 // extrq, insertq
	case op == 0x78:
		return x.operands(x86M, i)
	case op>>4 == 8 && x.long:
		return i + 4
	}
	return x.operands(x86Two[op], i)
}

// vector handles VEX, EVEX and XOP.
func (x *x86Len) vector(op byte, i int) int {
	if i+2 >= len(x.code) {
		return 0
	}
	table := int(x.code[i+1] & 0x1f)
	switch op {
	case 0xc5:
		table, i = 1, i+2
	case 0xc4, 0x8f:
		i += 3
	case 0x62:
		table &= 7
		i += 4
	}
	if i >= len(x.code) {
		return 0
	}
	switch {
	case op == 0x8f && table == 8, table == 3:
		return x.operands(x86M|x86B, i+1)
	case op == 0x8f && table == 9, table == 2, table == 5 || table == 6:
		return x.operands(x86M, i+1)
	case op == 0x8f && table == 10:
		x.data16 = false
		return x.operands(x86M|x86Z, i+1)
	case table == 1 && x.code[i] == 0x78:
		return x.operands(x86M, i+1)
	case table == 1 && (x86Two[x.code[i]]&x86M != 0 || x.code[i] == 0x77):
		return x.operands(x86Two[x.code[i]], i+1)
	}
	return 0
}
