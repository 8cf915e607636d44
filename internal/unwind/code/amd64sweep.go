package code

import (
	"encoding/binary"

	"github.com/symtool/symtool/internal/insn"
)

// labelsAMD64 calls fn with the addresses that instructions have as operands.
func labelsAMD64(code []byte, addr uint64, fn func(label uint64, absolute bool)) {
	for off := 0; off < len(code); {
		n, label, absolute := labelAMD64(code[off:], addr+uint64(off))
		if label != 0 {
			fn(label, absolute)
		}
		off += max(n, 1)
	}
}

// labelAMD64 returns the address that the first instruction of code has as an operand, or 0, and whether it has the address
// itself, or any other number.
func labelAMD64(code []byte, addr uint64) (size int, label uint64, absolute bool) {
	n, kind, _ := insn.AMD64(code, addr)
	if n < 5 || kind != insn.None {
		return n, 0, false
	}
	i := 0
	for i < n-4 && (code[i] == 0x66 || code[i] == 0xf2 || code[i] == 0xf3 || code[i] == 0x3e) {
		i++
	}
	if code[i]>>4 == 4 { // REX
		i++
	}
	switch op := code[i]; {
	case op == 0xc5: // VEX
		i += 2
	case op == 0xc4:
		i += 3
	case op == 0x62: // EVEX
		i += 4
	case op>>3 == 0xb8>>3 && n == i+5: // mov
		return n, uint64(binary.LittleEndian.Uint32(code[i+1:])), true
	case op>>4 == 7, op>>4 == 0xe, op == 0x68, op>>4 == 0xb:
		return n, 0, false
	case op == 0x0f:
		if i++; code[i] == 0x38 || code[i] == 0x3a {
			i++
		}
	}
	if i+6 > n {
		return n, 0, false
	}
	switch m := code[i+1]; {
	case code[i] == 0xc7 && m >= 0xc0:
		return n, uint64(binary.LittleEndian.Uint32(code[n-4:])), true
	case m&0xc7 == 5:
		return n, addr + uint64(n) + uint64(int64(int32(binary.LittleEndian.Uint32(code[i+2:])))), false
	case m&0xc7 == 4 && code[i+2]&7 == 5 && i+7 <= n:
		return n, uint64(binary.LittleEndian.Uint32(code[i+3:])), true
	}
	return n, 0, false
}

// stubsAMD64 returns the offsets of the stubs in a procedure linkage table, which jump through a word that the linker fills.
func stubsAMD64(code []byte) (all []int) {
	const size, half = 16, 8
	for off := 0; off+half <= len(code); off += half {
		b := code[off:]
		if b[0] == 0xf3 && b[1] == 0x0f && b[2] == 0x1e && b[3] == 0xfa { // endbr64
			b = b[4:]
		}
		if b[0] == 0xf2 { // bnd
			b = b[1:]
		}
		if b[0] == 0xff && b[1] == 0x25 || b[0] == 0x68 && off%size == 0 {
			all = append(all, off)
		}
	}
	return all
}
