package walk

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// Addresses in the tests' module, which has two functions, f at 0x400100 and g at
// 0x400200, of 0x100 bytes each, and nothing else.
const (
	inF, inG = 0x400150, 0x400250
	hole     = 0x400800 // in the module, in no function
	stackAt  = 0x70000000
)

const twoFunctions = "FUNC 100 100 0 f\nFUNC 200 100 0 g\n"

// process begins a process with that module and a stack.
func process(t *testing.T, a *arch.Arch, os dump.OS) *walktest.Assembler {
	t.Helper()
	return walktest.Assemble(t, a, os).Module("app", 0x400000, 0x1000, twoFunctions).At(stackAt).Mark("sp")
}

// Each CPU's frame pointers lead from frame to frame to the end of the chain.
func TestFramePointer(t *testing.T) {
	for _, c := range []struct {
		name string
		cpu  *arch.Arch
		os   dump.OS
		fp   string
		fill func(*walktest.Assembler) *walktest.Assembler // marks fp1
	}{
		{"x86", arch.X86, dump.Linux, "$ebp", func(a *walktest.Assembler) *walktest.Assembler {
			return a.Word(walktest.Junk).Mark("fp1").Words("fp2", inG).Mark("sp1").Words(walktest.Junk, walktest.Junk).Mark("fp2").Words(0, inF).Mark("sp2").Words(walktest.Junk)
		}},
		{"x86 on Windows", arch.X86, dump.Windows, "$ebp", func(a *walktest.Assembler) *walktest.Assembler {
			return a.Mark("fp1").Words("fp2", inG).Mark("sp1").Words(walktest.Junk, walktest.Junk).Mark("fp2").Words(0, inF).Mark("sp2").Words(walktest.Junk)
		}},
		{"x86-64", arch.X86_64, dump.Linux, "$rbp", func(a *walktest.Assembler) *walktest.Assembler {
			return a.Word(walktest.Junk).Mark("fp1").Words("fp2", inG).Mark("sp1").Words(walktest.Junk, walktest.Junk).Mark("fp2").Words(0, inF).Mark("sp2").Words(walktest.Junk)
		}},
		{"x86-64 on macOS", arch.X86_64, dump.MacOS, "$rbp", func(a *walktest.Assembler) *walktest.Assembler {
			return a.Mark("fp1").Words("fp2", inG).Mark("sp1").Mark("fp2").Words(0, inF).Mark("sp2").Words(walktest.Junk)
		}},
		{"arm64", arch.ARM64, dump.Linux, "x29", func(a *walktest.Assembler) *walktest.Assembler {
			return a.Word(walktest.Junk).Mark("fp1").Words("fp2", inG).Mark("sp1").Words(walktest.Junk, walktest.Junk).Mark("fp2").Words(0, inF).Mark("sp2").Words(walktest.Junk)
		}},
		{"riscv", arch.RISCV, dump.Linux, "s0", func(a *walktest.Assembler) *walktest.Assembler {
			return a.Words(walktest.Junk, "fp2", inG).Mark("fp1").Mark("sp1").Words(walktest.Junk, 0, inF).Mark("fp2").Mark("sp2").Words(walktest.Junk)
		}},
		{"riscv64", arch.RISCV64, dump.Linux, "s0", func(a *walktest.Assembler) *walktest.Assembler {
			return a.Words(walktest.Junk, "fp2", inG).Mark("fp1").Mark("sp1").Words(walktest.Junk, 0, inF).Mark("fp2").Mark("sp2").Words(walktest.Junk)
		}},
		{"arm by GCC", arch.ARM, dump.Linux, "r11", func(a *walktest.Assembler) *walktest.Assembler {
			return a.Words(walktest.Junk, "fp2").Mark("fp1").Word(inG).Mark("sp1").Words(walktest.Junk, 0).Mark("fp2").Word(inF).Mark("sp2").Word(walktest.Junk)
		}},
		{"arm by Clang", arch.ARM, dump.Android, "r11", func(a *walktest.Assembler) *walktest.Assembler {
			return a.Word(walktest.Junk).Mark("fp1").Words("fp2", inG).Mark("sp1").Words(walktest.Junk, walktest.Junk).Mark("fp2").Words(0, inF).Mark("sp2").Words(walktest.Junk)
		}},
		{"arm by APCS", arch.ARM, dump.Linux, "r11", func(a *walktest.Assembler) *walktest.Assembler {
			return a.Words("fp2", "sp1", inG).Mark("fp1").Words(0x400108).Mark("sp1").Words(walktest.Junk, 0, "sp2", inF).Mark("fp2").Words(0x400208).Mark("sp2").Words(walktest.Junk)
		}},
		{"arm by Clang, Thumb", arch.ARM, dump.Linux, "r7", func(a *walktest.Assembler) *walktest.Assembler {
			return a.Word(walktest.Junk).Mark("fp1").Words("fp2", inG+1).Mark("sp1").Words(walktest.Junk, walktest.Junk).Mark("fp2").Words(0, inF+1).Mark("sp2").Words(walktest.Junk)
		}},
		{"arm of iOS", arch.ARM, dump.IOS, "r7", func(a *walktest.Assembler) *walktest.Assembler {
			return a.Word(walktest.Junk).Mark("fp1").Words("fp2", inG+1).Mark("sp1").Words(walktest.Junk, walktest.Junk).Mark("fp2").Words(0, inF+1).Mark("sp2").Words(walktest.Junk)
		}},
		{"ppc", arch.PPC, dump.Linux, "r1", func(a *walktest.Assembler) *walktest.Assembler {
			return a.Mark("fp1").Words("sp1", 0, walktest.Junk).Mark("sp1").Words("sp2", inG, walktest.Junk).Mark("sp2").Words(0, inF)
		}},
		{"ppc of macOS", arch.PPC, dump.MacOS, "r1", func(a *walktest.Assembler) *walktest.Assembler {
			return a.Mark("fp1").Words("sp1", 0, walktest.Junk).Mark("sp1").Words("sp2", 0, inG).Mark("sp2").Words(0, 0, inF)
		}},
		{"ppc64", arch.PPC64, dump.Linux, "r1", func(a *walktest.Assembler) *walktest.Assembler {
			return a.Mark("fp1").Words("sp1", 0, walktest.Junk).Mark("sp1").Words("sp2", 0, inG, walktest.Junk).Mark("sp2").Words(0, 0, inF)
		}},
		{"s390x", arch.S390X, dump.Linux, "r15", func(a *walktest.Assembler) *walktest.Assembler {
			return a.Mark("fp1").Words("sp1").Zeros(20).Mark("sp1").Words("sp2").Zeros(13).Words(inG).Zeros(5).Mark("sp2").Words(0).Zeros(13).Words(inF)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := c.fill(process(t, c.cpu, c.os))
			regs := []any{c.cpu.PC, 0x400120, c.cpu.SP, "sp"}
			if c.fp != c.cpu.SP {
				regs = append(regs, c.fp, "fp1")
			}
			s := walkFirst(a.Regs(regs...), Config{})
			first, second := "; "+c.cpu.SP+"=sp1", "; "+c.cpu.SP+"=sp2"
			if c.fp != c.cpu.SP {
				first, second = first+" "+c.fp+"=fp2", second+" "+c.fp+"=0"
			}
			wantStack(a, s, EndOutermost, "400120 context context f; "+c.cpu.SP+"=sp",
				"400250 frame_pointer frame-pointer g"+first, "400150 frame_pointer frame-pointer f"+second)
		})
	}
}

// A real arm64 stack, whose compilers keep frame pointers, has the same return addresses without
// rules, down to _start. It begins with a leaf function.
func TestFramePointerOfRealStack(t *testing.T) {
	dir := testenv.Shared(t, "data", "arch", "arm64")
	d, sources := walktest.Opened(t, filepath.Join(dir, "core")), binarySources(t, filepath.Join(dir, "prog"))
	byRules := walkDump(t, sources, d, Config{}).Stacks[0]
	without := walkDump(t, sources, d, Config{Techniques: []Technique{ByReturn, ByFramePointer}}).Stacks[0]
	if len(byRules.Frames) != len(without.Frames) || without.End != EndStart {
		t.Fatalf("%d and %d frames, end %v", len(byRules.Frames), len(without.Frames), without.End)
	}
	for i := range byRules.Frames {
		if a, b := byRules.Frames[i].PC, without.Frames[i].PC; a != b {
			t.Errorf("frame %d: %#x by rules, %#x by frame pointer", i, a, b)
		}
	}
	t.Logf("%d frames", len(byRules.Frames))
}

// A value that looks like a frame pointer but is not one is rejected, and so is a frame pointer
// that does not look like one.
func TestFramePointerIsChecked(t *testing.T) {
	scanned := []string{"400120 context context f", "400250 scan scan g"}
	followed := []string{"400120 context context f", "400250 frame_pointer frame-pointer g"}
	for _, c := range []struct {
		name string
		cpu  *arch.Arch
		os   dump.OS
		fp   any
		fill func(*walktest.Assembler)
		end  End
		want []string
	}{
		{"not aligned", arch.X86_64, dump.Linux, stackAt + 12, func(a *walktest.Assembler) { a.Words(walktest.Junk, inG) }, EndNoMemory, scanned},
		{"below the stack pointer", arch.X86_64, dump.Linux, stackAt - 16, func(a *walktest.Assembler) { a.Words(walktest.Junk, inG) }, EndNoMemory, scanned},
		{"no memory", arch.X86_64, dump.Linux, 0x5000, func(a *walktest.Assembler) { a.Words(walktest.Junk, inG) }, EndNoMemory, scanned},
		{"at the end of memory", arch.X86_64, dump.Linux, "fp", func(a *walktest.Assembler) { a.Words(walktest.Junk, inG, walktest.Junk).Mark("fp").Word("fp") }, EndNothing, scanned},
		{"at the end of addresses", arch.X86_64, dump.Linux, uint64(1<<64 - 8), func(a *walktest.Assembler) { a.Words(walktest.Junk, inG) }, EndNoMemory, scanned},
		{"Windows has no chain on x86-64", arch.X86_64, dump.Windows, "fp", func(a *walktest.Assembler) { a.Mark("fp").Words("fp", inF, inG).Mark("x") }, EndNoMemory,
			[]string{"400120 context context f", "400150 scan scan f", "400250 scan scan g"}},
		{"nothing fits", arch.X86_64, dump.Linux, "fp", func(a *walktest.Assembler) { a.Mark("fp").Words(walktest.Junk, walktest.Junk, inG) }, EndNoMemory, scanned},
		{"an address that is not canonical", arch.X86_64, dump.Linux, "fp",
			func(a *walktest.Assembler) {
				a.Mark("fp").Words("up", uint64(0x8000_0000_0000_0000), inG).Mark("up").Word(0)
			}, EndNothing, scanned},
		{"code that is in no module", arch.X86_64, dump.Linux, "fp",
			func(a *walktest.Assembler) { a.Mark("fp").Words("up", 0x999000).Mark("up").Words(walktest.Junk, inG) }, EndNoMemory,
			[]string{"400120 context context f", "999000 frame_pointer frame-pointer", "400250 frame_pointer frame-pointer g"}},
		{"a return address, and a frame pointer used for something else", arch.X86_64, dump.Linux, "fp",
			func(a *walktest.Assembler) { a.Mark("fp").Words(1, inG) }, EndNoMemory, followed},
		{"a frame pointer that points to itself", arch.X86_64, dump.Linux, "fp",
			func(a *walktest.Assembler) { a.Mark("fp").Words("fp", inG) }, EndNoMemory, followed},
		{"a stack in two pieces of memory", arch.X86_64, dump.Linux, "fp",
			func(a *walktest.Assembler) {
				a.Mark("fp").Words("up", inG).At(stackAt+0x10000).Mark("up").Words(0, inF, walktest.Junk)
			}, EndOutermost,
			[]string{"400120 context context f", "400250 frame_pointer frame-pointer g", "400150 frame_pointer frame-pointer f"}},
		{"a frame in two pieces of memory that touch", arch.X86_64, dump.Linux, "fp",
			func(a *walktest.Assembler) { a.Mark("fp").Words(0).At(stackAt+8).Words(inG, walktest.Junk) }, EndOutermost, followed},
		{"equal to the stack pointer", arch.X86, dump.Linux, "sp", func(a *walktest.Assembler) { a.Words(0, inG) }, EndOutermost, followed},
		{"zeros", arch.X86_64, dump.Linux, "fp", func(a *walktest.Assembler) { a.Mark("fp").Words(0, 0, inG) }, EndNoMemory, scanned},
		{"zeros at the end of the chain", arch.X86_64, dump.Linux, "fp", func(a *walktest.Assembler) { a.Mark("fp").Words("up", inG).Mark("up").Words(0, 0, inF) },
			EndZero, followed},
		{"arm: no code in any layout", arch.ARM, dump.Linux, "fp", func(a *walktest.Assembler) { a.Words(walktest.Junk).Mark("fp").Words("fp", walktest.Junk, inG) }, EndNoMemory, scanned},
		{"ppc: a chain that goes down", arch.PPC, dump.Linux, nil, func(a *walktest.Assembler) { a.Words(stackAt-8, 0, inG) }, EndNoMemory, scanned},
		{"s390x: not compiled with a chain", arch.S390X, dump.Linux, nil, func(a *walktest.Assembler) { a.Words(walktest.Junk, inG).Zeros(20) }, EndNothing, scanned},
		{"mips: none", arch.MIPS, dump.Linux, "fp", func(a *walktest.Assembler) { a.Mark("fp").Words("fp", inG) }, EndNoMemory, scanned},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := process(t, c.cpu, c.os)
			c.fill(a)
			regs := []any{c.cpu.PC, 0x400120, c.cpu.SP, "sp"}
			if c.fp != nil {
				regs = append(regs, c.cpu.FP, c.fp)
			}
			wantStack(a, walkFirst(a.Regs(regs...), Config{}), c.end, c.want...)
		})
	}
}

// Bits that are not part of an address are removed from return addresses only.
func TestCleanAddress(t *testing.T) {
	const signed = 0x002a_5500_0000_0000 // bits of authentication, above 39 bits
	for _, c := range []struct {
		name     string
		cpu      *arch.Arch
		os       dump.OS
		ret, top uint64 // top: an address of memory above
		want     string
	}{
		{"arm64 of Linux", arch.ARM64, dump.Linux, signed | inG, 0x7f_ffff_f000, "400250 frame_pointer frame-pointer g"},
		{"arm64 with the top byte", arch.ARM64, dump.Linux, 0xff2a_5500_0000_0000 | inG, 0x7f_ffff_f000, "400250 frame_pointer frame-pointer g"},
		{"arm64 of Linux, 48 bits", arch.ARM64, dump.Linux, 0x002a_0000_0000_0000 | inG, 0xffff_ffff_f000, "400250 frame_pointer frame-pointer g"},
		{"arm64 of macOS", arch.ARM64, dump.MacOS, 0x007f_8000_0000_0000 | inG, 0x7f_ffff_f000, "400250 frame_pointer frame-pointer g"},
		{"arm64, the kernel's half", arch.ARM64, dump.Linux, 0xffff_ff80_0000_0000 | inG, 0x7f_ffff_f000, "ffffff8000400250 frame_pointer frame-pointer"},
		{"arm, Thumb", arch.ARM, dump.Linux, inG | 1, 0, "400250 frame_pointer frame-pointer g"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := process(t, c.cpu, c.os)
			if c.cpu == arch.ARM64 {
				a.Mark("fp").Words("up", c.ret, walktest.Junk).Mark("up").Word("sp")
			} else {
				a.Mark("low").Word("up").Mark("fp").Words(c.ret, walktest.Junk).Mark("up").Word("sp")
			}
			if c.top != 0 {
				a.At(c.top).Zeros(512)
			}
			s := walkFirst(a.Regs(c.cpu.PC, 0x400120, c.cpu.SP, "sp", c.cpu.FP, "fp"), Config{})
			if len(s.Frames) < 2 {
				t.Fatalf("%d frames\n%s", len(s.Frames), strings.Join(s.Trace, "\n"))
			}
			if got := frameText(a, &s.Frames[1], ""); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	a := process(t, arch.ARM64, dump.Linux)
	s := walkFirst(a.Words(walktest.Junk).Regs("pc", uint64(0x4141_4141_4141_4141), "sp", "sp"), Config{})
	wantStack(a, s, EndNothing, "4141414141414141 context context")
	a = process(t, arch.ARM64, dump.Linux)
	s = walkFirst(a.Words(walktest.Junk).Regs("pc", uint64(signed|inF), "sp", "sp"), Config{})
	wantStack(a, s, EndNothing, "400150 context context f")
	a = process(t, arch.ARM, dump.Linux)
	s = walkFirst(a.Words(walktest.Junk).Regs("pc", inF|1, "sp", "sp"), Config{})
	wantStack(a, s, EndNothing, "400150 context context f")
}
