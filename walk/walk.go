package walk

import (
	"context"
	"fmt"
	"slices"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/cpu"
)

func (w *Walker) machine(a *arch.Arch) *machine {
	m := w.cpus[a]
	if m == nil {
		names := cfi.NewNames(a)
		c := cpu.All[a]
		m = &machine{cpu: c, steps: stepsOf(c), names: names, rows: newRowCache(names)}
		m.regs = [2]*cfi.Regs{names.NewRegs(), names.NewRegs()}
		w.cpus[a] = m
	}
	return m
}

// Walk walks the stacks of a dump. It returns only errors of ctx.
func (w *Walker) Walk(ctx context.Context, d *dump.Dump) (*Result, error) {
	res := &Result{Dump: d, Modules: make([]Symbols, len(d.Modules))}
	goroutines := w.goroutines(ctx, res)
	d = res.Dump
	threads := w.threads(d)
	res.Stacks = make([]Stack, len(threads))
	w.budget = NewBudget(d)
	for _, k := range firstRequested(threads, d.RequestingThread()) {
		i := threads[k]
		s := Stack{Thread: i, End: EndWriter, Why: "the thread wrote the dump"}
		if w.config.Threads != nil || !d.HasWriter || d.Threads[i].ID != d.Writer {
			s = Stack{Thread: i}
			if i < len(goroutines) {
				s.Goroutine = &goroutines[i]
			}
			w.thread(ctx, res, &s)
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		res.Stacks[k] = s
	}
	if w.config.Coroutines {
		w.coroutines(ctx, res)
	}
	if len(res.problems) > 0 {
		d := *res.Dump
		d.Problems = slices.Concat(d.Problems, res.problems)
		res.Dump = &d
	}
	for i := range res.Modules {
		m := &res.Modules[i]
		if st := m.state; st != nil {
			s := st.symbolsFrom(ctx)
			m.Asked, m.Resolver, m.Tried, m.Err, m.Binary = true, s.resolver, s.tried, s.err, s.binary
			m.InDump = st.image != nil
			m.OtherBinaries = resolve.OtherModules(st.binary.Peek().tried)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return res, nil
}

// firstRequested returns the order in which threads are walked, as indices in threads. It is the
// order of that list, except that the thread that crashed or requested the dump comes first, before
// others can exhaust the budget.
func firstRequested(threads []int, requested int) []int {
	order := make([]int, 0, len(threads))
	for k, i := range threads {
		if i == requested {
			order = append(order, k)
		}
	}
	for k, i := range threads {
		if i != requested {
			order = append(order, k)
		}
	}
	return order
}

func (w *Walker) threads(d *dump.Dump) []int {
	if w.config.Threads != nil {
		return w.config.Threads(d)
	}
	all := make([]int, len(d.Threads))
	for i := range all {
		all[i] = i
	}
	return all
}

// thread walks the stack of s.Thread.
func (w *Walker) thread(ctx context.Context, res *Result, s *Stack) {
	c := res.Dump.Registers(s.Thread)
	if c == nil || c.Arch == nil {
		s.End, s.Why = EndNoContext, "the dump has no registers of the thread"
		return
	}
	if _, ok := c.Get(c.Arch.PC); !ok {
		s.End, s.Why = EndNoContext, "the dump has no program counter of the thread"
		return
	}
	m := w.machine(c.Arch)
	u := unwinder{Walker: w, machine: m, ctx: ctx, result: res, d: res.Dump, stack: s, in: m.regs[0], out: m.regs[1], entry: entryOf(res.Dump)}
	s.Frames = u.scratch[:0]
	u.begin(c)
	u.noteData()
	u.noteStack()
	if u.isKernels() {
		u.end(EndOutermost, "the thread has no code and no stack: it is a worker of the kernel's, as for io_uring")
		u.keepFrames()
		return
	}
	u.walk()
	if saved := s.savedElsewhere(u.runs()); saved != nil && !u.budget.Exhausted() && len(s.Frames) < w.config.MaxFrames {
		u.begin(saved)
		u.walk()
	}
	u.noteLacking()
	u.keepFrames()
}

// begin adds a frame with the registers of c.
func (u *unwinder) begin(c *dump.Context) {
	u.in.Reset()
	for k := range c.Arch.Regs {
		if v, ok := c.At(k); ok {
			u.in.Set(cfi.Reg(k), v)
		}
	}
	pc := c.PC()
	if clean := u.clean(pc); u.isCode(clean) {
		pc = clean // otherwise the value is kept as the program has it
	}
	u.push(&Frame{PC: pc, SP: c.SP(), Interrupted: true, Trust: TrustContext, By: ByContext})
}

// push adds a frame whose registers are u.in.
func (u *unwinder) push(f *Frame) {
	f.Inst = f.PC
	f.Interrupted = f.Interrupted || len(u.stack.Frames) > 0 && injected[u.frame.Function()]
	if !f.Interrupted {
		f.Inst -= u.cpu.Call
	}
	if !f.Interrupted && u.isHandlerReturn(f) {
		// The frame was not called, so the code before it belongs to another function.
		f.Handler, f.Inst = true, f.PC
	}
	if !f.Interrupted && !f.Handler && u.isFirst(f.PC) {
		f.Inst = f.PC // the code before it belongs to another function
	}
	u.in.Set(u.cpu.PC, f.PC)
	u.registers(f)
	u.locate(f)
	u.budget.Charge(f)
	u.growFrames()
	u.stack.Frames = append(u.stack.Frames, *f)
	n := len(u.stack.Frames)
	u.frame, u.callee = &u.stack.Frames[n-1], nil
	if n > 1 {
		u.callee = &u.stack.Frames[n-2]
	}
}

// locate finds the module and the function of a frame.
func (u *unwinder) locate(f *Frame) {
	u.module, u.rva = nil, 0
	f.Module = u.d.ModuleAt(f.Inst)
	base := uint64(0)
	if f.Module >= 0 {
		u.module, base = u.stateOf(f.Module), u.d.Modules[f.Module].Addr
	} else if u.module = u.generatedAt(f.Inst); u.module == nil {
		return
	}
	u.rva = rva(f.Inst - base)
	r := u.module.names(u.ctx)
	if r == nil {
		f.Data = f.Interrupted && f.Module >= 0 && u.inData(f, &place{})
		return
	}
	p := u.places.find(u.ctx, r, u.rva)
	if p.err != nil {
		u.note("%v", p.err)
	}
	if f.Data = f.Interrupted && f.Module >= 0 && u.inData(f, p); !p.found || f.Data {
		return
	}
	f.Source, f.Multiple, f.Guess = p.at.Source, p.at.Multiple, p.at.Guess
	f.Start, f.paramSize = base+uint64(p.at.Start), p.at.ParamSize
	if p.hasLine {
		f.LineStart = base + uint64(p.line)
	}
	f.Names = p.at.Frames
}

// stepsOf returns the functions of a CPU's techniques.
func stepsOf(c *cpu.CPU) []technique {
	functions := [...]technique{
		cpu.BySignalFrame: bySignalFrame, cpu.ByGoStack: byGoStack, cpu.BySymbols: bySymbols, cpu.ByEHFrame: byEHFrame, cpu.BySFrame: bySFrame, cpu.ByCode: byCode, cpu.ByWin: byWin,
		cpu.ByLeaf: byLeaf, cpu.ByReturn: byReturn, cpu.ByFramePointer: byFramePointer, cpu.ByScan: byScan,
	}
	steps := make([]technique, len(c.Techniques))
	for i, t := range c.Techniques {
		steps[i] = functions[t]
	}
	return steps
}

// walk walks to the end of the stack.
func (u *unwinder) walk() {
	for {
		if u.ctx.Err() != nil {
			return
		}
		if len(u.stack.Frames) >= u.config.MaxFrames {
			u.end(EndLimit, "%d frames", len(u.stack.Frames))
			return
		}
		if u.budget.Exhausted() {
			u.end(EndBudget, "%s", u.budget.why())
			return
		}
		if u.isStart() {
			what := "threads begin"
			if schedulers[runtimeFunction(u.frame)] {
				what = "Go's runtime begins to use the stack of a thread"
			}
			u.end(EndStart, "%s is where %s", u.where(), what)
			return
		}
		if !u.caller() {
			return
		}
		u.in, u.out = u.out, u.in
		u.push(&u.next)
	}
}

// caller tries the techniques in the CPU's order.
func (u *unwinder) caller() bool {
	refused := ""
	u.cfa, u.lacks = 0, ""
	for _, try := range u.steps {
		f := &u.next
		*f = Frame{}
		u.out.Reset()
		u.reads, u.held = 0, false
		switch try(u, f) {
		case outermost:
			u.end(EndOutermost, "%s has no caller, by its rules or its frame pointer", u.where())
			return false
		case found:
			f.PC = u.clean(f.PC)
			if !f.Interrupted && u.isNowhere(f.PC) {
				refused = fmt.Sprintf(": by %v the return address is %#x, which is not code", f.By, f.PC)
				u.note("%v: %#x is not the address of code", f.By, f.PC)
				continue
			}
			if f.PC < FirstPage && (!f.Interrupted || f.SP < FirstPage) { // a signal may interrupt a call of a null pointer
				u.end(EndZero, "the return address is %#x", f.PC)
				return false
			}
			if u.invents(f) {
				u.end(EndStuck, "by %v, the caller's program counter is %#x, and nothing was read from the stack", f.By, f.PC)
				return false
			}
			if !u.moves(f) {
				u.end(EndStuck, "by %v, the caller's stack pointer is %#x, the frame's %#x", f.By, f.SP, u.frame.SP)
				return false
			}
			u.countLacking(f)
			if u.config.Trace {
				u.note("frame %d: pc %#x sp %#x by %v", len(u.stack.Frames), f.PC, f.SP, f.By)
			}
			return true
		}
	}
	if _, ok := u.ReadWord(u.frame.SP); !ok {
		u.end(EndNoMemory, "the dump does not hold the stack at %#x", u.frame.SP)
		return false
	}
	u.countLacking(&Frame{})
	u.end(EndNothing, "no technique finds a caller of %s%s", u.where(), refused)
	return false
}

// maxJumps is the number of times that a stack may continue at the same address, or at a lower one,
// for instance if a signal handler has its own stack.
const maxJumps = 64

// invents reports whether rules give a caller without a source for it: the function has made a
// call, but the rules read neither the stack nor a register that contains an address after a call.
func (u *unwinder) invents(f *Frame) bool {
	byRules := f.By == BySymbols || f.By == ByEHFrame || f.By == BySFrame || f.By == ByCode
	return byRules && u.reads == 0 && !u.frame.Interrupted && !f.Interrupted && !(u.held && u.isReturn(f.PC))
}

// moves reports whether a caller brings the walk closer to its end: its stack pointer is at least a
// word above the frame's, or equal if the function has nothing on the stack. After a signal it may
// be anywhere.
func (u *unwinder) moves(f *Frame) bool {
	if f.SP > u.frame.SP && f.SP-u.frame.SP >= uint64(u.cpu.Arch.PtrSize) {
		return true
	}
	if !f.Interrupted && f.By != ByGoStack && !u.stays(f) {
		return false
	}
	u.jumps++
	return u.jumps <= maxJumps
}

// stays reports whether a frame and its caller may legitimately have the same stack pointer. In
// that case the return address is in a register, on any CPU. On CPUs whose calls leave it in one, a
// function may also save it in its caller's frame, but has to move the stack pointer before it
// calls.
func (u *unwinder) stays(f *Frame) bool {
	return f.SP == u.frame.SP && f.PC != u.frame.PC && (u.held || u.frame.Interrupted && u.cpu.Arch.RA != "")
}
