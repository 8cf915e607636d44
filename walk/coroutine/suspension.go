package coroutine

import (
	"maps"
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// Point is where a suspended coroutine goes on: the state that its function would reach if it were called now.
// Registers is nil for points beyond many thousands.
type Point struct {
	PC        uint64
	Registers *dump.Context // those that are known
	Stack     []dump.Region // what the function has written to its stack
}

// Code returns up to n bytes of code or constants of a module at an address.
type Code func(addr uint64, n int) []byte

// stackTop is where the stacks of the functions that resume are assumed, each below the one before. No process has
// memory there: the upper half of the address space is the kernel's.
const stackTop = 0xffff_f000_0000_0000

// Follower finds where the coroutines of a dump are suspended. It follows the instructions of the function that resumes
// a coroutine to the place that the number of the suspension point selects. So it needs no description of these points,
// which GCC does not write, and clang only since LLVM 20.
//
// Where the instructions cannot be followed that far, other numbers lead to the same place: then nothing is certain.
type Follower struct {
	d       *dump.Dump
	code    Code
	places  map[place]uint64 // where the function goes on; 0 if that is not certain
	steps   int              // how many instructions may still be executed for places
	points  int              // how many points may still be returned with registers
	decoded map[uint64]x86asm.Inst
}

// place is a suspension point of a function.
type place struct{ resume, index uint64 }

// These limit the work for a dump.
const (
	maxPlaceSteps = 20_000_000
	maxPoints     = 1 << 16
	maxDecoded    = 1 << 16
)

// NewFollower returns a Follower for a dump.
func NewFollower(d *dump.Dump, code Code) *Follower {
	return &Follower{d: d, code: code, places: map[place]uint64{}, decoded: map[uint64]x86asm.Inst{}, steps: maxPlaceSteps, points: maxPoints}
}

// Point returns where a coroutine is suspended, or nil if that is not certain.
func (w *Follower) Point(f *Frame, l *Layout) *Point {
	if w.d.Arch != arch.X86_64 || f.Finished() {
		return nil
	}
	index, ok := w.Index(f, l)
	if !ok {
		return nil
	}
	key := place{f.Resume, index}
	pc, ok := w.places[key]
	if !ok && w.steps > 0 {
		pc = w.certain(f, l, index)
		w.places[key] = pc
	}
	if pc == 0 {
		return nil
	}
	if w.points--; w.points >= 0 {
		if m := w.follow(f, l, index); m != nil && m.at.pc == pc {
			return m.point()
		}
	}
	return &Point{PC: pc}
}

// certain returns where a function goes on at a suspension point, or 0 if that is not certain.
func (w *Follower) certain(f *Frame, l *Layout, index uint64) uint64 {
	m := w.follow(f, l, index)
	if m == nil {
		return 0
	}
	for _, other := range others(index, l.IndexStep) {
		if o := w.follow(f, l, other); o != nil && o.at.pc == m.at.pc {
			return 0
		}
	}
	return m.at.pc
}

// follow executes the function that resumes a coroutine with a number of the suspension point.
func (w *Follower) follow(f *Frame, l *Layout, index uint64) *machine {
	m := &machine{d: w.d, code: w.code, decoded: w.decoded, memory: map[uint64]value{}, top: stackTop - maxStack*uint64(maxPoints-w.points)}
	m.index = dump.Range{Addr: f.Addr + l.Index.Addr, Size: l.Index.Size}
	for i := range l.Index.Size {
		m.memory[m.index.Addr+i] = value{v: index >> (8 * i) & 0xff, known: true, chosen: true}
	}
	n, ok := m.run(f)
	if w.steps -= n; !ok {
		return nil
	}
	return m
}

// maxOthers limits the numbers with which a number is compared.
const maxOthers = 64

// others returns the numbers of other suspension points, the closest first. That after the last one may lead anywhere
// in clang's code, and in GCC's to a trap.
func others(index, step uint64) (all []uint64) {
	if step == 2 {
		all = append(all, index+step)
	}
	for i := index; i >= step && len(all) < maxOthers; {
		i -= step
		all = append(all, i)
	}
	return all
}

// value is the content of a register, or a byte of memory.
type value struct {
	v      uint64
	known  bool
	chosen bool // it depends on the number of the suspension point
}

// machine executes the beginning of a function on x86-64, as far as values are known. It changes only memory of its own.
type machine struct {
	d       *dump.Dump
	code    Code
	index   dump.Range
	top     uint64                 // of the stack
	decoded map[uint64]x86asm.Inst // instructions by address; Len is 0 for what is none
	pc      uint64
	regs    [16]value
	memory  map[uint64]value // what was written, by byte
	last    struct {         // of the last arithmetic
		a, b, result value
		size         int
		op           x86asm.Op
	}
	writes []write // of bytes, in order
	at     state   // after the last jump that the number of the suspension point decided
	has    bool    // there was one
}

type write struct {
	addr uint64
	value
}

// state is the state of a machine at some time.
type state struct {
	pc      uint64
	regs    [16]value
	written int // length of writes
}

// maxSteps limits the instructions that are executed: clang's unoptimized code computes the address of each variable
// in the frame first.
const maxSteps = 2000

// run executes instructions until one has an effect that is not known, and returns their number. The state after the
// last jump that the number of the suspension point decides is the result. ok is false if there is none, or if it traps.
func (m *machine) run(f *Frame) (steps int, ok bool) {
	m.pc = f.Resume
	m.regs[rsp] = value{v: m.top - 8, known: true} // the return address is at the top
	m.regs[rdi] = value{v: f.Addr, known: true}
	for steps = range maxSteps {
		inst, ok := m.decode()
		if !ok || !m.step(&inst) {
			break
		}
	}
	return steps, m.has && !m.traps()
}

const (
	rsp = 4
	rdi = 7
)

// decode returns the next instruction.
func (m *machine) decode() (inst x86asm.Inst, ok bool) {
	inst, ok = m.decoded[m.pc]
	if !ok {
		inst, ok = decode(m.code(m.pc, 16))
		if len(m.decoded) >= maxDecoded {
			clear(m.decoded)
		}
		if !ok {
			inst = x86asm.Inst{}
		}
		m.decoded[m.pc] = inst
	}
	return inst, inst.Len > 0
}

// decode decodes an instruction. A third-party decoder may panic on arbitrary bytes.
func decode(b []byte) (inst x86asm.Inst, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	if len(b) >= 4 && string(b[:4]) == "\xf3\x0f\x1e\xfa" { // endbr64, which the decoder does not know
		return x86asm.Inst{Op: x86asm.NOP, Len: 4}, true
	}
	inst, err := x86asm.Decode(b, 64)
	return inst, err == nil && inst.Len > 0
}

// traps reports whether the instruction at the result is one that no program means to execute.
func (m *machine) traps() bool {
	m.pc = m.at.pc
	inst, ok := m.decode()
	return !ok || inst.Op == x86asm.UD2 || inst.Op == x86asm.INT || inst.Op == x86asm.HLT
}

// arrive records the state as the result, after a jump that the number of the suspension point decided.
func (m *machine) arrive() {
	for range 8 { // unoptimized code jumps on
		inst, ok := m.decode()
		rel, near := inst.Args[0].(x86asm.Rel)
		if !ok || inst.Op != x86asm.JMP || !near {
			break
		}
		m.pc += uint64(inst.Len) + uint64(int64(rel))
	}
	m.at, m.has = state{pc: m.pc, regs: m.regs, written: len(m.writes)}, true
}

// point returns the state after the last jump that the number of the suspension point decided.
func (m *machine) point() *Point {
	c := dump.NewContext(m.d.Arch)
	for i, name := range registerNames {
		if r := m.at.regs[i]; r.known && !r.chosen {
			c.Set(name, r.v)
		}
	}
	c.Set("$rip", m.at.pc)
	return &Point{PC: m.at.pc, Registers: c, Stack: m.stack()}
}

// registerNames are the general registers in the order of their numbers in instructions.
var registerNames = [16]string{
	"$rax", "$rcx", "$rdx", "$rbx", "$rsp", "$rbp", "$rsi", "$rdi", "$r8", "$r9", "$r10", "$r11", "$r12", "$r13", "$r14", "$r15",
}

// maxStack is how far below its top a stack is recorded.
const maxStack = 1 << 13

// stack returns the bytes that the function had written to its stack, as far as they are known.
func (m *machine) stack() (all []dump.Region) {
	bytes := map[uint64]value{}
	for _, w := range m.writes[:m.at.written] {
		bytes[w.addr] = w.value
	}
	for _, at := range slices.Sorted(maps.Keys(bytes)) {
		b := bytes[at]
		if !b.known || b.chosen || m.top-at > maxStack {
			continue
		}
		if n := len(all); n == 0 || all[n-1].End() != at {
			all = append(all, dump.Region{Addr: at})
		}
		r := &all[len(all)-1]
		r.Data = append(r.Data, byte(b.v))
	}
	return all
}
