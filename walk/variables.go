package walk

import (
	"context"
	"fmt"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/eval"
)

// Variables evaluates the parameters and local variables of the frames of a Result. It reads symbols and computes
// values on demand, so the dump and the SymbolSet must stay open. It must not be used concurrently.
type Variables struct {
	ctx    context.Context
	result *Result
	names  map[*arch.Arch]*cfi.Names
	tails  map[int]*tailCalls // by module; nil for a module without variables

	reenters map[uint64]bool // results of mayReenter, by address of a function

	stack  int
	frames map[int]*eval.Frame // of the last stack requested; nil for a frame without variables
}

// Variables returns the variables of the result. If ctx ends, symbols are no longer read.
func (r *Result) Variables(ctx context.Context) *Variables {
	return &Variables{ctx: ctx, result: r, names: map[*arch.Arch]*cfi.Names{}, tails: map[int]*tailCalls{}, reenters: map[uint64]bool{}, stack: -1}
}

// MemorySize returns the size of the dump's memory in bytes.
func (v *Variables) MemorySize() (size uint64) {
	for _, r := range v.result.Dump.Memory.Regions {
		size += uint64(len(r.Data))
	}
	return size
}

// Of returns the variables of frame i of Result.Stacks[stack], and the frame from which they were computed. The
// variables are indexed like Frame.Names, those of the innermost scope first. Both results are nil if the symbols
// have none.
func (v *Variables) Of(stack, i int) (*eval.Frame, [][]eval.Variable) {
	if stack != v.stack {
		v.stack, v.frames = stack, map[int]*eval.Frame{}
	}
	f := v.frame(i)
	if f == nil {
		return nil, nil
	}
	n := len(v.result.Stacks[stack].Frames[i].Names)
	all := make([][]eval.Variable, n)
	for k := range all {
		all[k] = f.Depth(n - 1 - k)
	}
	return f, all
}

// frame returns the frame from which a frame's variables are computed, or nil if it has none.
func (v *Variables) frame(i int) *eval.Frame {
	f, ok := v.frames[i]
	if !ok {
		f = v.newFrame(i)
		v.frames[i] = f
	}
	return f
}

func (v *Variables) newFrame(i int) *eval.Frame {
	f := &v.result.Stacks[v.stack].Frames[i]
	if f.Module < 0 || f.Source != resolve.Func {
		return nil
	}
	module := &v.result.Modules[f.Module]
	found := module.state.variables(v.ctx)
	module.VarsProblems = found.problems
	info := found.info
	if info == nil {
		return nil
	}
	base := v.result.Dump.Modules[f.Module].Addr
	at := symfmt.RVA(f.Inst - base)
	if f.Inst != f.PC {
		at = symfmt.RVA(f.PC - base - 1) // location ranges that a call invalidates end at its last byte
	}
	e := &eval.Frame{
		Arch: v.result.Dump.Registers(v.result.Stacks[v.stack].Thread).Arch, Order: v.result.Dump.Memory.Order, Memory: v.result.Dump.Tagged(),
		Info: info, Base: base, Func: info.Func(at),
		Register: func(reg int) ([]byte, bool) { return v.register(i, reg) },
		CFA:      func() (uint64, bool) { return v.cfa(i) },
		TLS: func(offset uint64) (uint64, string) {
			return tlsAddress(v.result.Dump, v.result.Stacks[v.stack].Thread, f.Module, offset)
		},
		Caller: func() (*eval.Frame, vars.CallSite, error) { return v.caller(i) },
	}
	inlines, err := found.symbols.Inlines(at)
	if err != nil {
		module.damaged(err)
		return nil
	}
	e.Scopes = info.At(at, inlines)
	return e
}

// known reports whether the registers of a frame are known. If a frame was found by scanning the stack, its
// registers are guesses, like the frame.
func (f *Frame) known() bool { return f.Trust != TrustScan && f.Trust != TrustCFIScan }

// register returns the value of a frame's register, in the byte order of memory.
func (v *Variables) register(i, reg int) ([]byte, bool) {
	s := &v.result.Stacks[v.stack]
	f := &s.Frames[i]
	if !f.known() {
		return nil, false
	}
	c := v.result.Dump.Registers(s.Thread)
	value, ok := f.Register(reg)
	if !ok && i == 0 {
		if b := c.Bytes(reg); b != nil {
			return b, true
		}
		value, ok = c.At(reg)
	}
	if !ok {
		return nil, false
	}
	b := make([]byte, 8)
	order := v.result.Dump.Memory.Order
	if c.Arch.PtrSize == 4 {
		order.PutUint32(b, uint32(value))
		return b[:4], true
	}
	order.PutUint64(b, value)
	return b, true
}

// cfa returns the canonical frame address of a frame, by the rules of its function.
func (v *Variables) cfa(i int) (uint64, bool) {
	f := &v.result.Stacks[v.stack].Frames[i]
	if !f.known() {
		return 0, false
	}
	a := v.result.Dump.Registers(v.result.Stacks[v.stack].Thread).Arch
	names := v.names[a]
	if names == nil {
		names = cfi.NewNames(a)
		v.names[a] = names
	}
	row := v.row(f, names)
	if row == nil || row.CFA.IsZero() {
		return 0, false
	}
	regs := names.NewRegs()
	for _, r := range f.Registers {
		regs.Set(cfi.Reg(r.Index), r.Value)
	}
	cfa, err := row.CFA.Eval(regs, words{&v.result.Dump.Memory, a.PtrSize})
	return cfa, err == nil
}

// row returns the rules in force for a frame, from its symbols or else from its binary, or nil.
func (v *Variables) row(f *Frame, names *cfi.Names) *cfi.Row {
	state := v.result.Modules[f.Module].state
	at := symfmt.RVA(f.Inst - v.result.Dump.Modules[f.Module].Addr)
	for _, from := range []func() resolve.Symbols{
		func() resolve.Symbols { return state.resolver(v.ctx) },
		func() resolve.Symbols { return state.rules(v.ctx, tableEHFrame).resolver },
		func() resolve.Symbols { return state.rules(v.ctx, tableSFrame).resolver },
	} {
		r := from()
		if r == nil {
			continue
		}
		if rules, err := r.Rules(v.ctx, at, names); rules != nil && err == nil {
			return &rules.Row
		}
	}
	return nil
}

// words implements cfi.Memory with the memory of a dump.
type words struct {
	memory *dump.Memory
	size   int
}

// ReadWord implements cfi.Memory.
func (w words) ReadWord(addr uint64) (uint64, bool) { return w.memory.Word(addr, w.size) }

// caller returns the frame that called frame i, and the call site.
func (v *Variables) caller(i int) (*eval.Frame, vars.CallSite, error) {
	frames := v.result.Stacks[v.stack].Frames
	if frames[i].Handler || i+1 >= len(frames) || frames[i+1].Interrupted || !frames[i+1].known() {
		return nil, vars.CallSite{}, eval.ErrNoCallSite
	}
	callee, caller := v.frame(i), v.frame(i+1)
	if caller == nil {
		return nil, vars.CallSite{}, eval.ErrNoCallSite
	}
	site, ok := caller.Info.CallSite(symfmt.RVA(frames[i+1].PC - caller.Base))
	if !ok {
		return nil, vars.CallSite{}, eval.ErrNoCallSite
	}
	return v.through(i, callee, caller, site)
}

// Symbol returns the symbol that contains an address, with the offset from its start, or else its module with the
// offset from its base: "prog!main + 0x10". It returns "" outside modules. A PUBLIC has no size, so it counts only
// at its start: data follow the last PUBLIC.
func (v *Variables) Symbol(addr uint64) string {
	i := v.result.Dump.ModuleAt(addr)
	if i < 0 {
		return ""
	}
	m := &v.result.Dump.Modules[i]
	name := v.result.Dump.System.OS.Base(m.Path)
	if state := v.result.Modules[i].state; state != nil {
		if r := state.names(v.ctx); r != nil {
			var at resolve.Location
			if ok, err := resolve.Find(v.ctx, r, symfmt.RVA(addr-m.Addr), &at); ok && err == nil && len(at.Frames) > 0 && (at.Source == resolve.Func || at.Offset == 0) {
				name += "!" + at.Frames[len(at.Frames)-1].Function
				addr, m = at.Offset, &dump.Module{}
			}
		}
	}
	if addr == m.Addr {
		return name
	}
	return fmt.Sprintf("%s + %#x", name, addr-m.Addr)
}
