package walk

import (
	"errors"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/walk/internal/cpu"
)

// CallAnswer says whether the instruction before an address is a call.
type CallAnswer uint8

// The answers. CallUnknown means that the code is not in the dump, or that its CPU or encoding is
// not supported.
const (
	CallUnknown = CallAnswer(cpu.CallUnknown)
	CallNo      = CallAnswer(cpu.CallNo)
	CallYes     = CallAnswer(cpu.CallYes)
)

// Step is a source's step from a frame to its caller.
type Step struct {
	By        Technique
	Row       *cfi.Row // nil if the source has no rules there
	Err       error    // why the caller is unknown
	Outermost bool     // the rules say that there is no caller
	CFA       uint64
	HasCFA    bool
	PC, SP    uint64
	Regs      *cfi.Regs // the caller's
	FPOnly    bool      // only the frame pointer's register is restored
	NoSP      bool      // the stack pointer is not restored
}

// IsLast reports whether the rules say in some way that the frame has no caller.
func (s *Step) IsLast() bool { return s.Outermost || s.Err == nil && s.PC < FirstPage }

// stepRegs returns registers for the step of a source. They are valid until the next frame's step.
func (m *machine) stepRegs(by Technique) *cfi.Regs {
	if m.stepped[by] == nil {
		m.stepped[by] = m.names.NewRegs()
	}
	return m.stepped[by]
}

// step evaluates the rules of a source on the registers u.in.
func (u *unwinder) step(r resolve.Symbols, by Technique, rva rva) Step {
	s := Step{By: by, FPOnly: by == BySFrame}
	row := u.rows.at(u.ctx, r, rva)
	if s.Row, s.Err = row.row, row.err; s.Row == nil || s.Err != nil {
		return s
	}
	s.Regs = u.stepRegs(by)
	if cfa, err := s.Row.CFA.Eval(u.in, u); err == nil {
		s.CFA, s.HasCFA = cfa, true
	}
	if s.Outermost = s.Row.RA.EndsStack(); s.Outermost {
		return s
	}
	err := s.Row.Caller(u.in, u, s.Regs)
	var fault *cfi.Error
	if errors.As(err, &fault) && fault.Kind == cfi.Undefined && fault.Rule == ".ra" {
		s.Outermost = true
		return s
	}
	if s.Err = err; err != nil {
		return s
	}
	s.PC, _ = s.Regs.Get(u.cpu.PC)
	s.SP, _ = s.Regs.Get(u.cpu.SP)
	s.PC = u.clean(s.PC)
	return s
}

// call reports whether an address of the process follows a call. On ARM its lowest bit, which
// selects the instruction set, is ignored. microMIPS is unknown.
func (u *unwinder) call(pc uint64) CallAnswer {
	if bit := u.cpu.Arch.ISABit; pc&bit != 0 {
		if !u.cpu.BothSets {
			return CallUnknown
		}
		pc &^= bit
	}
	if pc < FirstPage || u.d.ModuleAt(pc-1) < 0 && !u.isExecutable(pc-1) {
		return CallNo
	}
	var code []byte
	for n := cpu.MaxCall; n > 1 && code == nil; n-- { // fewer bytes where code begins nearby
		code = u.code(pc-uint64(n), n)
	}
	return CallAnswer(cpu.CallBefore(u.cpu.Arch, u.d.Memory.Order, code, pc, u.isCode))
}
