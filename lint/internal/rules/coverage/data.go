package coverage

import (
	"encoding/binary"

	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/symfmt/arch"
)

// Tables and constants in code have no name in a stripped file: OpenSSL's assembly has 150 KB in one
// piece. They are recognised by bytes (on arm64, words) that are not instructions. The code of libc,
// libcrypto, libgmp, libnettle, libgcrypt, libzstd and libffi, with and without rules, does not
// contain one such byte; in libcrypto's tables, one byte in 24 is not an instruction.
const (
	// Bytes that do not decode are data, together with everything between them, if there are at
	// least this many ...
	minNoInstruction = 4
	// ... and each is at most this many bytes after the previous one. A function with a few unknown
	// instructions is not enough.
	maxNoInstructionGap = 256
)

// dataStep returns the decoder for a CPU whose data can be distinguished from its code, or nil.
// Instructions are at multiples of unit bytes.
func dataStep(cpu *arch.Arch) (step insn.Step, unit int) {
	switch cpu {
	case arch.X86_64:
		return insn.AMD64, 1
	case arch.X86:
		return insn.X86, 1
	case arch.ARM64:
		return allocatedARM64, 4
	}
	return nil, 0
}

// allocatedARM64 recognises instructions by bits 25 to 28 of a word: the encodings 1 and 3 are
// unallocated, and 0 is SME with bit 31 and reserved without it (Arm ARM, C4.1). In the 2.7 million
// words of code of 12 arm64 libraries of Debian, only zeros, which are padding, are unallocated; in
// libcrypto's tables one word in six is.
func allocatedARM64(code []byte, _ uint64) (size int, kind insn.Kind, target uint64) {
	const unit = 4
	if len(code) < unit {
		return len(code), insn.None, 0
	}
	word := binary.LittleEndian.Uint32(code)
	switch group := word >> 25 & 0xf; {
	case group == 1, group == 3, group == 0 && word>>31 == 0:
		return 0, insn.None, 0
	}
	return unit, insn.None, 0
}

// dataIn calls found for the pieces [from, to) of code that are data, in ascending order.
func dataIn(code []byte, step insn.Step, unit int, found func(from, to int)) {
	first, last, n := 0, 0, 0
	end := func() {
		if n >= minNoInstruction {
			found(first, last+unit)
		}
		n = 0
	}
	for i := 0; i < len(code); {
		size, _, _ := step(code[i:], 0)
		if size > 0 {
			i += size
			continue
		}
		if n > 0 && i-last > maxNoInstructionGap {
			end()
		}
		if n == 0 {
			first = i
		}
		last = i
		n++
		i += unit
	}
	end()
}
