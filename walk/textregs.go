package walk

import (
	"fmt"

	"github.com/symtool/symtool/symfmt/arch"
)

// shownRegister is a register in the output for people.
type shownRegister struct {
	name string // as Breakpad shows it
	reg  string // of arch.Arch
}

// shownRegisters are the registers of each CPU in Breakpad's order. Breakpad does not know the last
// CPU.
var shownRegisters = map[*arch.Arch][]shownRegister{
	arch.X86: dollar("eip", "esp", "ebp", "ebx", "esi", "edi"),
	arch.X86_64: dollar("rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"),
	arch.PPC:     {{"srr0", "srr0"}, {"r1", "r1"}},
	arch.PPC64:   {{"srr0", "srr0"}, {"r1", "r1"}},
	arch.ARM:     append(same(names("r", 11, "r12")...), shownRegister{"fp", "r11"}, shownRegister{"sp", "sp"}, shownRegister{"lr", "lr"}, shownRegister{"pc", "pc"}),
	arch.ARM64:   append(same(names("x", 29)...), shownRegister{"fp", "x29"}, shownRegister{"lr", "x30"}, shownRegister{"sp", "sp"}, shownRegister{"pc", "pc"}),
	arch.MIPS:    dollar("gp", "sp", "fp", "ra", "pc", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"),
	arch.MIPS64:  dollar("gp", "sp", "fp", "ra", "pc", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"),
	arch.RISCV:   riscvShown,
	arch.RISCV64: riscvShown,
	arch.S390X:   same(append([]string{"pswa"}, names("r", 16)...)...),
}

var riscvShown = same("pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
	"s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6")

// x86All are shown where all of them are known.
var x86All = append(dollar("eax", "ecx", "edx"), shownRegister{"efl", "$eflags"})

func same(list ...string) (all []shownRegister) {
	for _, name := range list {
		all = append(all, shownRegister{name, name})
	}
	return all
}

func dollar(list ...string) (all []shownRegister) {
	for _, name := range list {
		all = append(all, shownRegister{name, "$" + name})
	}
	return all
}

// registerColumns is how wide a line of registers may be.
const registerColumns = 80

// registers writes the known registers of a frame, but for the line's beginning
// and end.
func (p *textWriter) registers(s *viewStack, f *Frame) {
	a := p.archOf(s)
	if a == nil {
		return
	}
	column := 0
	one := func(r shownRegister) {
		i, ok := a.RegIndex(r.reg)
		if !ok {
			return
		}
		v, ok := f.Register(i)
		if !ok {
			return
		}
		digits := 2 * a.PtrSize
		if a == arch.MIPS {
			digits = 16
		}
		text := fmt.Sprintf(" %5s = 0x%0*x", r.name, digits, v)
		if column += len(text); column > registerColumns {
			p.put("\n ")
			column = len(text)
		}
		p.put("%s", text)
	}
	for _, r := range shownRegisters[a] {
		one(r)
	}
	if a == arch.X86 && hasAll(a, f, x86All) {
		for _, r := range x86All {
			one(r)
		}
	}
}

func hasAll(a *arch.Arch, f *Frame, list []shownRegister) bool {
	for _, r := range list {
		i, _ := a.RegIndex(r.reg)
		if _, ok := f.Register(i); !ok {
			return false
		}
	}
	return true
}

// archOf is the CPU of a thread's registers: in a dump of several CPUs it is not the dump's.
func (v *view) archOf(s *viewStack) *arch.Arch {
	t := &v.d.Threads[s.Thread]
	switch c := v.d.Crash; {
	case c != nil && c.Thread == t.ID && c.Context != nil:
		return c.Context.Arch
	case t.Context != nil:
		return t.Context.Arch
	}
	return v.d.Arch
}
