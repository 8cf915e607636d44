package walk

import (
	"context"
	"slices"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// AccessKind is what an instruction does with memory.
type AccessKind uint8

// The kinds. Decoders do not give one for every instruction.
const (
	UnknownAccess AccessKind = 0
	ReadAccess    AccessKind = 1
	WriteAccess   AccessKind = 2
	UpdateAccess  AccessKind = ReadAccess | WriteAccess
)

var accessNames = [...]string{"", "read", "write", "read_write"}

// String is the name in machine-readable output, "" for an unknown kind.
func (k AccessKind) String() string { return accessNames[k] }

// Access is a piece of memory that an instruction reads or writes.
type Access struct {
	Addr uint64
	Size uint64 // bytes; 0 if it is not known
	Kind AccessKind
	// NullBase says that the base register of the address is 0.
	NullBase bool
}

// contains reports whether an address is in what is accessed. Of an access of unknown size, the
// cache line behind its start counts.
func (a *Access) contains(addr uint64) bool {
	size := a.Size
	if size == 0 {
		size = 64
	}
	return addr-a.Addr < size
}

// Instruction is the instruction that a thread was at, with its effects, for x86, x86-64 and arm64.
type Instruction struct {
	Code   []byte // the instruction's bytes
	Binary bool   // they are of the binary, and not in the dump
	Text   string // in Intel's syntax, or that of GNU for arm64; "" if it has no name here

	// Accesses is the memory that it accesses. It is complete only if Known: the decoder covers the
	// instruction's accesses, and all registers for them are known.
	Accesses []Access
	Known    bool

	// Target is where an indirect branch or a return goes, if HasTarget.
	Target    uint64
	HasTarget bool

	registers  []int // that addresses are made of, by place in arch.Arch.Regs
	divides    bool  // by an integer
	privileged bool  // may fault for lack of privilege
}

// maxInstruction is the length of the longest instruction, in bytes.
const maxInstruction = 15

// Instruction decodes the instruction that a thread's topmost frame is at. It is nil if the code is
// neither in the dump nor in a known binary, if it does not decode, and for other CPUs.
func (r *Result) Instruction(thread int) *Instruction {
	c := threadContext(r.Dump, thread)
	if c == nil || c.Arch == nil || decoders[c.Arch] == nil {
		return nil
	}
	code, binary := r.code(c.PC())
	if len(code) == 0 {
		return nil
	}
	s := state{context: c, memory: &r.Dump.Memory, pc: c.PC()}
	in := decoders[c.Arch](&s, code)
	if in != nil {
		in.Binary, in.registers = binary, s.used
	}
	return in
}

// decoders decode an instruction; nil for bytes that do not decode.
var decoders = map[*arch.Arch]func(s *state, code []byte) *Instruction{
	arch.X86:    func(s *state, code []byte) *Instruction { return decodeX86(s, code, 32) },
	arch.X86_64: func(s *state, code []byte) *Instruction { return decodeX86(s, code, 64) },
	arch.ARM64:  decodeARM64,
}

// threadContext returns the registers from which a thread's stack is walked.
func threadContext(d *dump.Dump, thread int) *dump.Context {
	t := &d.Threads[thread]
	if d.Crash != nil && d.Crash.Thread == t.ID && d.Crash.Context != nil {
		return d.Crash.Context
	}
	return t.Context
}

// code returns the bytes from an address on, from the dump or else from the binary.
func (r *Result) code(pc uint64) (code []byte, binary bool) {
	if b := r.Dump.Memory.Bytes(pc, maxInstruction); len(b) > 0 {
		return b, false
	}
	i := r.Dump.ModuleAt(pc)
	if i < 0 || i >= len(r.Modules) || r.Modules[i].state == nil {
		return nil, false
	}
	// Binaries are local files: reading them needs no context.
	code = r.Modules[i].state.code(context.Background(), pc-r.Dump.Modules[i].Addr, maxInstruction)
	return slices.Clone(code), len(code) > 0 // they are the file's own
}

// state is the state of the process before an instruction.
type state struct {
	context *dump.Context
	memory  *dump.Memory
	pc      uint64
	used    []int // registers that were asked for
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
