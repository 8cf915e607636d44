package walk

import (
	"context"
	"errors"
	"slices"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk/coroutine"
	"github.com/symtool/symtool/walk/dump"
)

var errNoCoroutines = errors.New("no memory holds the frame of a coroutine whose functions have symbols, or a context that swapcontext or Boost.Context has saved")

// coroutines replaces the stacks of a result by those of its coroutines, and of the thread that crashed or requested
// the dump. If there are no coroutines, the dump gets a problem and the result keeps its stacks.
func (w *Walker) coroutines(ctx context.Context, res *Result) {
	d := *res.Dump
	res.Dump = &d
	c := coroutines{Walker: w, ctx: ctx, res: res, layouts: map[uint64]*coroutine.Layout{}}
	c.follower = coroutine.NewFollower(&d, c.code)
	if d.Arch != nil {
		c.find()
	}
	more, lost := w.findSwitched(ctx, res)
	if lost > 0 {
		d.Problems = append(slices.Clip(d.Problems), severalContexts(lost))
	}
	if len(c.all) == 0 && len(more) == 0 {
		if ctx.Err() == nil {
			d.Problems = append(slices.Clip(d.Problems), symfmt.Problem{Lost: "coroutines", Err: errNoCoroutines})
		}
		return
	}
	c.replaceStacks(more)
}

// coroutines are the coroutines of a dump while their stacks are made.
type coroutines struct {
	*Walker
	ctx     context.Context
	res     *Result
	all     []coroutine.Coroutine
	layouts map[uint64]*coroutine.Layout // by the function that destroys; nil if unknown
	likely  map[int]map[rva]bool         // functions of modules with a table of symbols
	makers  map[uint64]uint64            // by the function that resumes: clang's function that makes the coroutine
	points  map[uint64]*suspensions      // by the function that resumes
	running map[int]*Frame               // the frames of those that a thread runs
	inUse   map[uint64]uint64            // by the address of a region that is a stack: the lowest stack pointer of a thread

	follower *coroutine.Follower
	u        *unwinder     // of the stack that is being made
	own      []dump.Region // what their functions would have written to a stack
}

// find finds the coroutines, and who waits for whom.
func (c *coroutines) find() {
	c.likely, c.makers, c.points = map[int]map[rva]bool{}, map[uint64]uint64{}, map[uint64]*suspensions{}
	for _, f := range coroutine.Scan(c.res.Dump, c.function) {
		co := coroutine.Coroutine{Frame: f, Kind: coroutine.CXX20, Layout: c.layout(&f), Awaiter: -1, Thread: -1}
		if c.isCopy(&co) {
			continue
		}
		if f.Finished() {
			c.res.FinishedCoroutines++
		}
		c.all = append(c.all, co)
	}
	c.findRunning()
	c.findInUse()
	n := len(c.all)
	if c.all = slices.DeleteFunc(c.all, c.isSpill); len(c.all) < n {
		c.findRunning() // their indices have changed
	}
	coroutine.SetAwaiters(c.res.Dump, c.all)
}

// isCopy reports whether the memory is not that of a frame of GCC, which has its own address.
func (c *coroutines) isCopy(co *coroutine.Coroutine) bool {
	if co.Layout == nil || co.Layout.Self == 0 {
		return false
	}
	self, ok := c.res.Dump.Memory.Word(co.Addr+co.Layout.Self, c.res.Dump.Arch.PtrSize)
	return ok && self != co.Addr
}

// isSpill reports whether the two functions are on a thread's stack and nothing else speaks for a frame: code that makes
// coroutines may keep the addresses there.
func (c *coroutines) isSpill(co coroutine.Coroutine) bool {
	region := c.res.Dump.Memory.Find(co.Addr)
	if region == nil {
		return false
	}
	sp, ok := c.inUse[region.Addr]
	return ok && co.Addr >= sp && co.Thread < 0 && c.follower.Point(&co.Frame, co.Layout) == nil
}

// findInUse finds the regions of memory that threads use as stacks.
func (c *coroutines) findInUse() {
	d := c.res.Dump
	c.inUse = map[uint64]uint64{}
	for i := range d.Threads {
		r := d.Registers(i)
		if r == nil {
			continue
		}
		if region := d.Memory.Find(r.SP()); region != nil {
			if sp, ok := c.inUse[region.Addr]; !ok || r.SP() < sp {
				c.inUse[region.Addr] = r.SP()
			}
		}
	}
}

// function returns what the function that begins at an address does with a coroutine.
func (c *coroutines) function(addr uint64) (coroutine.Role, coroutine.Function) {
	i := c.res.Dump.ModuleAt(addr)
	if i < 0 {
		return coroutine.NoRole, coroutine.Function{}
	}
	names, at := c.moduleState(c.res, i).names(c.ctx), rva(addr-c.res.Dump.Modules[i].Addr)
	if names == nil || !c.isLikely(i, names, at) {
		return coroutine.NoRole, coroutine.Function{}
	}
	var l resolve.Location
	if ok, err := resolve.Find(c.ctx, names, at, &l); !ok || err != nil || l.Offset != 0 || len(l.Frames) == 0 {
		return coroutine.NoRole, coroutine.Function{}
	}
	role, of := coroutine.RoleOf(l.Frames[len(l.Frames)-1].Function)
	return role, coroutine.Function{Module: i, Of: of}
}

// isLikely reports whether a function has the name of a coroutine's in the table of symbols, if there is one. It saves
// reading the debug information of all functions whose addresses are in memory.
func (c *coroutines) isLikely(module int, names resolve.Symbols, at rva) bool {
	t, ok := names.(resolve.TableSymbols)
	if !ok {
		return true
	}
	if c.likely[module] == nil {
		c.likely[module] = c.readTable(c.res.Dump.Modules[module].Addr, t)
	}
	return c.likely[module][at]
}

// readTable returns the functions of coroutines in a table of symbols, and sets makers.
func (c *coroutines) readTable(base uint64, t resolve.TableSymbols) map[rva]bool {
	found, resumes := map[rva]bool{}, map[string]rva{}
	t.EachSymbol(false, func(s *symfmt.TableSymbol) {
		role, of := coroutine.RoleOf(string(s.Name))
		if role != coroutine.NoRole {
			found[s.RVA] = true
		}
		if role == coroutine.Resumes {
			resumes[of] = s.RVA
		}
	})
	t.EachSymbol(false, func(s *symfmt.TableSymbol) {
		if at, ok := resumes[string(s.Name)]; ok {
			c.makers[base+uint64(at)] = base + uint64(s.RVA)
		}
	})
	return found
}

// layout returns the layout of a frame, or nil.
func (c *coroutines) layout(f *coroutine.Frame) *coroutine.Layout {
	l, ok := c.layouts[f.Destroy]
	if ok {
		return l
	}
	for _, at := range []uint64{f.Destroy, f.Resume} {
		i := c.res.Dump.ModuleAt(at)
		if i < 0 || l != nil {
			continue
		}
		found := c.moduleState(c.res, i).variables(c.ctx)
		if c.res.Modules[i].VarsProblems = found.problems; found.info == nil {
			continue
		}
		fn := found.info.Func(symfmt.RVA(at - c.res.Dump.Modules[i].Addr))
		if known, ok := coroutine.LayoutOf(found.info, fn, c.res.Dump.Arch.PtrSize); ok {
			l = &known
		}
	}
	if l != nil || !f.Finished() {
		c.layouts[f.Destroy] = l
	}
	return l
}

// findRunning finds the coroutines that threads run: a frame of the coroutine's function has the coroutine's address in
// a register or on its stack. Their numbers of the suspension point are those of the last time.
func (c *coroutines) findRunning() {
	at := map[uint64]int{}
	for i := range c.all {
		at[c.all[i].Addr], c.all[i].Thread = i, -1
	}
	c.running = map[int]*Frame{}
	for i := range c.res.Stacks {
		s := &c.res.Stacks[i]
		for k := range s.Frames {
			c.findRun(s, k, at)
		}
	}
}

// maxRunFrame limits how much of a stack's frame is searched for a coroutine.
const maxRunFrame = 1 << 16

// findRun finds the coroutines that frame k of a stack runs.
func (c *coroutines) findRun(s *Stack, k int, at map[uint64]int) {
	f := &s.Frames[k]
	_, of := coroutine.RoleOf(f.Function())
	run := func(word uint64) {
		i, ok := at[word]
		if !ok || c.all[i].Thread >= 0 || c.all[i].Finished() {
			return
		}
		if role, own := c.function(c.all[i].Destroy); role == coroutine.Destroys && own.Module == f.Module && (own.Of == of || own.Of == f.Function()) {
			c.all[i].Thread, c.running[i] = s.Thread, f
		}
	}
	if f.Module < 0 || len(f.Names) == 0 {
		return
	}
	for _, r := range f.Registers {
		run(r.Value)
	}
	if k+1 < len(s.Frames) {
		size := uint64(c.res.Dump.Arch.PtrSize)
		for a := f.SP; a < s.Frames[k+1].SP && a-f.SP < maxRunFrame; a += size {
			if word, ok := c.res.Dump.Memory.Word(a, int(size)); ok {
				run(word)
			}
		}
	}
}

// replaceStacks makes the stacks. Each begins with a coroutine that no other waits for to finish: the frames are the
// coroutines that go on one after the other. Coroutines that wait for each other in a circle have a stack for it.
func (c *coroutines) replaceStacks(more []Stack) {
	d := c.res.Dump
	threads := d.Threads
	old := c.res.Stacks
	requested := d.RequestingThread()
	c.u = &unwinder{Walker: c.Walker, machine: c.machine(d.Arch), ctx: c.ctx, result: c.res, d: d}
	c.u.in, c.u.out = c.u.regs[0], c.u.regs[1]
	c.budget = NewBudget(d)
	d.Threads, c.res.Stacks = nil, nil
	shown := make([]bool, len(c.all))
	for _, i := range c.firsts() {
		c.stack(i, shown)
	}
	for i := range c.all { // circles
		if !shown[i] && !c.all[i].Finished() {
			c.stack(i, shown)
		}
	}
	for _, s := range more {
		c.add(s)
	}
	for i := range old {
		if old[i].Thread == requested {
			old[i].Thread = len(d.Threads)
			d.Threads = append(d.Threads, threads[requested])
			c.res.Stacks = append(c.res.Stacks, old[i])
		}
	}
	d.Memory.Regions = append(slices.Clip(d.Memory.Regions), c.own...)
	d.Memory = withMore(dump.NewMemory(d.Memory.Order, d.Memory.Regions), d.Memory.More)
}

func withMore(m dump.Memory, more func(uint64) *dump.Region) dump.Memory {
	m.More = more
	return m
}

// firsts returns the coroutines that have not finished and that no other coroutine lets go on.
func (c *coroutines) firsts() (all []int) {
	awaits := make([]bool, len(c.all))
	for i := range c.all {
		if a := c.all[i].Awaiter; a >= 0 {
			awaits[a] = true
		}
	}
	for i := range c.all {
		if !awaits[i] && !c.all[i].Finished() {
			all = append(all, i)
		}
	}
	return all
}

// stack adds the stack that begins with a coroutine.
func (c *coroutines) stack(first int, shown []bool) {
	s := Stack{Coroutine: &c.all[first]}
	c.u.stack = &s
	seen := map[int]bool{}
	for i := first; ; i = c.all[i].Awaiter {
		co := &c.all[i]
		if seen[i] {
			c.u.end(EndStuck, "the coroutines wait for each other in a circle: after the last comes that at %#x", co.Addr)
			break
		}
		if len(s.Frames) >= c.config.MaxFrames {
			c.u.end(EndLimit, "%d frames", len(s.Frames))
			break
		}
		if c.budget.Exhausted() {
			c.u.end(EndBudget, "%s", c.budget.why())
			break
		}
		seen[i], shown[i] = true, true
		c.push(i)
		if co.Awaiter < 0 {
			c.endOf(co)
			break
		}
	}
	c.add(s)
}

// add adds a stack, with a thread for it.
func (c *coroutines) add(s Stack) {
	s.Thread = len(c.res.Dump.Threads)
	t := dump.Thread{Context: dump.NewContext(c.res.Dump.Arch)}
	c.res.Dump.Threads, c.res.Stacks = append(c.res.Dump.Threads, t), append(c.res.Stacks, s)
}

// endOf says why a stack ends with a coroutine.
func (c *coroutines) endOf(co *coroutine.Coroutine) {
	switch {
	case co.Layout == nil:
		c.u.end(EndNothing, "the symbols do not have the type of the frame: which coroutine waits for this one is not known")
	case co.Several:
		c.u.end(EndNothing, "the promise has handles of several coroutines: which one waits for this one is not known")
	default:
		c.u.end(EndOutermost, "the promise has no handle of another coroutine")
	}
}

// push adds the frame of a coroutine.
func (c *coroutines) push(i int) {
	u, co := c.u, &c.all[i]
	f := Frame{PC: co.Resume, SP: co.Addr, Interrupted: true, Trust: TrustContext, By: ByCoroutine}
	point := (*coroutine.Point)(nil)
	if run := c.running[i]; run != nil {
		f = *run
		f.SP, f.By = co.Addr, ByCoroutine
	} else {
		point = c.follower.Point(&co.Frame, co.Layout)
		c.enter(&f, point)
		u.locate(&f)
	}
	if n := len(f.Names); n > 0 {
		f.Names = f.Names[n-1:] // what was inlined where it goes on has not been called
		if c.running[i] == nil {
			line := c.line(co, point)
			f.Names, f.LineStart = []resolve.Frame{{Function: f.Names[0].Function, File: line.File, Line: line.Line}}, f.PC
		}
	}
	c.budget.Charge(&f)
	u.stack.Frames = append(u.stack.Frames, f)
}

// enter sets the registers with which the function of a coroutine goes on.
func (c *coroutines) enter(f *Frame, p *coroutine.Point) {
	if p != nil {
		f.PC = p.PC
		c.own = append(c.own, p.Stack...)
		if r := p.Registers; r != nil && len(c.u.stack.Frames) < maxWithRegisters {
			for k := range r.Arch.Regs {
				if v, ok := r.At(k); ok {
					f.Registers = append(f.Registers, Register{int16(k), v})
				}
			}
		}
	}
	f.Inst = f.PC
}

// code returns code or constants of a module, from the dump or else from its binary.
func (c *coroutines) code(addr uint64, n int) []byte {
	for ; n > 0; n-- { // fewer where the section ends
		if b := c.res.Dump.Memory.Bytes(addr, n); len(b) == n {
			return b
		}
		i := c.res.Dump.ModuleAt(addr)
		if i < 0 {
			continue
		}
		if b := c.moduleState(c.res, i).loaded(c.ctx, addr-c.res.Dump.Modules[i].Addr, n); len(b) > 0 {
			return b
		}
	}
	return nil
}
