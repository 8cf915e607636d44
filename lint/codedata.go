package lint

import "debug/elf"

// Tables and constants in code have no name in a stripped file: OpenSSL's assembly has
// 150 KB in one piece. Bytes that decode to no instruction set them apart from code. In
// the code of libc, libcrypto, libgmp, libnettle, libgcrypt, libzstd and libffi, with
// rules and without, there is not one such byte; in libcrypto's tables there is one in
// 24 bytes.
const (
	// Bytes that are no instruction are data, with all that is between them, where
	// there are so many ...
	minNoInstruction = 4
	// ... and each is at most so far behind the one before, in bytes. A function with a
	// few instructions that are not known here is not enough.
	maxNoInstructionGap = 256
)

// dataStep decodes instructions of a CPU whose data differs recognizably from its code; nil for
// other CPUs.
func dataStep(machine elf.Machine) callStep {
	switch machine {
	case elf.EM_X86_64:
		return callAMD64
	case elf.EM_386:
		return call386
	}
	return nil
}

// dataIn calls found for the pieces [from, to) of code that are data, ascending.
func dataIn(code []byte, step callStep, found func(from, to int)) {
	first, last, n := 0, 0, 0
	end := func() {
		if n >= minNoInstruction {
			found(first, last+1)
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
		i++
	}
	end()
}
