package report

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

func textOf(t *testing.T, r *walk.Result, o TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func machineOf(t *testing.T, r *walk.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteMachine(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// shownProcess returns a process with everything that the outputs show: inlined functions; modules without
// symbols, with damaged symbols, and unloaded; three threads, one of which wrote the dump; and names that
// must not reach a terminal as they are.
func shownProcess(t *testing.T) *walktest.Assembler {
	a := walktest.Assemble(t, arch.X86_64, dump.Linux)
	a.Module("/usr/bin/app|\x1b[31m", 0x400000, 0x10000, `FILE 0 /src/main.c
FILE 1 /src/inner|.h
INLINE_ORIGIN 0 inner
INLINE_ORIGIN 1 middle|
FUNC 1000 100 0 main(int, char**)
INLINE 0 20 0 1 1010 20
INLINE 1 7 1 0 1014 8
1000 10 10 0
1010 10 3 1
1020 e0 11 0
PUBLIC 3000 0 pub`+"\x07"+`
STACK CFI INIT 1000 100 .cfa: $rsp 16 + .ra: .cfa 8 - ^
STACK CFI INIT 3000 100 .cfa: $rsp 40 + .ra: .cfa 8 - ^
`)
	a.Module(`C:\lib\none.so`, 0x500000, 0x1000, "")
	a.Module("/lib/bad.so", 0x600000, 0x1000, "FUNC 100 10 0 bad\nFUNC nonsense\n")
	a.At(0x80000000).Mark("sp").Words(0x4141414141414142, 0x403010).Mark("sp1").Words(1, 0x401014, 0x600105, 4, 0x500100).Mark("sp2")
	a.Bytes([]byte("text\x1b[0m of it")...).Bytes(0, 0).Words(0x600108).Mark("sp3").Words(0, 0)
	a.Regs("$rip", 0x401018, "$rsp", "sp", "$rbp", 0, "$rax", 1)
	a.Regs("$rip", 0x403010, "$rsp", "sp1")
	a.Regs("$rip", 0x401018, "$rsp", "sp")
	a.Crashed(dump.Crash{Code: 11, Flags: 1, Address: 0x10, HasAddress: true})
	a.Dump.Threads = nil
	d := a.Dump
	d.System = dump.System{OS: dump.Linux, Version: "6.1.0", Build: "Linux 6.1.0 #1 \x1b[m x86_64", CPU: "amd64", Model: "family 6 model 1 stepping 2", CPUs: 8}
	d.Time, d.Process.Started = time.Unix(1000, 0), time.Unix(900, 0)
	d.HasWriter, d.Writer = true, 1
	return a
}

// walkShown walks shownProcess. Thread 2, which crashed, is the last of three;
// the first wrote the dump.
func walkShown(t *testing.T, change func(*dump.Dump)) *walk.Result {
	t.Helper()
	a := shownProcess(t)
	d := a.Build()
	d.Threads[1].Name = "second \x1b[2J"
	d.Unloaded = []dump.Module{{Range: dump.Range{Addr: 0x700000, Size: 0x1000}, Path: "/lib/gone.so"}}
	if change != nil {
		change(d)
	}
	res, err := walk.NewWalker(walks.AssembledSources(a), walk.Config{Techniques: []walk.Technique{walk.BySymbols, walk.ByScan}}).Walk(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestText(t *testing.T) {
	g := testenv.Golden(t)
	r := walkShown(t, nil)
	for name, o := range map[string]TextOptions{
		"plain":     {},
		"registers": {Registers: true},
		"stack":     {Stack: true},
		"brief":     {Brief: true},
		"ends":      {Registers: true, Ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			text := textOf(t, r, o)
			if strings.ContainsAny(text, "\x1b\x07") {
				t.Error("control characters")
			}
			g.Assert(t, "text-"+name, []byte(text))
		})
	}
	g.Assert(t, "machine", []byte(machineOf(t, r)))
}

// A dump on request, one without a reason, and a failed check.
func TestTextWithoutCrash(t *testing.T) {
	for name, c := range map[string]struct {
		change        func(*dump.Dump)
		text, machine string // a part of each
	}{
		"requested": {func(d *dump.Dump) { d.Crash, d.HasRequester, d.Requester = nil, true, 2 },
			"No crash\nProcess uptime: 100 seconds\n\nThread 0 (requested dump, did not crash)\n", "\nCrash|No crash||0\n"},
		"nobody":    {func(d *dump.Dump) { d.Crash = nil }, "No crash\nProcess uptime: 100 seconds\n\nThread 0\n", "\nCrash|No crash||\n"},
		"no times":  {func(d *dump.Dump) { d.Time = time.Time{} }, "Process uptime: not available\n", ""},
		"backwards": {func(d *dump.Dump) { d.Time = time.Unix(800, 0) }, "Process uptime: not available\n", ""},
		"other thread": {func(d *dump.Dump) { d.Crash.Thread = 77 },
			"Crash reason:  SIGSEGV /SEGV_MAPERR\nCrash address: 0x10\nProcess uptime: 100 seconds\n\nThread 0\n", "\nCrash|SIGSEGV /SEGV_MAPERR|0x10|\n"},
		"assertion": {func(d *dump.Dump) {
			d.Crash, d.Assertion = nil, &dump.Assertion{Expression: "a == b", Function: "f|", File: "x.c", Line: 5, Type: 1}
		}, "No crash\nAssertion: Invalid parameter passed to library function a == b in function f|, in file x.c at line 5\n",
			"\nCrash|Invalid parameter passed to library function a == b in function f, in file x.c at line 5||\n"},
		"virtual call": {func(d *dump.Dump) { d.Assertion = &dump.Assertion{Type: 2} }, "\nAssertion: Pure virtual function called\n", ""},
		"other check":  {func(d *dump.Dump) { d.Assertion = &dump.Assertion{Type: 3, Line: 1} }, "\nAssertion: Unknown assertion type 0x00000003 at line 1\n", ""},
		"no context":   {func(d *dump.Dump) { d.Threads[1].Context = nil }, "\nThread 0\n <no frames>\n", ""},
		"stopped":      {func(d *dump.Dump) { d.Crash.Code = 19 }, "\nThread 1 (stopped)\n", ""},
		"one CPU":      {func(d *dump.Dump) { d.System.CPUs, d.System.Model = 1, "" }, "CPU: amd64\n     1 CPU\n\nGPU: UNKNOWN\n", "\nCPU|amd64||1\nGPU|||\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := walkShown(t, c.change)
			if text := textOf(t, r, TextOptions{}); !strings.Contains(text, c.text) {
				t.Errorf("missing %q in\n%s", c.text, text)
			}
			if text := machineOf(t, r); !strings.Contains(text, c.machine) {
				t.Errorf("missing %q in\n%s", c.machine, text)
			}
		})
	}
}

// Brief text has all threads of a process that was stopped to be dumped, because none of them is the cause.
func TestTextStopped(t *testing.T) {
	text := textOf(t, walkShown(t, func(d *dump.Dump) { d.Crash.Code = 19 }), TextOptions{Brief: true})
	for _, want := range []string{"Thread 1 (stopped)\n", "\nThread 0\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %q in\n%s", want, text)
		}
	}
}

// A frame in an unloaded module, and one in no module.
func TestTextUnloaded(t *testing.T) {
	r := walkShown(t, func(d *dump.Dump) {
		d.Threads[1].Context.Set("$rip", 0x700123)
		d.Threads[1].Context.Set("$rsp", 0)
	})
	if text, want := textOf(t, r, TextOptions{}), " 0  gone.so + 0x123 (unloaded)\n"; !strings.Contains(text, want) {
		t.Errorf("missing %q in\n%s", want, text)
	}
	if text := machineOf(t, r); !strings.Contains(text, "\n0|0|gone.so||||0x123\n") {
		t.Errorf("got\n%s", text)
	}
	if page := pageOf(t, r, HTMLOptions{}); !strings.Contains(page, `"gone.so (unloaded)"`) || !strings.Contains(page, `,3,"123",`) {
		t.Error("the page has no frame at 123 in the module behind the three that are loaded")
	}
	other := dump.Module{Range: dump.Range{Addr: 0x6ff000, Size: 0x2000}, Path: "/lib/other.so"}
	r.Dump.Unloaded = []dump.Module{other, r.Dump.Unloaded[0], r.Dump.Unloaded[0]}
	if text, want := textOf(t, r, TextOptions{}), " 0  0x700123 (unloaded: other.so + 0x1123, or gone.so + 0x123)\n"; !strings.Contains(text, want) {
		t.Errorf("missing %q in\n%s", want, text)
	}
	r.Dump.Unloaded = nil
	if text := textOf(t, r, TextOptions{}); !strings.Contains(text, " 0  0x700123\n") {
		t.Errorf("got\n%s", text)
	}
	if text := machineOf(t, r); !strings.Contains(text, "\n0|0|||||0x700123\n") {
		t.Errorf("got\n%s", text)
	}
}

// Every CPU's registers, in Breakpad's columns.
func TestTextRegisters(t *testing.T) {
	var all bytes.Buffer
	for _, cpu := range []*arch.Arch{
		arch.X86, arch.X86_64, arch.ARM, arch.ARM64, arch.MIPS, arch.MIPS64, arch.PPC, arch.PPC64, arch.RISCV, arch.RISCV64, arch.S390X,
	} {
		if len(cpu.Shown.Regs) == 0 {
			t.Errorf("%s shows no registers", cpu.Name)
		}
		for _, r := range append(slices.Clone(cpu.Shown.Regs), cpu.Shown.Whole...) {
			if _, ok := cpu.RegIndex(r.Reg); !ok {
				t.Errorf("%s has no register %s", cpu.Name, r.Reg)
			}
		}
		a := walktest.Assemble(t, cpu, dump.Linux)
		var values []any
		for i, r := range cpu.Regs {
			values = append(values, r.Name, 0x1000+i)
		}
		r := walks.Assembled(a.Regs(values...), walk.Config{Techniques: []walk.Technique{}})
		text := textOf(t, r, TextOptions{Registers: true})
		_, text, _ = strings.Cut(text, "\n\nThread 0\n")
		text, _, _ = strings.Cut(text, "    Found by")
		all.WriteString(cpu.Name + "\n" + text)
	}
	testenv.Golden(t).Assert(t, "text-cpus", all.Bytes())
}

// A frame of 2 GB shows its beginning.
func TestTextLargeFrame(t *testing.T) {
	a := walktest.Assemble(t, arch.X86_64, dump.Linux)
	a.Module("app", 0x400000, 0x1000, "FUNC 100 10 0 f\nSTACK CFI INIT 100 10 .cfa: 2415919104 .ra: 4194560\n")
	a.Regs("$rip", 0x400100, "$rsp", 0x10000000)
	r := walks.Assembled(a, walk.Config{MaxFrames: 2})
	text := textOf(t, r, TextOptions{Stack: true})
	if len(r.Stacks[0].Frames) != 2 || len(text) > 10<<20 || !strings.Contains(text, "\n     ...\n") {
		t.Errorf("%d frames, %d bytes of text", len(r.Stacks[0].Frames), len(text))
	}
}

type brokenPipe struct{ left int }

func (w *brokenPipe) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errBroken
	}
	return len(b), nil
}

var errBroken = errors.New("broken pipe")

// A write error is returned.
func TestTextWriteError(t *testing.T) {
	r := walkShown(t, nil)
	if err := WriteText(&brokenPipe{}, r, TextOptions{}); !errors.Is(err, errBroken) {
		t.Errorf("text: %v", err)
	}
	if err := WriteMachine(&brokenPipe{}, r); !errors.Is(err, errBroken) {
		t.Errorf("machine: %v", err)
	}
}

// Breakpad's words for why a process crashed.
func TestBreakpadReason(t *testing.T) {
	for _, c := range []struct {
		os    dump.OS
		crash dump.Crash
		want  string
	}{
		{dump.Linux, dump.Crash{Code: 11, Flags: 1}, "SIGSEGV /SEGV_MAPERR"},
		{dump.Linux, dump.Crash{Code: 11, Flags: 0x80}, "SIGSEGV /0x00000080"},
		{dump.Android, dump.Crash{Code: 8, Flags: 1}, "SIGFPE / FPE_INTDIV"},
		{dump.Linux, dump.Crash{Code: 7}, "SIGBUS / 0x00000000"},
		{dump.Linux, dump.Crash{Code: 6, Flags: 0xfffffffa}, "SIGABRT"},
		{dump.Linux, dump.Crash{Code: 5, Flags: 1}, "SIGTRAP"},
		{dump.Linux, dump.Crash{Code: 0xffffffff}, "DUMP_REQUESTED"},
		{dump.MacOS, dump.Crash{Code: 1, Flags: 1}, "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS"},
		{dump.Windows, dump.Crash{Code: 0xc0000005, Params: []uint64{8, 1}}, "EXCEPTION_ACCESS_VIOLATION_EXEC"},
		{dump.Windows, dump.Crash{Code: 0xc0000409, Params: []uint64{2}}, "FAST_FAIL_STACK_COOKIE_CHECK_FAILURE"},
		{dump.Windows, dump.Crash{Code: 0xc0000409, Params: []uint64{0xffff}}, "EXCEPTION_STACK_BUFFER_OVERRUN"},
		{dump.Windows, dump.Crash{Code: 0xe06d7363}, "Unhandled C++ Exception"},
		{dump.Windows, dump.Crash{Code: 0x12345678, Flags: 9}, "0x12345678 / 0x00000009"},
		{dump.Windows, dump.Crash{Code: 0xc0000001}, "STATUS_UNSUCCESSFUL"}, // Breakpad has no name for it
	} {
		d := dump.Dump{System: dump.System{OS: c.os}, Crash: &c.crash, Arch: arch.X86_64}
		if got := breakpadReason(&d); got != c.want {
			t.Errorf("%v %+v: %s, want %s", c.os, c.crash, got, c.want)
		}
	}
}
