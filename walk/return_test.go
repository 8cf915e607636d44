package walk

import (
	"slices"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/cpu"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// linkCPUs returns the CPUs with a link register that walks support.
func linkCPUs() []*arch.Arch {
	return slices.DeleteFunc(slices.Clone(arch.All), func(a *arch.Arch) bool { return a.RA == "" })
}

// The return address of the topmost frame is taken from the link register if nothing else gives it and the register
// points outside the function.
func TestLinkRegister(t *testing.T) {
	for _, cpu := range linkCPUs() {
		t.Run(cpu.Name, func(t *testing.T) {
			saved := "; " + cpu.CalleeSaved[0] + "=7 " + cpu.SP + "=sp"
			regs := func(pc, lr uint64) []any {
				return []any{cpu.PC, pc, cpu.SP, "sp", cpu.RA, lr, cpu.CalleeSaved[0], 7}
			}
			called := "400250 frame_pointer return g" + saved
			for _, c := range []struct {
				name string
				pc   uint64
				lr   uint64
				want []string
			}{
				{"a function that calls none", 0x400120, inG, []string{"400120 context context f", called}},
				{"entered", 0x400100, inG, []string{"400100 context context f", called}},
				{"entered by recursion", 0x400100, inF, []string{"400100 context context f", "400150 frame_pointer return f" + saved}},
				{"has called", 0x400120, inF, []string{"400120 context context f"}},
				{"a null pointer was called", 0, inG, []string{"0 context context", called}},
				{"no code", 0x400120, hole, []string{"400120 context context f"}},
				{"not aligned", 0x400120, inG + 1, []string{"400120 context context f"}},
			} {
				want := c.want
				switch {
				case cpu == arch.ARM && c.name == "a function that calls none":
					want = want[:1] // the register leads anywhere
				case c.name == "not aligned" && (cpu == arch.MIPS || cpu == arch.MIPS64 || cpu == arch.RISCV || cpu == arch.RISCV64):
					want = []string{want[0], called} // the bit is not part of the address
				}
				a := process(t, cpu, dump.Linux)
				s := walkFirst(a.Words(walktest.Junk, walktest.Junk, walktest.Junk, walktest.Junk).Regs(regs(c.pc, c.lr)...), Config{})
				t.Log(c.name)
				wantStack(a, s, EndNothing, want...)
			}
		})
	}
}

// A leaf function that has saved the frame pointer restores it for its caller.
func TestLeafRecord(t *testing.T) {
	a := process(t, arch.RISCV64, dump.Linux)
	a.Words(walktest.Junk, "fp2").Mark("fp1").Words(walktest.Junk, 0, inF).Mark("fp2").Words(walktest.Junk)
	s := walkFirst(a.Regs("pc", 0x400120, "sp", "sp", "ra", inG, "s0", "fp1"), Config{})
	wantStack(a, s, EndOutermost, "400120 context context f", "400250 frame_pointer return g; sp=fp1 s0=fp2", "400150 frame_pointer frame-pointer f; sp=fp2")

	a = process(t, arch.RISCV64, dump.Linux) // not saved: the frame pointer is its caller's
	a.Words(walktest.Junk, 0, inF).Mark("fp1").Words(walktest.Junk)
	s = walkFirst(a.Regs("pc", 0x400120, "sp", "sp", "ra", inG, "s0", "fp1"), Config{})
	wantStack(a, s, EndOutermost, "400120 context context f", "400250 frame_pointer return g; sp=sp s0=fp1", "400150 frame_pointer frame-pointer f; sp=fp1")
}

// On arm64, a frame record with the same return address as the link register is the function's own;
// one with another is its caller's.
func TestLinkRegisterOrFramePointer(t *testing.T) {
	a := process(t, arch.ARM64, dump.Linux)
	a.Mark("fp1").Words("fp2", inG).Mark("sp1").Mark("fp2").Words(0, inF).Mark("sp2").Word(walktest.Junk)
	s := walkFirst(a.Regs("pc", 0x400120, "sp", "sp", "x30", inG, "x29", "fp1"), Config{})
	wantStack(a, s, EndOutermost, "400120 context context f", "400250 frame_pointer frame-pointer g; sp=sp1 x29=fp2", "400150 frame_pointer frame-pointer f; sp=sp2")

	a = process(t, arch.ARM64, dump.Linux)
	a.Mark("fp1").Words(0, inF).Mark("sp1").Word(walktest.Junk)
	s = walkFirst(a.Regs("pc", 0x400120, "sp", "sp", "x30", inG, "x29", "fp1"), Config{})
	wantStack(a, s, EndOutermost, "400120 context context f", "400250 frame_pointer return g; sp=sp x29=fp1", "400150 frame_pointer frame-pointer f; sp=sp1")

	// Without symbols a frame record takes precedence over the register, which takes precedence over a scan.
	a = walktest.Assemble(t, arch.ARM64, dump.Linux).Module("app", 0x400000, 0x1000, "").At(stackAt).Mark("sp")
	a.Mark("fp1").Words(0, inF).Mark("sp1").Word(walktest.Junk)
	s = walkFirst(a.Regs("pc", 0x400120, "sp", "sp", "x30", inG, "x29", "fp1"), Config{})
	wantStack(a, s, EndOutermost, "400120 context context", "400150 frame_pointer frame-pointer; sp=sp1")

	a = walktest.Assemble(t, arch.ARM64, dump.Linux).Module("app", 0x400000, 0x1000, "").At(stackAt).Mark("sp").Words(inF, walktest.Junk)
	s = walkFirst(a.Regs("pc", 0x400120, "sp", "sp", "x30", inG), Config{})
	wantStack(a, s, EndNothing, "400120 context context", "400250 frame_pointer return; sp=sp", "400150 scan scan")
}

// A rule that the return address is in the link register counts only for the topmost frame; after a call the register
// has another address.
func TestLinkRegisterRule(t *testing.T) {
	for _, cpu := range linkCPUs() {
		t.Run(cpu.Name, func(t *testing.T) {
			keep := cpu.RA // a rule that gives the caller the register, as compilers write
			rules := "STACK CFI INIT 100 100 .cfa: " + cpu.SP + " 0 + .ra: " + cpu.RA + " " + keep + ": " + keep + "\n"
			a := walktest.Assemble(t, cpu, dump.Linux).Module("app", 0x400000, 0x1000, twoFunctions+rules).At(stackAt).Mark("sp")
			a.Words(walktest.Junk, walktest.Junk, walktest.Junk, walktest.Junk, walktest.Junk, inG, walktest.Junk)
			s := walkFirst(a.Regs(cpu.PC, 0x400120, cpu.SP, "sp", cpu.RA, inF), Config{})
			wantStack(a, s, EndNothing, "400120 context context f", "400150 cfi symbols f; "+cpu.SP+"=sp", "400250 scan scan g")
		})
	}
}

// On x86 the return address is at the stack pointer if a function was just entered, or if the
// call led to no function.
func TestReturnOnStack(t *testing.T) {
	for _, cpu := range []*arch.Arch{arch.X86, arch.X86_64} {
		reg := cpu.CalleeSaved[0]
		for _, c := range []struct {
			pc   uint64
			word any
			want []string
		}{
			{0, inG, []string{"0 context context", "400250 scan return g; " + reg + "=7"}},
			{0x5000_0000, inG, []string{"50000000 context context", "400250 scan return g; " + reg + "=7"}},
			{0x400100, inG, []string{"400100 context context f", "400250 scan return g; " + reg + "=7"}},
			{0x400104, inG, []string{"400104 context context f", "400250 scan scan g; " + reg + "=?"}},
			{0, hole, []string{"0 context context"}},
			{0, 0x5000_0000, []string{"0 context context"}},
		} {
			a := process(t, cpu, dump.Linux).Words(c.word, walktest.Junk)
			wantStack(a, walkFirst(a.Regs(cpu.PC, c.pc, cpu.SP, "sp", reg, 7), Config{}), EndNothing, c.want...)
		}
	}
}

// A direct call of data, for instance of .bss that belongs to no module, leads to its caller: the thread is at the
// target of the call.
func TestReturnOfCallOfData(t *testing.T) {
	for _, cpu := range []*arch.Arch{arch.X86, arch.X86_64} {
		for _, c := range []struct {
			pc   uint64
			want []string
		}{
			{0x402000, []string{"402000 context context", "400150 scan return f"}},
			{0x402001, []string{"402001 context context"}}, // the call leads elsewhere
		} {
			a := walktest.Assemble(t, cpu, dump.Linux).Module("app", 0x400000, 0x1000, twoFunctions)
			a.At(0x400140).Bytes(append(make([]byte, 11), 0xe8, 0xb0, 0x1e, 0, 0)...).At(stackAt).Mark("sp")
			a.Words(inF, walktest.Junk)
			wantStack(a, walkFirst(a.Regs(cpu.PC, c.pc, cpu.SP, "sp"), Config{}), EndNothing, c.want...)
		}
	}
}

// A frame in code generated at run time is not treated as a call of a bad address: its frame
// pointer is used.
func TestReturnOfMappedCode(t *testing.T) {
	a := process(t, arch.X86_64, dump.Linux).Words(inG).Mark("fp").Words(0, inF).Mark("sp1").Word(walktest.Junk)
	a.Dump.Maps = []dump.Mapping{{Range: dump.Range{Addr: 0x50000000, Size: 0x1000}, Read: true, Exec: true}}
	s := walkFirst(a.Regs("$rip", 0x50000010, "$rsp", "sp", "$rbp", "fp"), Config{})
	wantStack(a, s, EndOutermost, "50000010 context context", "400150 frame_pointer frame-pointer f; $rsp=sp1")
}

// With back chains, a leaf function may or may not have a frame, and may have saved its return address
// in either case. Its caller's stack pointer is found through the chain.
func TestLeafChain(t *testing.T) {
	for cpu, c := range cpu.All {
		if c.BackChain == 0 {
			continue
		}
		pad := c.BackChain - 1
		for _, c := range []struct {
			name string
			fill func(a *walktest.Assembler)
			sp   string
		}{
			{"a frame of its own", func(a *walktest.Assembler) {
				a.Words("sp1", walktest.Junk).Mark("sp1").Words("sp2").Zeros(pad).Words(walktest.Junk).Mark("sp2")
			}, "sp1"},
			{"a frame of its own, saved", func(a *walktest.Assembler) {
				a.Words("sp1", walktest.Junk).Mark("sp1").Words("sp2").Zeros(pad).Words(inG).Mark("sp2")
			}, "sp1"},
			{"no frame", func(a *walktest.Assembler) { a.Mark("sp1").Words("sp2").Mark("sp2") }, "sp"},
		} {
			t.Run(cpu.Name+"/"+c.name, func(t *testing.T) {
				a := process(t, cpu, dump.Linux)
				c.fill(a)
				a.Words("sp3").Zeros(pad).Words(inF).Mark("sp3").Words(0).Zeros(pad).Words(0x400130)
				s := walkFirst(a.Regs(cpu.PC, 0x400120, cpu.SP, "sp", cpu.RA, inG), Config{Techniques: []Technique{ByReturn, ByFramePointer}})
				want := []string{"400120 context context f", "400250 frame_pointer return g; " + cpu.SP + "=" + c.sp, "400150 frame_pointer frame-pointer f; " + cpu.SP + "=sp2",
					"400130 frame_pointer frame-pointer f; " + cpu.SP + "=sp3"}
				wantStack(a, s, EndOutermost, want...)
			})
		}
	}
}

// On ARM, GCC's leaf functions save the frame pointer where other functions have the return address.
func TestLeafRecordOfARM(t *testing.T) {
	a := process(t, arch.ARM, dump.Linux)
	a.Word(walktest.Junk).Mark("fp1").Word("fp2").Mark("sp1").Words(walktest.Junk, 0).Mark("fp2").Word(inF).Mark("sp2").Word(walktest.Junk)
	s := walkFirst(a.Regs("pc", 0x400120, "sp", "sp", "lr", inG, "r11", "fp1"), Config{})
	wantStack(a, s, EndOutermost, "400120 context context f", "400250 frame_pointer return g; sp=sp1 r11=fp2", "400150 frame_pointer frame-pointer f; sp=sp2")
}

// volatileOf returns a general register of a CPU that functions need not preserve.
func volatileOf(t *testing.T, a *arch.Arch) string {
	t.Helper()
	for _, name := range a.General {
		if name != a.PC && name != a.SP && name != a.RA && !slices.Contains(a.CalleeSaved, name) {
			return name
		}
	}
	t.Fatal("no such register of", a.Name)
	return ""
}

// On any CPU a function may have its return address in a register and nothing on the stack: vfork does so during its
// system call, and callers of outlined code do so during that call.
func TestReturnInRegister(t *testing.T) {
	for _, cpu := range cpu.All {
		other, saved, kept := volatileOf(t, cpu.Arch), cpu.Arch.CalleeSaved[0], cpu.Arch.CalleeSaved[1]
		in := func(init, reg string) string {
			return "STACK CFI INIT " + init + " 100 .cfa: " + cpu.Arch.SP + " .ra: " + reg + "\n"
		}
		onStack := "STACK CFI INIT 200 100 .cfa: " + cpu.Arch.SP + " 16 + .ra: " + cpu.Arch.SP + " ^\n"
		for _, c := range []struct {
			name, rules string
			held        any // in the callee-saved register
			end         End
			want        []string
		}{
			{"interrupted", in("100", other) + onStack, 7, EndZero, []string{"400250 cfi symbols g; " + cpu.Arch.SP + "=sp"}},
			{"interrupted, then called", in("100", other) + in("200", saved), 0x400180, EndNothing,
				[]string{"400250 cfi symbols g; " + cpu.Arch.SP + "=sp", "400180 cfi symbols f; " + cpu.Arch.SP + "=sp"}},
			{"called, not code", in("100", other) + in("200", saved), hole, EndStuck, []string{"400250 cfi symbols g; " + cpu.Arch.SP + "=sp"}},
			{"itself", in("100", other) + in("200", saved), inG, EndStuck, []string{"400250 cfi symbols g; " + cpu.Arch.SP + "=sp"}},
		} {
			t.Run(cpu.Arch.Name+"/"+c.name, func(t *testing.T) {
				a := walktest.Assemble(t, cpu.Arch, dump.Linux).Module("app", 0x400000, 0x1000, twoFunctions+c.rules).At(stackAt).Mark("sp")
				a.Zeros(4).Regs(cpu.Arch.PC, 0x400120, cpu.Arch.SP, "sp", other, inG, saved, c.held)
				wantStack(a, walkFirst(a, Config{Techniques: []Technique{BySymbols}}), c.end, append([]string{"400120 context context f"}, c.want...)...)
			})
		}
		t.Run(cpu.Arch.Name+"/in a circle", func(t *testing.T) {
			a := walktest.Assemble(t, cpu.Arch, dump.Linux).Module("app", 0x400000, 0x1000, twoFunctions+in("100", saved)+in("200", kept)).At(stackAt).Mark("sp")
			a.Zeros(4).Regs(cpu.Arch.PC, 0x400120, cpu.Arch.SP, "sp", saved, inG, kept, inF)
			if s := walkFirst(a, Config{Techniques: []Technique{BySymbols}}); s.End != EndStuck || len(s.Frames) != maxJumps+1 {
				t.Errorf("%v (%s), %d frames", s.End, s.Why, len(s.Frames))
			}
		})
	}
}
