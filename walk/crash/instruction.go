package crash

import (
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// AccessKind is what an instruction does with memory.
type AccessKind uint8

// The kinds. Decoders do not know the kind of every access.
const (
	UnknownAccess AccessKind = 0
	ReadAccess    AccessKind = 1
	WriteAccess   AccessKind = 2
	UpdateAccess  AccessKind = ReadAccess | WriteAccess
)

var accessNames = [...]string{"", "read", "write", "read_write"}

// String returns the name for machine-readable output, or "" for an unknown kind.
func (k AccessKind) String() string { return accessNames[k] }

// Access is a piece of memory that an instruction reads or writes.
type Access struct {
	Addr uint64
	Size uint64 // in bytes; 0 if unknown
	Kind AccessKind
	// NullBase means that the base register of the address is 0.
	NullBase bool
}

// contains reports whether the access covers an address. An access of unknown size covers a cache
// line from its start.
func (a *Access) contains(addr uint64) bool {
	size := a.Size
	if size == 0 {
		size = 64
	}
	return addr-a.Addr < size
}

// Instruction is the instruction at which a thread crashed, with its effects. It is supported on
// x86, x86-64 and arm64.
type Instruction struct {
	Code   []byte // the instruction's bytes
	Binary bool   // Code is from the binary, because the dump lacks it
	Text   string // in Intel syntax, or GNU syntax on arm64; "" if unknown

	// Accesses is the memory that the instruction accesses. It is complete only if Known is set, which means that the
	// decoder supports all accesses and the registers that they use are known.
	Accesses []Access
	Known    bool

	// Target is the target of an indirect branch or a return, if HasTarget is set.
	Target    uint64
	HasTarget bool

	registers  []int  // registers used in addresses, as indices in arch.Arch.Regs
	divides    bool   // an integer division
	interrupts bool   // an instruction that raises an exception on purpose
	aligned    uint64 // required alignment of its operand's address, whatever the system allows; or 0
	privileged bool   // may fault for lack of privilege
}

// maxInstruction is the length of the longest instruction, in bytes.
const maxInstruction = 15

// Code returns up to n bytes of code at an address of the process. binary is true if they are from the binary because
// the dump lacks them.
type Code func(addr uint64, n int) (code []byte, binary bool)

// instructionOf decodes the instruction at pc, to be executed with the registers c. It returns nil if the code is
// missing or malformed, or the CPU is not supported.
func instructionOf(d *dump.Dump, c *dump.Context, code Code, pc uint64) *Instruction {
	if c == nil || c.Arch == nil || decoders[c.Arch] == nil {
		return nil
	}
	b, binary := code(pc, maxInstruction)
	if len(b) == 0 {
		return nil
	}
	s := state{context: c, memory: &d.Memory, pc: pc}
	in := decoders[c.Arch](&s, b)
	if in != nil {
		in.Binary, in.registers = binary, s.used
	}
	return in
}

// decoders decode an instruction. They return nil for malformed code.
var decoders = map[*arch.Arch]func(s *state, code []byte) *Instruction{
	arch.X86:    func(s *state, code []byte) *Instruction { return decodeX86(s, code, 32) },
	arch.X86_64: func(s *state, code []byte) *Instruction { return decodeX86(s, code, 64) },
	arch.ARM64:  decodeARM64,
}

// state is the state of the process before the instruction.
type state struct {
	context *dump.Context
	memory  *dump.Memory
	pc      uint64
	used    []int // registers that were read
}

// reg returns a register by its name in arch.Arch.
func (s *state) reg(name string) (uint64, bool) {
	i, ok := s.context.Arch.RegIndex(name)
	if !ok {
		return 0, false
	}
	s.used = append(s.used, i)
	return s.context.At(i)
}

// word reads a word of memory.
func (s *state) word(addr uint64) (uint64, bool) {
	return s.memory.Word(addr, s.context.Arch.PtrSize)
}
