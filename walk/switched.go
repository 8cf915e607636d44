package walk

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/walk/coroutine"
	"github.com/symtool/symtool/walk/dump"
)

// switching is what a CPU says about functions that switch stacks.
type switching struct {
	call   int // length of a direct call
	target func(code []byte, addr uint64) (size int, kind insn.Kind, target uint64)
	effect insn.Effect
	entry  int64  // distance of the stack pointer from the CFA at a function's entry
	ra     uint8  // DWARF number of the register with the return address, if entry is 0
	saves  uint32 // DWARF numbers of the registers that functions preserve, and of ra
	stub   func(read func(addr uint64, n int) []byte, addr uint64) (slot uint64, ok bool)

	// A ucontext_t that glibc's functions have filled has a word at mark that says so, if seen from its own address.
	// mcontext is where the registers are in it, other than in the kernel's signal frame.
	// If they go on inside of the function that has saved them, back is the register with its return address.
	mark   uint64
	back   string
	isMark func(word, uc uint64) bool
}

// switchings are the CPUs on which stacks are found that a program has switched away from.
var switchings = map[*arch.Arch]*switching{
	arch.X86_64: {
		call: 5, target: insn.AMD64, effect: insn.FrameAMD64, entry: 8, saves: 1<<3 | 1<<6 | 0xf<<12, stub: stubAMD64,
		mark: 0xe0, isMark: func(word, uc uint64) bool { return word == uc+0x1a8 }, // fpregs points to the floating-point state in it
	},
	arch.ARM64: {
		call: 4, target: insn.ARM64, effect: insn.FrameARM64, ra: 30, saves: 0xfff << 19, stub: stubARM64,
		mark: 0x1d0, back: "x1", isMark: func(word, _ uint64) bool { return word == 528<<32|0x46508001 }, // the head of struct fpsimd_context
	},
}

// switches are the functions that switch stacks. Those of Boost.Context push what they preserve, and return the stack
// pointer; those of the C library save it in a ucontext_t.
var switches = map[string]coroutine.Kind{
	"jump_fcontext": coroutine.FContext, "ontop_fcontext": coroutine.FContext,
	"swapcontext": coroutine.UContext, "__swapcontext": coroutine.UContext,
}

// starters are the functions to which the first function of a context returns.
var starters = map[string]bool{"__start_context": true, "__startcontext": true, "make_fcontext": true}

// switched finds the stacks that a program has switched away from and that no thread uses.
type switched struct {
	*unwinder
	cpu      *switching
	size     uint64 // of a word
	lo, hi   uint64 // where modules are
	kinds    map[uint64]coroutine.Kind
	layouts  []insn.Stack              // of what functions of Boost.Context push
	after    map[uint64]coroutine.Kind // by address: whether it is that after a call of such a function
	contexts map[uint64]uint64         // addresses of ucontext_t
	pushed   map[uint64]pushedContext  // by the stack pointer
	held     map[uint64][]uint64       // where memory points to stack pointers
	dead     []dump.Range
	taken    map[uint64]bool         // stack pointers of frames on threads' stacks
	stacks   map[uint64][]savedStack // by the stack pointer of the last frame
}

// pushedContext is where Boost.Context has pushed registers.
type pushedContext struct {
	layout int
	pc     uint64
}

// savedStack is a stack with its first saved registers.
type savedStack struct {
	Stack
	sp uint64 // of the first frame
}

// These limit the contexts of a dump, and the pointers to one that are looked at.
const (
	maxSwitched = 1 << 16
	maxHolders  = 64
)

// findSwitched returns the stacks, in the order of their contexts' addresses. lost is the number of stacks of which
// several contexts are found.
func (w *Walker) findSwitched(ctx context.Context, res *Result) (list []Stack, lost int) {
	d := res.Dump
	how := switchings[d.Arch]
	if how == nil || !d.System.OS.IsLinux() || d.Memory.Order != binary.ByteOrder(binary.LittleEndian) {
		return nil, 0
	}
	m := w.machine(d.Arch)
	own := *d // with a thread about which nothing is known, for the stacks
	own.Threads = append(slices.Clip(d.Threads), dump.Thread{Context: dump.NewContext(d.Arch)})
	d = &own
	s := &switched{
		unwinder: &unwinder{Walker: w, machine: m, ctx: ctx, result: res, d: d, in: m.regs[0], out: m.regs[1], entry: entryOf(d)},
		cpu:      how, size: uint64(d.Arch.PtrSize), kinds: map[uint64]coroutine.Kind{}, after: map[uint64]coroutine.Kind{},
		contexts: map[uint64]uint64{}, pushed: map[uint64]pushedContext{}, held: map[uint64][]uint64{}, taken: map[uint64]bool{}, stacks: map[uint64][]savedStack{},
	}
	if s.findFunctions(); len(s.kinds) == 0 {
		return nil, 0
	}
	for i := range res.Stacks {
		s.noteThread(&res.Stacks[i])
	}
	s.scan()
	s.walkAll()
	for _, same := range s.stacks {
		switch same = slices.DeleteFunc(same, s.isOld); len(same) {
		case 0:
		case 1:
			list = append(list, same[0].Stack)
		default:
			lost++
		}
	}
	slices.SortFunc(list, func(a, b Stack) int { return cmp.Compare(a.Coroutine.Addr, b.Coroutine.Addr) })
	return list, lost
}

// findFunctions finds the functions that switch stacks, and what those of Boost.Context push.
func (s *switched) findFunctions() {
	s.lo = ^uint64(0)
	for i := range s.d.Modules {
		m := &s.d.Modules[i]
		s.lo, s.hi = min(s.lo, m.Addr), max(s.hi, m.Addr+m.Size)
		add := func(name string, at symfmt.RVA) {
			if kind, ok := switches[name]; ok {
				s.kinds[m.Addr+uint64(at)] = kind
			}
		}
		switch names := s.stateOf(i).names(s.ctx).(type) {
		case resolve.TableSymbols:
			names.EachSymbol(false, func(y *symfmt.TableSymbol) { add(string(y.Name), y.RVA) })
		case resolve.NamedSymbols:
			for name := range switches {
				for _, c := range names.Named(name) {
					add(name, c.Start)
				}
			}
		}
	}
	for addr, kind := range s.kinds {
		if kind != coroutine.FContext {
			continue
		}
		layout, ok := s.layoutOf(addr)
		if !ok {
			delete(s.kinds, addr)
		} else if !slices.Contains(s.layouts, layout) {
			s.layouts = append(s.layouts, layout)
		}
	}
}

// maxSwitch limits the instructions of a function before it switches stacks.
const maxSwitch = 64

// layoutOf returns what a function has pushed when it replaces the stack pointer.
func (s *switched) layoutOf(addr uint64) (before insn.Stack, ok bool) {
	f := insn.Enter(s.cpu.entry, s.cpu.saves)
	f.Listed = true
	for range maxSwitch {
		code := s.code(addr, maxInstruction)
		if code == nil {
			return before, false
		}
		before = f.Stack
		n, flow, _ := s.cpu.effect(code, addr, &f)
		if flow != insn.Next {
			return before, false
		}
		if !f.SPKnown {
			return before, s.cpu.entry != 0 || before.Saved>>s.cpu.ra&1 != 0
		}
		addr += uint64(n)
	}
	return before, false
}

// maxInstruction is the length of the longest instruction.
const maxInstruction = 15

// scan searches memory for contexts, and then for what points to those that are on stacks.
func (s *switched) scan() {
	for r := range coroutine.Regions(s.d) {
		for at, word := range r.Words(s.d, int(s.size)) {
			s.word(at, word)
		}
	}
	if len(s.pushed) == 0 {
		return
	}
	for r := range coroutine.Regions(s.d) {
		for at, word := range r.Words(s.d, int(s.size)) {
			if _, ok := s.pushed[word]; ok && !s.isDead(at) && len(s.held[word]) < maxHolders {
				s.held[word] = append(s.held[word], at)
			}
		}
	}
}

// word looks at a word of memory.
func (s *switched) word(at, word uint64) {
	if uc := at - s.cpu.mark; s.cpu.isMark(word, uc) && len(s.contexts) < maxSwitched && !s.isDead(uc) {
		s.contexts[uc] = uc
	}
	if word-s.lo >= s.hi-s.lo || len(s.layouts) == 0 || s.afterSwitch(word) != coroutine.FContext || len(s.pushed) >= maxSwitched {
		return
	}
	for i := range s.layouts {
		l := &s.layouts[i]
		cfa := at + s.size
		if s.cpu.entry == 0 {
			cfa = at - uint64(int64(l.At[s.cpu.ra]))
		}
		s.pushed[cfa-uint64(l.SP)] = pushedContext{i, word}
	}
}

// afterSwitch returns which kind of function is called before an address.
func (s *switched) afterSwitch(pc uint64) coroutine.Kind {
	kind, ok := s.after[pc]
	if ok {
		return kind
	}
	from := pc - uint64(s.cpu.call)
	if size, call, target := s.cpu.target(s.code(from, s.cpu.call), from); size == s.cpu.call && call == insn.Direct {
		if kind = s.kinds[target]; kind == 0 {
			if slot, ok := s.cpu.stub(s.code, target); ok {
				target, _ = s.d.Memory.Word(slot, int(s.size))
				kind = s.kinds[target]
			}
		}
	}
	s.after[pc] = kind
	return kind
}

// isDead reports whether an address is on the stack with which a thread began, below what the thread uses.
func (s *switched) isDead(addr uint64) bool {
	return slices.ContainsFunc(s.dead, func(r dump.Range) bool { return r.Contains(addr) })
}

// noteThread notes which frames a thread uses.
func (s *switched) noteThread(t *Stack) {
	for k := range t.Frames {
		s.taken[t.Frames[k].SP] = true
	}
	if len(t.Frames) > 0 {
		s.noteUnused(t)
	}
}

// noteUnused notes the memory below a stack with which a thread began.
func (s *switched) noteUnused(t *Stack) {
	last, sp := t.Frames[len(t.Frames)-1].Function(), t.Frames[0].SP
	if m := s.d.MappingAt(sp); m != nil && starts[last] && !starters[last] {
		s.dead = append(s.dead, dump.Range{Addr: m.Addr, Size: sp - m.Addr})
	}
}

// walkAll walks the stacks of the contexts that are found.
func (s *switched) walkAll() {
	s.budget = NewBudget(s.d)
	for _, uc := range slices.Sorted(maps.Keys(s.contexts)) {
		if s.enterUContext(uc) {
			s.walkFrom(uc, coroutine.UContext)
		}
	}
	for _, sp := range slices.Sorted(maps.Keys(s.held)) {
		if s.enterFContext(sp, s.pushed[sp]) {
			s.walkFrom(sp, coroutine.FContext)
		}
	}
}

// isOld reports whether only unused parts of stacks point to the saved registers of a stack.
func (s *switched) isOld(t savedStack) bool {
	addr := t.Coroutine.Addr
	if t.Coroutine.Kind == coroutine.UContext {
		return s.isDead(addr)
	}
	return !slices.ContainsFunc(s.held[addr], func(at uint64) bool { return !s.isDead(at) })
}

// enterUContext sets the registers to those in a ucontext_t, and reports whether they are those of a stack that
// swapcontext has left, or that has not begun.
func (s *switched) enterUContext(uc uint64) bool {
	l := &s.machine.cpu.Frames[0]
	f := Frame{}
	if !s.restore(l, uc-uint64(l.UC), &f) {
		return false
	}
	s.in, s.out = s.out, s.in
	if s.cpu.back != "" && s.kinds[s.startAt(f.PC)] == coroutine.UContext {
		f.PC, _ = s.in.Get(s.machine.cpu.Reg(s.cpu.back))
		s.in.Set(s.machine.cpu.PC, f.PC)
	}
	return s.afterSwitch(f.PC) == coroutine.UContext || s.isUnbegun(f.PC, f.SP)
}

// startAt returns the address of the function that contains an address, or 0.
func (s *switched) startAt(pc uint64) uint64 {
	if i := s.d.ModuleAt(pc); i >= 0 {
		return s.startOf(i, pc)
	}
	return 0
}

// isUnbegun reports whether a context is one of makecontext that has not begun: it is at the start of a function that
// returns to the C library.
func (s *switched) isUnbegun(pc, sp uint64) bool {
	ra, _ := s.ReadWord(sp)
	if s.cpu.entry == 0 {
		ra, _ = s.in.Get(s.machine.cpu.RA)
	}
	i := s.d.ModuleAt(ra)
	if i < 0 || !s.isFirst(pc) {
		return false
	}
	names := s.stateOf(i).names(s.ctx)
	if names == nil {
		return false
	}
	p := s.places.find(s.ctx, names, rva(ra-s.d.Modules[i].Addr))
	return p.found && p.err == nil && starters[p.at.Frames[len(p.at.Frames)-1].Function]
}

// enterFContext sets the registers to those that a function of Boost.Context has pushed.
func (s *switched) enterFContext(sp uint64, p pushedContext) bool {
	l := &s.layouts[p.layout]
	cfa := sp + uint64(l.SP)
	s.in.Reset()
	for saved := l.Saved; saved != 0; saved &= saved - 1 {
		number := bits.TrailingZeros32(saved)
		name, ok := s.d.Arch.RegName(uint64(number))
		v, read := s.ReadWord(cfa + uint64(int64(l.At[number])))
		if i, known := s.d.Arch.RegIndex(name); ok && read && known && number != int(s.cpu.ra) {
			s.in.Set(cfi.Reg(i), v)
		}
	}
	s.in.Set(s.machine.cpu.PC, p.pc)
	s.in.Set(s.machine.cpu.SP, cfa)
	return true
}

// walkFrom walks the stack whose registers are set, and keeps it unless a thread uses it.
func (s *switched) walkFrom(addr uint64, kind coroutine.Kind) {
	if s.budget.Exhausted() || s.ctx.Err() != nil {
		return
	}
	co := &coroutine.Coroutine{Frame: coroutine.Frame{Addr: addr}, Kind: kind, Awaiter: -1, Thread: -1}
	out := savedStack{Stack: Stack{Thread: len(s.d.Threads) - 1, Coroutine: co}}
	s.stack, s.frame, s.callee, s.jumps, s.callback = &out.Stack, nil, nil, 0, 0
	pc, _ := s.in.Get(s.machine.cpu.PC)
	out.sp, _ = s.in.Get(s.machine.cpu.SP)
	out.Frames = s.scratch[:0]
	s.push(&Frame{PC: s.clean(pc), SP: out.sp, Trust: TrustContext, By: ByContext})
	s.walk()
	last := out.Frames[len(out.Frames)-1].SP
	if out.Frames[0].IsEntry() { // as if the function, which has not begun, had its caller's frame below
		last = out.sp + uint64(s.cpu.entry)
	}
	s.keepFrames()
	if _, mapped := s.ReadWord(out.sp); mapped && !s.taken[last] && !s.isDead(out.sp) {
		s.stacks[last] = append(s.stacks[last], out)
		s.noteUnused(&out.Stack)
	}
}

// stubAMD64 returns the address of the pointer through which a stub of the procedure linkage table jumps.
func stubAMD64(read func(uint64, int) []byte, addr uint64) (slot uint64, ok bool) {
	code := read(addr, 16)
	n := 0
	for _, prefix := range []string{"\xf3\x0f\x1e\xfa", "\xf2"} { // endbr64, bnd
		if len(code) >= n+len(prefix) && string(code[n:n+len(prefix)]) == prefix {
			n += len(prefix)
		}
	}
	if len(code) < n+6 || code[n] != 0xff || code[n+1] != 0x25 {
		return 0, false
	}
	return addr + uint64(n+6) + uint64(int64(int32(binary.LittleEndian.Uint32(code[n+2:])))), true
}

// stubARM64 is like stubAMD64: adrp x16, page; ldr x17, [x16, offset].
func stubARM64(read func(uint64, int) []byte, addr uint64) (slot uint64, ok bool) {
	code := read(addr, 12)
	if len(code) < 12 {
		return 0, false
	}
	if binary.LittleEndian.Uint32(code) == 0xd503245f { // bti c
		addr, code = addr+4, code[4:]
	}
	adrp, ldr := binary.LittleEndian.Uint32(code), binary.LittleEndian.Uint32(code[4:])
	if adrp&0x9f00001f != 0x90000010 || ldr&0xffc003ff != 0xf9400211 {
		return 0, false
	}
	pages := int64(int32(adrp<<8)>>13)<<2 | int64(adrp>>29&3)
	return addr&^0xfff + uint64(pages<<12) + uint64(ldr>>10&0xfff)*8, true
}

// severalContexts is the problem of stacks whose context is not certain.
func severalContexts(n int) symfmt.Problem {
	return symfmt.Problem{Lost: fmt.Sprintf("%d suspended stacks", n), Err: &bin.Error{Msg: "memory has several contexts of a stack: which of them is in force is not certain"}}
}
