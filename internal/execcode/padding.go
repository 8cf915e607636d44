package execcode

import (
	"bytes"
	"encoding/binary"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// Padding returns the length of the padding instruction at the start of code:
// one that does nothing, a trap or zeros. It returns 0 if code begins with
// anything else. code must not be empty.
type Padding func(code []byte) int

// decoders holds the Paddings of CPUs whose nops are not in a table.
var decoders = map[*arch.Arch]Padding{arch.X86: X86, arch.X86_64: X86, arch.ARM64: ARM64}

// traps are the trapping instructions with which linkers fill gaps between functions, for CPUs without a decoder.
// lld 22 writes the same ones.
var traps = map[*arch.Arch]arch.Nop{
	arch.ARM: {Code: 0xd4d4d4d4, Size: 4}, arch.MIPS: {Code: 0x04170001, Size: 4}, arch.MIPS64: {Code: 0x04170001, Size: 4},
	arch.PPC: {Code: 0x7fe00008, Size: 4}, arch.PPC64: {Code: 0x7fe00008, Size: 4},
}

// PaddingOf returns the Padding of a file's CPU. For an unknown CPU, only words of zeros are
// padding. On ppc64, call stubs of linkers and offsets of the TOC are padding, too.
func PaddingOf(f *object.File) Padding {
	if p := decoders[f.Arch]; p != nil {
		return p
	}
	order := f.CodeOrder
	fillers := [][]byte{make([]byte, 4)}
	if f.Arch != nil {
		for _, nop := range f.Arch.Nops {
			fillers = append(fillers, nop.Bytes(order))
		}
	}
	if trap, ok := traps[f.Arch]; ok {
		fillers = append(fillers, trap.Bytes(order))
	}
	return func(code []byte) int {
		if f.Arch == arch.PPC64 {
			if n := max(stubPPC64(code, order), offsetPPC64(code, order)); n > 0 {
				return n
			}
		}
		for _, filler := range fillers {
			if bytes.HasPrefix(code, filler) {
				return len(filler)
			}
		}
		return 0
	}
}

// stubPPC64 returns the length of a linker's call stub: it saves r2 in the caller's frame, loads
// an address and jumps there (OpenPOWER ELFv2 ABI, 4.2.5.3). Linkers put stubs before the calling
// code, without a section of their own; in a file with symbols they are called
// 00000037.plt_call.NAME.
func stubPPC64(code []byte, order binary.ByteOrder) int {
	const saveV1, saveV2, mtctr, bctr, bnectr = 0xf8410028, 0xf8410018, 0x7d8903a6, 0x4e800420, 0x4ce20420
	const longest = 9 // instructions
	if len(code) < 4 || order.Uint32(code) != saveV1 && order.Uint32(code) != saveV2 {
		return 0
	}
	moved := false
	for i := 4; i < 4*longest && i+4 <= len(code); i += 4 {
		switch order.Uint32(code[i:]) {
		case mtctr:
			moved = true
		case bctr:
			if moved {
				return i + 4
			}
			return 0
		case bnectr: // jumps if the function is already bound; otherwise a branch follows
			if moved {
				return min(i+8, len(code))
			}
		}
	}
	return 0
}

// offsetPPC64 returns the length of an offset of the TOC or the PLT that is stored before the code that adds it to
// its own address: the first instructions of a function (OpenPOWER ELFv2 ABI, 2.3.2.1; with -mcmodel=large they load
// the offset, unless a linker could turn it into constants), or the linker's __glink_PLTresolve.
func offsetPPC64(code []byte, order binary.ByteOrder) int {
	const size = 8
	const loadTOC, addTOC, bclNext = 0xe84cfff8, 0x3c4c0000, 0x429f0005 // ld r2, -8(r12); addis r2, r12, 0; bcl 20, 31, .+4
	if len(code) < size+8 {
		return 0
	}
	if offset := int64(order.Uint64(code)); offset != int64(int32(offset)) {
		return 0
	}
	first, second := order.Uint32(code[size:]), order.Uint32(code[size+4:])
	if first == loadTOC || first&^0xffff == addTOC || second == bclNext {
		return size
	}
	return 0
}

// ARM64 returns the Padding of arm64: a nop, brk or zeros.
func ARM64(code []byte) int {
	if len(code) < 4 {
		return 0
	}
	if in := binary.LittleEndian.Uint32(code); in == 0xd503201f || in == 0 || in&0xffe0001f == 0xd4200000 {
		return 4
	}
	return 0
}

// X86 returns the Padding of x86 and x86-64: an int3, a nop or zeros, but not a ud2, which is the entire code of
// some functions. A single zero may begin an add instruction, so it is padding only at the end.
func X86(code []byte) int {
	switch {
	case code[0] == 0xcc, code[0] == 0x90, code[0] == 0 && len(code) == 1:
		return 1
	case code[0] == 0 && code[1] == 0:
		return 2
	}
	return nopX86(code)
}

// leaX86 holds the forms of "lea 0(%esi),%esi" with which gas fills gaps on i386.
var leaX86 = [][]byte{
	{0x8d, 0x76, 0}, {0x8d, 0x74, 0x26, 0}, {0x8d, 0xb6, 0, 0, 0, 0}, {0x8d, 0xb4, 0x26, 0, 0, 0, 0},
}

// nopX86 returns the length of a nop of several bytes: prefixes and 90, prefixes and 0F 1F, or a
// lea or xchg that changes nothing. It returns 0 for anything else.
func nopX86(code []byte) int {
	i := 0
	for i < len(code) && i < 12 && (code[i] == 0x66 || code[i] == 0x2e) {
		i++
	}
	rest := code[i:]
	for _, lea := range leaX86 {
		if bytes.HasPrefix(rest, lea) {
			return i + len(lea)
		}
	}
	switch {
	case len(rest) > 0 && rest[0] == 0x90:
		return i + 1
	case len(rest) > 2 && rest[0] == 0x0f && rest[1] == 0x1f:
		if n := i + 2 + modRM(rest[2:]); n <= len(code) {
			return n
		}
	}
	return 0
}

// modRM returns the length of a ModRM byte with its SIB byte and displacement, for 32-bit and
// 64-bit addresses (Intel SDM volume 2, 2.1.3). It may exceed len(b).
func modRM(b []byte) int {
	mod, rm, n := b[0]>>6, b[0]&7, 1
	if mod == 3 {
		return n
	}
	if rm == 4 {
		n++
		if mod == 0 && len(b) > 1 && b[1]&7 == 5 {
			return n + 4
		}
	}
	switch {
	case mod == 1:
		return n + 1
	case mod == 2, mod == 0 && rm == 5:
		return n + 4
	}
	return n
}

// longestNop is the length in bytes of the longest padding instruction: on
// x86, prefixes may extend a nop to the maximum length of an instruction.
const longestNop = 15

// Trim returns r, a range of the part, without the padding at its start and its end. A range
// that is all padding becomes empty. A padding instruction may extend beyond the range: the
// rules of a signal trampoline begin a byte before it. If function is set, a function begins at
// r.Start, and padding there belongs to it.
func (p *Part) Trim(r object.Range, function bool, padding Padding) (object.Range, error) {
	data, err := p.Bytes()
	if err != nil {
		return r, err
	}
	at, end := r.Start-p.Start, min(r.End-p.Start, uint64(len(data)))
	if at >= end {
		return r, nil
	}
	code := data[at:end]
	if len(bytes.Trim(code, "\x00")) == 0 {
		return object.Range{Start: r.Start, End: r.Start}, nil
	}
	data = data[at:]
	first := 0
	for first < len(code) {
		n := padding(data[first:])
		if n == 0 {
			break
		}
		first = min(first+n, len(code))
	}
	if function && first < len(code) {
		first = 0
	}
	last := len(code) - trailing(data[first:], len(code)-first, padding)
	return object.Range{Start: r.Start + uint64(first), End: r.Start + uint64(last)}, nil
}

// trailing returns the length of the longest padding at the end of data[:length]. It works
// backwards byte by byte, as the start of the padding is known only once it has been decoded up
// to the end.
func trailing(data []byte, length int, padding Padding) (size int) {
	var ends [longestNop + 1]bool // by position modulo the length: decoding padding from there leads to the end
	for i := length - 1; i >= 0 && length-i <= size+longestNop; i-- {
		n := padding(data[i:])
		ok := n > 0 && (i+n >= length || ends[(i+n)%len(ends)])
		if ends[i%len(ends)] = ok; ok {
			size = length - i
		}
	}
	return size
}
