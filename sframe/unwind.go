package sframe

import "errors"

// Frame is the state of a frame that unwinding needs and returns for the caller (appendix
// A).
type Frame struct {
	PC, SP, FP uint64

	// Interrupted means that the frame did not make a call: it is the topmost one, or a
	// signal interrupted it. Then the rules at PC apply. Otherwise PC is after a call,
	// which may be the last instruction of its function, and the rules at PC-1 apply.
	Interrupted bool

	// Signed means that PC contains pointer authentication bits. The caller, which knows
	// which bits they are, must clear them before the next step.
	Signed bool
}

// Errors of Step, in addition to Find's.
var (
	ErrOutermost = errors.New("the frame has no caller")
	ErrMemory    = errors.New("a word of the stack cannot be read")
	ErrRegister  = errors.New("the rule needs a register whose value is not known")
	ErrStuck     = errors.New("the caller's stack pointer is not above the frame's")
)

// Step returns the frame's caller. regs returns registers of the topmost frame other than
// SP and FP; it must be nil for other frames, where they are unknown. mem returns the
// 8-byte word at an address; if it is nil, no word can be read, and a rule that needs one
// ends in ErrMemory. Step allocates nothing unless the section is damaged.
func (s *Section) Step(f Frame, regs func(Reg) (uint64, bool), mem func(addr uint64) (uint64, bool)) (Frame, error) {
	pc := f.PC
	if !f.Interrupted {
		pc--
	}
	i, row, err := s.Find(pc)
	if err != nil {
		return Frame{}, err
	}
	if row.Outermost() {
		return Frame{}, ErrOutermost
	}
	u := unwinder{f: f, abi: s.Header(i).ABI.info(), regs: regs, mem: mem}
	u.cfa = u.apply(row.CFA, CFA)
	next := Frame{
		PC: u.apply(row.RA, u.abi.ra), SP: u.cfa - uint64(u.abi.bias), FP: u.apply(row.FP, u.abi.fp),
		Interrupted: s.FDEs[i].Signal, Signed: row.Signed,
	}
	if u.err != nil {
		return Frame{}, u.err
	}
	if !moves(&f, &next, row.RA.Kind == Memory) {
		return Frame{}, ErrStuck
	}
	return next, nil
}

// moves reports whether unwinding makes progress. A leaf function may use no stack, but
// only the topmost frame can belong to one, as its return address is in a register. A
// signal may have been handled on another stack.
func moves(f, next *Frame, popped bool) bool {
	switch {
	case next.Interrupted:
		return next.SP != f.SP || next.PC != f.PC
	case popped:
		return next.SP > f.SP
	}
	return next.SP > f.SP || next.SP == f.SP && next.PC != f.PC
}

// unwinder evaluates the rules of a row.
type unwinder struct {
	f    Frame
	abi  *abi
	cfa  uint64
	regs func(Reg) (uint64, bool)
	mem  func(uint64) (uint64, bool)
	err  error // the first error
}

// apply computes the caller's value of a register.
func (u *unwinder) apply(r Rule, of Reg) uint64 {
	switch r.Kind {
	case Same:
		return u.reg(of)
	case Value:
		return u.reg(r.Reg) + uint64(r.Offset)
	case Memory:
		addr := u.reg(r.Reg) + uint64(r.Offset)
		if u.err != nil {
			return 0
		}
		if u.mem != nil {
			if v, ok := u.mem(addr); ok {
				return v
			}
		}
		u.err = ErrMemory
	default:
		u.err = ErrRegister
	}
	return 0
}

// reg returns the value of a register in the frame.
func (u *unwinder) reg(r Reg) uint64 {
	switch r {
	case CFA:
		return u.cfa
	case u.abi.sp:
		return u.f.SP
	case u.abi.fp:
		return u.f.FP
	}
	if u.regs != nil {
		if v, ok := u.regs(r); ok {
			return v
		}
	}
	if u.err == nil {
		u.err = ErrRegister
	}
	return 0
}
