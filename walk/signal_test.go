package walk

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/cpu"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// signalCase is a signal frame word by word, from the kernel's headers. The walker's tables have a
// different source.
type signalCase struct {
	name string
	arch *arch.Arch
	code string // in the order of memory
	// frame has a field for each word from the stack pointer of the code on: the
	// name of a register, with ":4" or ":8" if it does not have the size of an
	// address; "+n" for n bytes of zeros; "signo", 4 bytes; and "regs", a pointer
	// to what follows "|".
	frame string
	// last is the offset of the last instruction, and how much higher the stack pointer is there.
	last, pushed int
	symbol       string // a name of such code, or ""
	thumb        uint64 // a bit of addresses of the code
}

const (
	stack64 = " +24"           // stack_t
	stack32 = " +12"           //
	mask128 = " +128"          // as large as sigset_t of a C library
	info128 = " signo +124"    // siginfo_t
	uc64    = " +16" + stack64 // flags and link before it
	uc32    = " +8" + stack32
)

func list(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " %s%d", prefix, i)
	}
	return b.String()[1:]
}

const x86Context = " $gs:4 $fs:4 $es:4 $ds:4 $edi $esi $ebp $esp $ebx $edx $ecx $eax +8 $eip $cs $eflags"

var signalCases = []signalCase{
	{"x86-64", arch.X86_64, "48c7c00f0000000f05", uc64 + " $r8 $r9 $r10 $r11 $r12 $r13 $r14 $r15 $rdi $rsi $rbp $rbx $rdx $rax $rcx $rsp $rip +8 +112 +8" + info128,
		7, 0, "__restore_rt", 0},
	{"x86", arch.X86, "b8ad000000cd80", "+12" + info128 + uc32 + x86Context, 5, 0, "__kernel_rt_sigreturn", 0},
	{"x86 old", arch.X86, "58b877000000cd80", "+4" + x86Context, 6, 4, "__kernel_sigreturn", 0},
	{"arm", arch.ARM, "ad70a0e3000000ef", info128 + uc32 + " +12 " + list("r", 13) + " sp lr pc", 4, 0, "__default_rt_sa_restorer", 0},
	{"arm old", arch.ARM, "7770a0e3770090ef", uc32 + " +12 " + list("r", 13) + " sp lr pc", 4, 0, "__default_sa_restorer", 0},
	{"thumb", arch.ARM, "ad2700df", info128 + uc32 + " +12 " + list("r", 13) + " sp lr pc", 2, 0, "", 1},
	{"thumb old", arch.ARM, "4ff0770700df", uc32 + " +12 " + list("r", 13) + " sp lr pc", 4, 0, "", 1},
	{"arm64", arch.ARM64, "681180d2010000d4", info128 + uc64 + mask128 + " +8 +8 " + list("x", 31) + " sp pc", 4, 0, "__kernel_rt_sigreturn", 0},
	{"mips", arch.MIPS, "240210610000000c", "+24" + info128 + uc32 + " +4 +8 $pc:8" + mips(8), 4, 0, "", 0},
	{"mips old", arch.MIPS, "240210170000000c", "+24 +8 $pc:8" + mips(8), 4, 0, "", 0},
	{"mips n32", arch.MIPS, "240218430000000c", "+24" + info128 + uc32 + " +4" + mips(8) + " +256 +64 $pc:8", 4, 0, "", 0},
	{"mips n64", arch.MIPS64, "2402145b0000000c", "+24" + info128 + uc64 + mips(8) + " +256 +64 $pc", 4, 0, "", 0},
	{"ppc", arch.PPC, "380000ac44000002", "+64 +16" + info128 + uc32 + " +28 regs | " + list("r", 32) + " srr0 +8 +4 lr", 4, 0, "__kernel_sigtramp_rt32", 0},
	{"ppc old", arch.PPC, "3800007744000002", "+64 +28 regs | " + list("r", 32) + " srr0 +8 +4 lr", 4, 0, "__kernel_sigtramp32", 0},
	{"ppc64", arch.PPC64, "38210080380000ac44000002", "+128" + uc64 + mask128 + " +64 " + list("r", 32) + " srr0 +16 +8 lr", 8, 128, "__kernel_sigtramp_rt64", 0},
	{"ppc64 in QEMU", arch.PPC64, "380000ac44000002", "+144" + uc64 + mask128 + " +64 " + list("r", 32) + " srr0 +16 +8 lr", 4, 0, "", 0},
	{"riscv32", arch.RISCV, "9308b00873000000", info128 + uc32 + mask128 + " +12" + riscv, 4, 0, "__vdso_rt_sigreturn", 0},
	{"riscv64", arch.RISCV64, "9308b00873000000", info128 + uc64 + mask128 + " +8" + riscv, 4, 0, "__vdso_rt_sigreturn", 0},
	{"s390x", arch.S390X, "0aad", "+160 +8" + info128 + uc64 + " +8 pswa " + list("r", 16), 0, 0, "__kernel_rt_sigreturn", 0},
	{"s390x old", arch.S390X, "0a77", "+160 +8 regs | +8 pswa " + list("r", 16), 0, 0, "__kernel_sigreturn", 0},
}

const riscv = " pc ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"

// mips returns the registers in a sigcontext.
func mips(size int) string {
	var b strings.Builder
	for _, r := range strings.Fields("+4 +4 $at $v0 $v1 $a0 $a1 $a2 $a3 $t0 $t1 $t2 $t3 $t4 $t5 $t6 $t7 $s0 $s1 $s2 $s3 $s4 $s5 $s6 $s7 $t8 $t9 +8 +8 $gp $sp $fp $ra") {
		if b.WriteString(" " + r); r[0] != '+' {
			fmt.Fprintf(&b, ":%d", size)
		}
	}
	return b.String()
}

// Addresses in the test's process.
const (
	sigModule  = 0x400000
	sigHandler = sigModule + 0x104
	sigCode    = sigModule + 0x200 // interrupted
	sigTramp   = sigModule + 0x300
	sigStart   = sigModule + 0x408 // a return address in _start
	sigStack   = 0x10000
	sigPage    = 0x70000 // of code outside modules
	sigOther   = 0x90000 // the stack that was interrupted
)

// values returns the values that the frame gives its registers.
func (c *signalCase) values() map[string]uint64 {
	values := map[string]uint64{}
	for i, r := range c.arch.Regs {
		values[r.Name] = uint64(0x5000 + 8*i)
	}
	values[c.arch.PC], values[c.arch.SP] = sigCode, sigOther
	return values
}

// assembled returns the dump of a thread in a signal handler that returns to the trampoline. name, if
// not empty, is the name of the function there.
func (c *signalCase) assembled(t *testing.T, tramp uint64, name string) *walktest.Assembler {
	a := walktest.Assemble(t, c.arch, dump.Linux)
	word := c.arch.PtrSize
	rules := fmt.Sprintf(".cfa: %s %d + .ra: .cfa %d - ^\n", c.arch.SP, word, word)
	symbols := "FUNC 100 20 0 handler\nFUNC 200 20 0 interrupted\nFUNC 400 20 0 _start\n" +
		"STACK CFI INIT 100 20 " + rules + "STACK CFI INIT 200 20 " + rules
	if name != "" {
		symbols += "PUBLIC 300 0 " + name + "\n"
	}
	a.Module("prog", sigModule, 0x1000, symbols)
	a.At(sigStack).Word(tramp | c.thumb).Mark("frame")
	c.fields(a)
	a.At(sigOther).Word(sigStart).Zeros(4)
	return a.Regs(c.arch.PC, sigHandler, c.arch.SP, sigStack)
}

// fields adds the frame.
func (c *signalCase) fields(a *walktest.Assembler) {
	values := c.values()
	for _, field := range strings.Fields(c.frame) {
		name, size, sized := strings.Cut(field, ":")
		n := c.arch.PtrSize
		if sized {
			n, _ = strconv.Atoi(size)
		}
		switch {
		case field == "|":
			a.Zeros(5).Mark("regs") // it may be anywhere
		case field == "regs":
			a.Word("regs")
		case field == "signo":
			a.Add(walktest.AsmPart{Value: 11, Size: 4})
		case field[0] == '+':
			zeros, _ := strconv.Atoi(field)
			a.Bytes(make([]byte, zeros)...)
		default:
			if _, ok := values[name]; !ok {
				a.T.Fatalf("no register %s", name)
			}
			a.Add(walktest.AsmPart{Value: values[name], Size: n})
		}
	}
}

// check compares the frames from the trampoline on.
func (c *signalCase) check(t *testing.T, s *Stack, trust Trust, tramp uint64) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf(format+"\n%s", append(args, strings.Join(s.Trace, "\n"))...)
	}
	k := 0
	if tramp != 0 {
		k = 1
	}
	if len(s.Frames) != k+3 || s.End != EndStart {
		fail("%d frames, ends by %v: %s", len(s.Frames), s.End, s.Why)
		return
	}
	back, f := &s.Frames[k], &s.Frames[k+1]
	if tramp != 0 && (back.PC&^1 != tramp || back.Inst&^1 != tramp) || !back.Handler {
		fail("the handler returns to %#x, whose rules are those of %#x, handler %v", back.PC, back.Inst, back.Handler)
	}
	if f.PC != sigCode || f.Inst != sigCode || f.SP != sigOther || f.Trust != trust || f.By != BySignal || !f.Interrupted || f.Handler || f.Function() != "interrupted" {
		fail("%+v", f)
	}
	values := c.values()
	for _, field := range strings.Fields(c.frame) {
		name, _, _ := strings.Cut(field, ":")
		i, ok := c.arch.RegIndex(name)
		if !ok {
			continue
		}
		kept := false
		for _, r := range cpu.All[c.arch].Kept {
			kept = kept || int(r) == i
		}
		if v, ok := f.Register(i); kept && (!ok || v != values[name]) {
			fail("%s is %#x, want %#x", name, v, values[name])
		}
	}
}

func (c *signalCase) bytes(t *testing.T) []byte {
	b, err := hex.DecodeString(c.code)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Handlers return through code on a separate page, through code in a module, through a function
// that is known only by name, and to an unknown place.
func TestSignalFrames(t *testing.T) {
	for _, c := range signalCases {
		t.Run(c.name, func(t *testing.T) {
			a := c.assembled(t, sigPage, "")
			c.check(t, walkFirst(a.At(sigPage).Bytes(c.bytes(t)...), Config{}), TrustCFI, sigPage)

			a = c.assembled(t, sigTramp, "other")
			c.check(t, walkFirst(a.At(sigTramp).Bytes(c.bytes(t)...), Config{}), TrustCFI, sigTramp)

			if c.symbol != "" {
				c.check(t, walkFirst(c.assembled(t, sigTramp, c.symbol), Config{}), TrustCFI, sigTramp)
			}
			s := walkFirst(c.assembled(t, sigPage, ""), Config{})
			if strings.Contains(c.frame, "signo") || c.name == "ppc old" || c.name == "s390x old" { // or a pointer to the registers
				c.check(t, s, TrustCFIScan, sigPage)
			} else if len(s.Frames) > 1 && s.Frames[1].Handler {
				t.Errorf("a frame without siginfo_t and without a pointer was guessed")
			}
		})
	}
}

// A handler may return into a module without symbols and code. It does not if symbols or
// code contradict that.
func TestSignalFrameOfUnknownModule(t *testing.T) {
	for _, c := range signalCases {
		if !strings.Contains(c.frame, "signo") {
			continue
		}
		const tramp = 0x700000
		c.check(t, walkFirst(c.assembled(t, tramp, "").Module("bare", tramp, 0x1000, ""), Config{}), TrustCFIScan, tramp)
		for name, a := range map[string]*walktest.Assembler{
			"symbols": c.assembled(t, tramp, "").Module("bare", tramp, 0x1000, "PUBLIC 0 0 other\n"),
			"code":    c.assembled(t, tramp, "").Module("bare", tramp, 0x1000, "").At(tramp).Zeros(8),
		} {
			if s := walkFirst(a, Config{}); len(s.Frames) > 1 && s.Frames[1].Handler {
				t.Errorf("%s: a frame was guessed in spite of %s", c.name, name)
			}
		}
	}
}

// The registers are outside the dump's memory.
func TestSignalRegistersElsewhere(t *testing.T) {
	for _, c := range signalCases {
		if c.name != "ppc old" && c.name != "s390x old" {
			continue
		}
		a := c.assembled(t, sigPage, "").At(sigPage).Bytes(c.bytes(t)...)
		a.Regions[0].Parts = a.Regions[0].Parts[:2]
		if s := walkFirst(a, Config{Techniques: []Technique{BySymbols, BySignal}}); len(s.Frames) != 2 || !s.Frames[1].Handler {
			t.Errorf("%s: %d frames", c.name, len(s.Frames))
		}
	}
}

// musl has one name for both kinds of frames; it matches CPUs on which both are the same.
func TestSignalFrameNames(t *testing.T) {
	for _, c := range signalCases {
		if c.name == "x86-64" || c.name == "arm64" || c.name == "x86 old" || c.name == "arm old" {
			c.check(t, walkFirst(c.assembled(t, sigTramp, "__restore"), Config{}), TrustCFI, sigTramp)
		}
	}
}

// A thread is at the instruction that ends the handler.
func TestInTrampoline(t *testing.T) {
	for _, c := range signalCases {
		t.Run(c.name, func(t *testing.T) {
			a := c.assembled(t, sigPage, "").At(sigPage).Bytes(c.bytes(t)...)
			a.Threads = nil
			a.Regs(c.arch.PC, sigPage+c.last, c.arch.SP, sigStack+c.arch.PtrSize+c.pushed)
			c.check(t, walkFirst(a, Config{}), TrustCFI, 0)
		})
	}
}

// Other frames are not treated as signal frames.
func TestNoSignalFrame(t *testing.T) {
	c := &signalCases[0]
	code := c.bytes(t)
	for name, change := range map[string]func(a *walktest.Assembler){
		"other code":     func(a *walktest.Assembler) { a.At(sigPage).Bytes(code[:8]...).Bytes(0) },
		"code cut short": func(a *walktest.Assembler) { a.At(sigPage).Bytes(code[:8]...) },
		"Windows":        func(a *walktest.Assembler) { a.At(sigPage).Bytes(code...); a.Dump.System.OS = dump.Windows },
		"frame elsewhere": func(a *walktest.Assembler) {
			a.Regions[0].Parts = a.Regions[0].Parts[:4]
			a.At(sigPage).Bytes(code...)
		},
		"no number": func(a *walktest.Assembler) {
			for i := range a.Regions[0].Parts {
				if p := &a.Regions[0].Parts[i]; p.Size == 4 {
					p.Value = 65
				}
			}
		},
	} {
		a := c.assembled(t, sigPage, "")
		change(a)
		s := walkFirst(a, Config{Techniques: []Technique{BySymbols, BySignal}})
		if len(s.Frames) != 2 || s.Frames[1].Handler && name != "frame elsewhere" {
			t.Errorf("%s: %d frames\n%s", name, len(s.Frames), strings.Join(s.Trace, "\n"))
		}
	}
	a := c.assembled(t, sigPage, "").At(sigPage).Bytes(code...)
	if s := walkFirst(a, Config{Techniques: []Technique{BySymbols}}); len(s.Frames) != 2 {
		t.Errorf("not asked for: %d frames", len(s.Frames))
	}
}

// A signal interrupts a call of a null pointer: the walk continues with the return
// address.
func TestSignalInNullCall(t *testing.T) {
	c := signalCases[0]
	a := c.assembled(t, sigPage, "").At(sigPage).Bytes(c.bytes(t)...)
	for i := range a.Regions[0].Parts {
		if p := &a.Regions[0].Parts[i]; p.Value == uint64(sigCode) {
			p.Value = 0
		}
	}
	s := walkFirst(a, Config{})
	if len(s.Frames) != 4 || s.Frames[2].PC != 0 || s.Frames[3].By != ByReturn || s.Frames[3].Function() != "_start" {
		t.Errorf("%d frames\n%s", len(s.Frames), strings.Join(s.Trace, "\n"))
	}
}

// Every layout's registers are the CPU's, and signalCases has a frame of it.
func TestSignalTables(t *testing.T) {
	for a, c := range cpu.All {
		for _, l := range c.Frames {
			pc, sp := false, false
			for _, s := range l.Slots {
				c.Reg(s.Reg)
				pc, sp = pc || s.Reg == a.PC, sp || s.Reg == a.SP
			}
			if !pc || !sp || len(l.Code) == 0 {
				t.Errorf("%s %s: pc %v, sp %v, %d trampolines", a.Name, l.Name, pc, sp, len(l.Code))
			}
			if !slices.ContainsFunc(signalCases, func(c signalCase) bool {
				code := c.bytes(t)
				return c.arch == a && slices.ContainsFunc(l.Code, func(t cpu.Trampoline) bool { return bytes.Equal(t.Little, code) || bytes.Equal(t.Big, code) })
			}) {
				t.Errorf("%s %s: no test has this frame", a.Name, l.Name)
			}
		}
	}
}
