package walk

import (
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/goroutine"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// goSymbols are those of a program in which Go calls C, which calls Go. Frames have 16 bytes on x86-64: a frame pointer and
// the return address.
const goSymbols = "FUNC 100 100 0 leaf\nFUNC 200 100 0 runtime.asmcgocall\nFUNC 300 100 0 runtime.cgocallback\nFUNC 400 100 0 crosscall2\n" +
	"FUNC 500 100 0 c\nFUNC 600 100 0 goes\nFUNC 700 100 0 runtime.rt0_go\nPUBLIC 800 0 crosscall1\n" +
	"STACK CFI INIT 100 100 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI INIT 200 100 .cfa: $rsp 16 + .ra: .cfa 8 - ^\n" +
	"STACK CFI INIT 300 100 .cfa: $rsp 24 + .ra: .cfa 8 - ^\nSTACK CFI INIT 400 100 .cfa: $rsp 80 + .ra: .cfa 8 - ^\n" +
	"STACK CFI INIT 500 100 .cfa: $rbp 16 + .ra: .cfa 8 - ^ $rbp: .cfa 16 - ^\nSTACK CFI INIT 600 100 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"

const (
	inCall, inBack, inCross, inC, inGo, inStart = 0x400250, 0x400350, 0x400450, 0x400550, 0x400650, 0x400750
	goStackAt                                   = 0x10000000
)

// callsBoth is the stack of a thread that C has entered twice: C, Go, C, Go, C. Stacks of goroutines are below it.
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

// A stack goes from C to Go and back through what the runtime keeps.
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

// Registers of C are those that crosscall1 and crosscall2 pushed.
func TestGoThread(t *testing.T) {
	a := walktest.Assemble(t, arch.X86_64, dump.Linux).Module("app", 0x400000, 0x1000, goSymbols)
	a.At(stackAt).Mark("sp").Words(0x400850, 15, 14, 13, 12, "fp", 3, inC).Mark("fp").Words(0, inStart).Zeros(4)
	s := walkFirst(a.Regs("$rip", 0x400120, "$rsp", "sp"), Config{})
	wantStack(a, s, EndStart, "400120 context context leaf", "400850 cfi symbols crosscall1", "400550 cfi go-stack c; $rbx=3 $r15=f $rbp=fp",
		"400750 cfi symbols runtime.rt0_go")
}
