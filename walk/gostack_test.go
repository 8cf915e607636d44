package walk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/goroutine"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// goSymbols are the symbols of a program in which Go calls C, which calls Go. Frames have 16 bytes on x86-64: a frame
// pointer and the return address.
const goSymbols = "FUNC 100 100 0 leaf\nFUNC 200 100 0 runtime.asmcgocall\nFUNC 300 100 0 runtime.cgocallback\nFUNC 400 100 0 crosscall2\n" +
	"FUNC 500 100 0 c\nFUNC 600 100 0 goes\nFUNC 700 100 0 runtime.rt0_go\nPUBLIC 800 0 crosscall1\n" +
	"STACK CFI INIT 100 100 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI INIT 200 100 .cfa: $rsp 16 + .ra: .cfa 8 - ^\n" +
	"STACK CFI INIT 300 100 .cfa: $rsp 24 + .ra: .cfa 8 - ^\nSTACK CFI INIT 400 100 .cfa: $rsp 80 + .ra: .cfa 8 - ^\n" +
	"STACK CFI INIT 500 100 .cfa: $rbp 16 + .ra: .cfa 8 - ^ $rbp: .cfa 16 - ^\nSTACK CFI INIT 600 100 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"

const (
	inCall, inBack, inCross, inC, inGo, inStart = 0x400250, 0x400350, 0x400450, 0x400550, 0x400650, 0x400750
	goStackAt                                   = 0x10000000
)

// callsBoth is the stack of a thread that has entered C twice: C, Go, C, Go, C. The goroutines' stacks are at lower
// addresses.
func callsBoth(t *testing.T) *walktest.Assembler {
	a := walktest.Assemble(t, arch.X86_64, dump.Linux).Module("app", 0x400000, 0x1000, goSymbols)
	callback := func(n string, before any) { // cgocallback and crosscall2 on the thread's stack, and C
		a.Mark("back"+n).Words(before, walktest.Junk, inCross)
		a.Words(walktest.Junk, walktest.Junk, walktest.Junk, 1, 2, 3, 4, 5, "c"+n, inC) // crosscall2: arguments, registers
		a.Mark("c"+n).Words(0, inCall)
	}
	a.At(stackAt).Mark("sp").Word(inCall).Words(100*8, "g") // leaf; asmcgocall: the depth, the goroutine
	callback("1", "back2")
	a.Words(60*8, "g")
	callback("2", walktest.Junk)
	a.Words(20*8, "g").Zeros(20)

	a.At(goStackAt).Words(walktest.Junk, inGo, inBack).Words(walktest.Junk, walktest.Junk, inGo).Zeros(34) // 100 from the end
	a.Words(walktest.Junk, inGo, inBack).Words(walktest.Junk, walktest.Junk, inGo).Zeros(34)               // 60
	a.Words(walktest.Junk, inGo, inStart).Zeros(17).Mark("hi")                                             // 20
	return a.At(0x20000000).Mark("g").Words(goStackAt, "hi")
}

// A walk goes from C to Go and back by means of what the runtime records.
func TestGoStack(t *testing.T) {
	a := callsBoth(t)
	a.Regs("$rip", 0x400120, "$rsp", "sp")
	d := a.Build()
	both := []string{"leaf", "runtime.asmcgocall", "goes", "runtime.cgocallback", "crosscall2", "c", "runtime.asmcgocall", "goes",
		"runtime.cgocallback", "crosscall2", "c", "runtime.asmcgocall", "goes", "runtime.rt0_go"}
	for _, c := range []struct {
		name string
		g    *goroutine.Goroutine
		want string
	}{
		{"the thread's stack pointer is known", &goroutine.Goroutine{SystemSP: a.Labels["back1"]}, strings.Join(both, " ")},
		{"it is not known", &goroutine.Goroutine{}, "leaf runtime.asmcgocall goes runtime.cgocallback goes"},
		{"it is wrong", &goroutine.Goroutine{SystemSP: a.Labels["g"]}, "leaf runtime.asmcgocall goes runtime.cgocallback goes"},
	} {
		w := NewWalker(assembledSources(a), Config{Trace: true})
		res := &Result{Dump: d, Modules: make([]Symbols, len(d.Modules)), readGoroutines: true}
		c.g.Thread = 0
		res.running = []goroutine.Goroutine{*c.g}
		s := Stack{}
		w.thread(t.Context(), res, &s)
		var names []string
		for i := range s.Frames {
			names = append(names, s.Frames[i].Function())
		}
		got := strings.Join(names, " ")
		if got != c.want && !(c.g.SystemSP != a.Labels["back1"] && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: %s (%s)\nwant %s\n%s", c.name, got, s.Why, c.want, strings.Join(s.Trace, "\n"))
		}
	}
}

// C's registers are those that crosscall1 and crosscall2 pushed.
func TestGoThread(t *testing.T) {
	a := walktest.Assemble(t, arch.X86_64, dump.Linux).Module("app", 0x400000, 0x1000, goSymbols)
	a.At(stackAt).Mark("sp").Words(0x400850, 15, 14, 13, 12, "fp", 3, inC).Mark("fp").Words(0, inStart).Zeros(4)
	s := walkFirst(a.Regs("$rip", 0x400120, "$rsp", "sp"), Config{})
	wantStack(a, s, EndStart, "400120 context context leaf", "400850 cfi symbols crosscall1", "400550 cfi go-stack c; $rbx=3 $r15=f $rbp=fp",
		"400750 cfi symbols runtime.rt0_go")
}

// In a stripped program crosscall1 has no name, and its caller no function: the code identifies it.
func TestGoThreadStripped(t *testing.T) {
	const symbols = "FUNC 100 100 0 runtime.mstart\nSTACK CFI INIT 100 100 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI INIT 500 100 .cfa: $rbp 16 + .ra: .cfa 8 - ^ $rbp: .cfa 16 - ^\n"
	for _, c := range []struct {
		code string
		want []string
	}{
		{"\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5d\x5b\xc3", []string{"400120 context context runtime.mstart", "400850 cfi symbols ", "400550 cfi go-stack ; $rbx=3 $r15=f $rbp=fp"}},
		{"\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5b\x5d\xc3", []string{"400120 context context runtime.mstart", "400850 cfi symbols "}},
	} {
		a := walktest.Assemble(t, arch.X86_64, dump.Linux).Module("app", 0x400000, 0x1000, symbols)
		a.At(0x400850).Bytes([]byte(c.code)...)
		a.At(stackAt).Mark("sp").Words(0x400850, 15, 14, 13, 12, "fp", 3, inC).Mark("fp").Zeros(4)
		s := walkFirst(a.Regs("$rip", 0x400120, "$rsp", "sp"), Config{MaxFrames: len(c.want)})
		wantStack(a, s, EndLimit, c.want...)
	}
}

// Where Go's runtime left a goroutine's stack, the walk continues there if it is known which goroutine that is.
func TestGoScheduler(t *testing.T) {
	const symbols = "FUNC 100 100 0 leaf\nFUNC 200 100 0 %s\nFUNC 300 100 0 goes\nFUNC 400 100 0 runtime.rt0_go\nFUNC 500 100 0 runtime.schedule\n" +
		"STACK CFI INIT 100 100 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI INIT 200 100 .cfa: $rsp 16 + .ra: .cfa 8 - ^\n" +
		"STACK CFI INIT 300 100 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI INIT 500 100 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"
	scheduled := func(pc, sp uint64) *dump.Context {
		c := dump.NewContext(arch.X86_64)
		c.Set("$rip", pc)
		c.Set("$rsp", sp)
		return c
	}
	const left, returns, own = goStackAt + 0x10, 0x400350, 0x400050 // the goroutine's stack, code after a call, code after none
	running := goroutine.Goroutine{Locked: -1, Sched: scheduled(returns, left+16), Stack: dump.Range{Addr: goStackAt, Size: 0x40}}
	locked, other, system, elsewhere, damaged := running, running, running, running, running
	system.Sched = scheduled(0x400210, left) // in the frame of systemstack
	locked.Thread, locked.Locked = -1, 0
	other.Thread = 1
	elsewhere.Sched = scheduled(0x400210, stackAt)
	damaged.Sched = scheduled(own, left+16)
	for _, c := range []struct {
		name, function string
		schedules      bool // the scheduler chose another goroutine
		g              goroutine.Goroutine
		want           string
	}{
		{"a goroutine stops", "runtime.mcall", false, running, "leaf runtime.mcall goes runtime.rt0_go"},
		{"its stack grows", "runtime.morestack.abi0", false, running, "leaf runtime.morestack.abi0 goes runtime.rt0_go"},
		{"another one may run", "runtime.mcall", true, running, "leaf runtime.schedule runtime.mcall"},
		{"the thread waits for it", "runtime.mcall", true, locked, "leaf runtime.schedule runtime.mcall goes runtime.rt0_go"},
		{"another thread runs it", "runtime.mcall", false, other, "leaf runtime.mcall"},
		{"its registers are no caller's", "runtime.mcall", false, damaged, "leaf runtime.mcall"},
		{"the runtime works", "runtime.systemstack.abi0", false, system, "leaf runtime.systemstack.abi0 goes runtime.rt0_go"},
		{"the goroutine has another stack", "runtime.systemstack", false, elsewhere, "leaf runtime.systemstack"},
		{"no goroutine has it", "runtime.systemstack", false, locked, "leaf runtime.systemstack"},
	} {
		a := walktest.Assemble(t, arch.X86_64, dump.Linux).Module("app", 0x400000, 0x1000, fmt.Sprintf(symbols, c.function))
		a.At(stackAt).Mark("sp")
		if c.schedules {
			a.Word(0x400550)
		}
		a.Word(0x400250).Words(walktest.Junk, inGo, inStart)
		a.At(left).Words(walktest.Junk, returns, 0x400450).Zeros(4)
		w := NewWalker(assembledSources(a), Config{Trace: true})
		d := a.Regs("$rip", 0x400120, "$rsp", "sp").Build()
		res := &Result{Dump: d, Modules: make([]Symbols, len(d.Modules)), readGoroutines: true, running: []goroutine.Goroutine{c.g}}
		s := Stack{}
		w.thread(t.Context(), res, &s)
		var names []string
		for i := range s.Frames {
			names = append(names, s.Frames[i].Function())
		}
		if got := strings.Join(names, " "); got != c.want || s.End != EndStart {
			t.Errorf("%s: %s (%v: %s)\nwant %s\n%s", c.name, got, s.End, s.Why, c.want, strings.Join(s.Trace, "\n"))
		}
	}
}

// During a call of the vDSO, the goroutine's stack pointer is in a register.
func TestGoVDSO(t *testing.T) {
	a := walktest.Assemble(t, arch.X86_64, dump.Linux).Module("app", 0x400000, 0x1000, strings.ReplaceAll(goSymbols, "runtime.asmcgocall", "runtime.nanotime1"))
	a.At(stackAt).Mark("sp").Words(inCall, inGo, inGo, inGo).Zeros(4)
	a.At(goStackAt).Words("fp", inGo, inStart).Mark("fp").Zeros(4)
	s := walkFirst(a.Regs("$rip", 0x400120, "$rsp", "sp", "$r12", goStackAt), Config{})
	wantStack(a, s, EndStart, "400120 context context leaf", "400250 cfi symbols runtime.nanotime1", "400650 cfi go-stack goes; $rbp=fp",
		"400750 cfi symbols runtime.rt0_go")
}
