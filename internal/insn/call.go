// Package insn decodes instructions as far as calls require: their lengths, and what they call.
package insn

// Kind is how an instruction transfers control, as far as return addresses depend on it.
type Kind uint8

// The kinds of instructions.
const (
	None     Kind = iota
	Direct        // a call of target
	Indirect      // a call through a register or memory
)

// Step decodes the first instruction of code, which is at addr. It returns its size, or 0 if the
// bytes do not decode, and the target of a direct call.
type Step func(code []byte, addr uint64) (size int, kind Kind, target uint64)
