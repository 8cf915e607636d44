package walk

import (
	"context"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// Inspector examines the frames of a stack after the walk, using each source of rules separately.
// It must not be used while its Walker walks, or together with another of its Inspectors.
type Inspector struct {
	u     *unwinder
	steps []Step
}

// Inspect returns an Inspector for a stack walked by this Walker, or nil if the stack has no
// frames, which is the case without registers.
func (w *Walker) Inspect(ctx context.Context, r *Result, s *Stack) *Inspector {
	c := r.Dump.Registers(s.Thread)
	if c == nil || c.Arch == nil || len(s.Frames) == 0 {
		return nil
	}
	m := w.machine(c.Arch)
	return &Inspector{u: &unwinder{Walker: w, machine: m, ctx: ctx, result: r, d: r.Dump, stack: &Stack{}, in: m.regs[0], out: m.regs[1], entry: entryOf(r.Dump)}}
}

// Arch returns the CPU of the stack.
func (x *Inspector) Arch() *arch.Arch { return x.u.cpu.Arch }

// Names returns the registers that Steps computes.
func (x *Inspector) Names() *cfi.Names { return x.u.names }

// IsCode reports whether an address is in a module.
func (x *Inspector) IsCode(pc uint64) bool { return x.u.isCode(pc) }

// IsNowhere reports whether there is certainly no code at an address.
func (x *Inspector) IsNowhere(pc uint64) bool { return x.u.isNowhere(pc) }

// Call reports whether an address of the process follows a call.
func (x *Inspector) Call(pc uint64) CallAnswer { return x.u.call(pc) }

// ForeignStart reports whether a frame is in _start according to symbols from another build. The
// symbols are from another build if their _start is elsewhere than entry, where the process began.
func (x *Inspector) ForeignStart(f *Frame) (entry uint64, foreign bool) {
	return x.u.entry, x.u.isForeignStart(f)
}

// Steps computes the step from a frame of the stack for each source of rules that its module has,
// starting with the symbol file, and finally for the frame pointer if the function certainly
// maintains one. The steps are valid until the next call.
func (x *Inspector) Steps(f *Frame) []Step {
	u := x.u
	u.enter(f)
	x.steps = x.steps[:0]
	if u.module == nil {
		return nil
	}
	at := rva(f.Inst - u.d.Modules[f.Module].Addr)
	if s := u.module.symbolsFrom(u.ctx); s.resolver != nil && !s.binary {
		x.steps = append(x.steps, u.step(s.resolver, BySymbols, at))
	}
	for i, by := range [...]Technique{tableEHFrame: ByEHFrame, tableSFrame: BySFrame} {
		if r := u.module.rules(u.ctx, i).resolver; r != nil {
			x.steps = append(x.steps, u.step(r, by, at))
		}
	}
	if len(x.steps) == 0 {
		return nil
	}
	if s, ok := u.byPrologue(f); ok {
		x.steps = append(x.steps, s)
	}
	return x.steps
}

// enter makes f the current frame, whose caller is to be found.
func (u *unwinder) enter(f *Frame) {
	u.frame = f
	u.in.Reset()
	for _, r := range f.Registers {
		u.in.Set(cfi.Reg(r.Index), r.Value)
	}
	u.in.Set(u.cpu.PC, f.PC)
	u.in.Set(u.cpu.SP, f.SP)
	u.module = nil
	if f.Module >= 0 {
		u.module = u.stateOf(f.Module)
	} else {
		u.module = u.generatedAt(f.Inst)
	}
}

// ReturnAbove looks for a return address in the given number of words of the stack above a frame's
// stack pointer. If it finds none, the answer is CallUnknown if some word may be one but the dump
// lacks the code, and CallNo otherwise.
func (x *Inspector) ReturnAbove(f *Frame, words uint64) (pc, off uint64, answer CallAnswer) {
	u := x.u
	word := uint64(u.cpu.Arch.PtrSize)
	answer = CallNo
	own, hasOwn := u.chainWords() // where the frame's callee has saved its return address, in the frame itself
	for i := range words {
		if hasOwn && i == uint64(own) {
			continue
		}
		pc, ok := u.ReadWord(f.SP + i*word)
		if !ok {
			break
		}
		if pc = u.clean(pc); !u.isCode(pc) {
			continue
		}
		switch u.call(pc) {
		case CallYes:
			return pc, i * word, CallYes
		case CallUnknown:
			answer = CallUnknown
		}
	}
	return 0, 0, answer
}
