package walk

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/cpu"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// walkDump walks a dump, and fails the test if that takes long.
func walkDump(t testing.TB, s *SymbolSet, d *dump.Dump, c Config) *Result {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	res, err := NewWalker(s, c).Walk(ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Walks of stacks and rules that lead nowhere end, and give a reason.
func TestHostileStacks(t *testing.T) {
	const rules = "STACK CFI INIT 100 200 "
	for _, c := range []struct {
		name    string
		symbols string
		fill    func(*walktest.Assembler)
		regs    []any
		end     End
		frames  int // at most
	}{
		{"frame pointers in a circle", "", func(a *walktest.Assembler) {
			a.Mark("fp1").Words("fp2", inG).Mark("fp2").Words("fp1", inF)
		}, []any{"$rsp", "sp", "$rbp", "fp1"}, EndNoMemory, 3},
		{"a frame pointer that points to itself", "", func(a *walktest.Assembler) { a.Mark("fp1").Words("fp1", inG, walktest.Junk) },
			[]any{"$rsp", "sp", "$rbp", "fp1"}, EndNothing, 2},
		{"rules that never advance", rules + ".cfa: $rsp .ra: $rsp ^\n", func(a *walktest.Assembler) { a.Words(inG, walktest.Junk) },
			[]any{"$rsp", "sp"}, EndStuck, 1},
		{"rules that go down", rules + ".cfa: $rsp 8 - .ra: $rsp ^\n", func(a *walktest.Assembler) { a.Words(inG, walktest.Junk) },
			[]any{"$rsp", "sp"}, EndStuck, 1},
		{"rules that go up and down", rules + ".cfa: $rsp 16 + .ra: $rsp 8 + ^\nSTACK CFI 200 .cfa: $rsp 16 -\n",
			func(a *walktest.Assembler) { a.Words(walktest.Junk, inG, walktest.Junk, inF, walktest.Junk) }, []any{"$rsp", "sp"}, EndStuck, 2},
		{"a stack pointer from memory in a circle", rules + ".cfa: $rsp 8 + .ra: $rsp 8 + ^ $rsp: $rsp ^ $rax: $rsp 16 + ^\n",
			func(a *walktest.Assembler) { a.Words("sp", inG, walktest.Junk, walktest.Junk) }, []any{"$rsp", "sp"}, EndStuck, maxJumps + 2},
		{"rules that go up by less than a word", rules + ".cfa: $rsp 1 + .ra: $rsp ^\n", func(a *walktest.Assembler) { a.Words(inG, inG, inG) }, []any{"$rsp", "sp"}, EndStuck, 1},
		{"rules that read nothing", rules + ".cfa: $rsp 8 + .ra: 4194592\n", func(a *walktest.Assembler) { a.Words(inG, walktest.Junk) }, []any{"$rsp", "sp"}, EndStuck, 2},
		{"rules that overflow", rules + ".cfa: $rsp 18446744073709551608 + .ra: $rsp ^\n", func(a *walktest.Assembler) { a.Words(inG, walktest.Junk) },
			[]any{"$rsp", "sp"}, EndStuck, 1},
		{"rules that jump to the end of addresses", rules + ".cfa: 18446744073709551608 .ra: $rsp ^ $rbp: $rbp\n",
			func(a *walktest.Assembler) { a.Words(inG, walktest.Junk) }, []any{"$rsp", "sp", "$rbp", uint64(1<<64 - 8)}, EndNoMemory, 2},
		{"a stack pointer at the end of addresses", "", func(a *walktest.Assembler) { a.Words(walktest.Junk).At(1<<64-16).Words(walktest.Junk, inG) },
			[]any{"$rsp", uint64(1<<64 - 16)}, EndStuck, 1},
		{"a stack pointer that is not aligned at the end of addresses", "", func(a *walktest.Assembler) { a.Words(walktest.Junk).At(1<<64-16).Words(walktest.Junk, inG) },
			[]any{"$rsp", uint64(1<<64 - 3)}, EndNoMemory, 1},
		{"a frame pointer at the end of addresses", "", func(a *walktest.Assembler) { a.Words(walktest.Junk, walktest.Junk) },
			[]any{"$rsp", "sp", "$rbp", uint64(1<<64 - 8)}, EndNothing, 1},
		{"no stack pointer", rules + ".cfa: $rsp 8 + .ra: $rsp ^\n", func(a *walktest.Assembler) { a.Words(inG) }, []any{"$rbp", walktest.Junk}, EndNoMemory, 1},
		{"no stack pointer, a frame pointer", "", func(a *walktest.Assembler) { a.Words(walktest.Junk).Mark("fp").Words(0, inG, walktest.Junk) }, []any{"$rbp", "fp"}, EndOutermost, 2},
		{"a return address in the first page", rules + ".cfa: $rsp 8 + .ra: $rsp ^\n", func(a *walktest.Assembler) { a.Words(0xfff, inG) }, []any{"$rsp", "sp"}, EndZero, 1},
		{"rules for everything, and no memory", rules + ".cfa: $rsp 8 + .ra: $rsp ^\n", func(a *walktest.Assembler) {}, []any{"$rsp", "sp"}, EndNoMemory, 1},
		{"rules that are no rules", rules + ".cfa .ra: = =\n", func(a *walktest.Assembler) { a.Words(inG, walktest.Junk) }, []any{"$rsp", "sp"}, EndNothing, 2},
		{"a rule of thousands of operators", rules + ".cfa: $rsp " + strings.Repeat("1 + ", 5000) + ".ra: $rsp ^\n",
			func(a *walktest.Assembler) { a.Words(inG, walktest.Junk) }, []any{"$rsp", "sp"}, EndNothing, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := walktest.Assemble(t, arch.X86_64, dump.Linux).Module("app", 0x400000, 0x1000, twoFunctions+c.symbols).At(stackAt).Mark("sp")
			c.fill(a)
			s := walkFirst(a.Regs(append(c.regs, "$rip", 0x400120)...), Config{})
			if s.End != c.end || len(s.Frames) > c.frames || len(s.Frames) == 0 || s.Why == "" {
				t.Errorf("end %v (%s), %d frames, want %v, at most %d\n%s", s.End, s.Why, len(s.Frames), c.end, c.frames, strings.Join(s.Trace, "\n"))
			}
		})
	}
}

// Dumps that lack everything give an end for each thread.
func TestHostileNothing(t *testing.T) {
	if res := walkDump(t, &SymbolSet{}, &dump.Dump{Main: -1}, Config{}); len(res.Stacks) != 0 {
		t.Errorf("%d stacks", len(res.Stacks))
	}
	for _, a := range arch.All {
		if cpu.All[a] == nil {
			t.Fatalf("%s is not walked", a.Name)
		}
		bare := dump.NewContext(a)
		lone := dump.NewContext(a)
		lone.Set(a.PC, 0x1234)
		all := dump.NewContext(a)
		for i := range a.Regs {
			all.SetAt(i, 1<<64-1)
		}
		d := &dump.Dump{Main: -1, Threads: []dump.Thread{
			{ID: 1}, {ID: 2, Context: &dump.Context{}}, {ID: 3, Context: bare}, {ID: 4, Context: lone}, {ID: 5, Context: all},
		}, Crash: &dump.Crash{Thread: 9}}
		for i, want := range []End{EndNoContext, EndNoContext, EndNoContext, EndNoMemory, EndNoMemory} {
			s := walkDump(t, &SymbolSet{}, d, Config{}).Stacks[i]
			if s.End != want || s.Why == "" || len(s.Frames) != map[bool]int{true: 1}[want == EndNoMemory] {
				t.Errorf("%s: thread %d: %v (%s), %d frames", a.Name, i, s.End, s.Why, len(s.Frames))
			}
		}
	}
}

// Modules that overlap lose only the overlap.
func TestHostileModules(t *testing.T) {
	a := walktest.Assemble(t, arch.X86_64, dump.Linux)
	a.Module("low", 0x400000, 1<<60, "FUNC 100 100 0 f\n").Module("high", 0x500000, 0x1000, "FUNC 100 100 0 g\n").Module("same", 0x500000, 8, "")
	a.Module("end", 1<<64-0x1000, 1<<20, "").At(stackAt).Mark("sp").Words(walktest.Junk, 0x500150, walktest.Junk, uint64(1<<64-8), 0x4000_0000, 0x400150, walktest.Junk)
	s := walkFirst(a.Regs("$rip", 0x400120, "$rsp", "sp"), Config{})
	wantStack(a, s, EndNothing, "400120 context context f", "500150 scan scan g", "fffffffffffffff8 scan scan", "400150 scan scan f")
}

// stackOf returns an amd64 stack of n frames of 16 bytes each, in a module with rules.
func stackOf(t *testing.T, n int) (*walktest.Assembler, *dump.Dump) {
	a := walktest.Assemble(t, arch.X86_64, dump.Linux)
	a.Module("app", 0x400000, 0x1000, twoFunctions+"STACK CFI INIT 100 200 .cfa: $rsp 16 + .ra: .cfa 8 - ^ $rbx: .cfa 16 - ^\n").At(stackAt).Mark("sp").Word(walktest.Junk)
	a.Regs("$rip", 0x400120, "$rsp", "sp", "$rbp", 1, "$r12", 2, "$r13", 3, "$r14", 4, "$r15", 5)
	d := a.Build()
	data := make([]byte, 16*n)
	for i := 8; i < len(data); i += 16 {
		binary.LittleEndian.PutUint64(data[i:], inF)
	}
	d.Memory, d.Size = dump.NewMemory(binary.LittleEndian, []dump.Region{{Addr: stackAt, Data: data}}), int64(len(data))
	return a, d
}

// Ten thousand threads are walked fast.
func TestHostileThreads(t *testing.T) {
	threads := 10_000
	if testing.Short() {
		threads = 1000
	}
	a, d := stackOf(t, 20)
	one := d.Threads[0]
	other := dump.Region{Addr: stackAt + 1<<32, Data: make([]byte, threads*21*16)} // as if each had its own stack
	d.Memory, d.Size = dump.NewMemory(d.Memory.Order, append(d.Memory.Regions, other)), int64(len(other.Data))
	d.Threads = nil
	for i := range threads {
		one.ID = uint32(i)
		one.Stack = dump.Range{Addr: uint64(i), Size: 1} // a different one for each thread
		d.Threads = append(d.Threads, one)
	}
	start := time.Now()
	res := walkDump(t, assembledSources(a), d, Config{})
	for i := range res.Stacks {
		if n := len(res.Stacks[i].Frames); n != 21 {
			t.Fatalf("thread %d: %d frames", i, n)
		}
	}
	t.Logf("%d threads of 21 frames in %v", threads, time.Since(start).Round(time.Millisecond))
}

// Threads that share a stack share a budget; the one that crashed is walked
// first, and each has its topmost frame.
func TestHostileSharedStack(t *testing.T) {
	const threads, frames = 100, 10_000
	a, d := stackOf(t, frames)
	one := d.Threads[0]
	d.Threads = nil
	for i := range threads {
		one.ID = uint32(i)
		d.Threads = append(d.Threads, one)
	}
	d.Crash = &dump.Crash{Thread: 70}
	res := walkDump(t, assembledSources(a), d, Config{})
	sum, cut := 0, 0
	for i := range res.Stacks {
		s := &res.Stacks[i]
		sum += len(s.Frames)
		if s.Thread != i {
			t.Errorf("stack %d is of thread %d", i, s.Thread)
		}
		if s.End == EndBudget {
			cut++
			if len(s.Frames) == 0 || !strings.Contains(s.Why, "a dump with 160000 bytes of memory") || s.End.Clean() {
				t.Errorf("thread %d: %d frames, clean %v, %s", i, len(s.Frames), s.End.Clean(), s.Why)
			}
		}
	}
	if n := len(res.Stacks[70].Frames); n != frames+1 {
		t.Errorf("the thread that crashed has %d frames", n)
	}
	if limit := baseBudget + frames; sum > limit+threads || sum < limit || cut != threads-2 {
		t.Errorf("%d frames in all, for a budget of %d; %d stacks were cut", sum, limit, cut)
	}
}

// Inlined functions are charged as frames, and long names as text.
func TestHostileNames(t *testing.T) {
	nest := "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 100 200 0 f\n"
	for i := range 200 {
		nest += fmt.Sprintf("INLINE %d 1 0 0 100 200\n", i)
	}
	rules := "STACK CFI INIT 100 200 .cfa: $rsp 16 + .ra: .cfa 8 - ^\n"
	for _, c := range []struct {
		name, symbols string
		frames        int // at most
	}{
		{"inlined", nest + rules, (baseBudget+5000)/201 + 1},
		{"long", "FUNC 100 200 0 " + strings.Repeat("n", 100*nameUnit) + "\n" + rules, (baseBudget+5000)/101 + 1},
	} {
		_, d := stackOf(t, 5000)
		a := walktest.Assemble(t, arch.X86_64, dump.Linux).Module("app", 0x400000, 0x1000, c.symbols)
		d.SetModules(a.Modules, 0)
		if s := walkDump(t, assembledSources(a), d, Config{}).Stacks[0]; s.End != EndBudget || len(s.Frames) > c.frames || len(s.Frames) < c.frames/2 {
			t.Errorf("%s: %v, %d frames, want about %d", c.name, s.End, len(s.Frames), c.frames)
		}
	}
}

// A name of megabytes is not repeated in full in each message about its function.
func TestHostileNameInMessages(t *testing.T) {
	_, d := stackOf(t, 2)
	symbols := "FUNC 100 200 0 " + strings.Repeat("n", 1<<20) + "\n"
	a := walktest.Assemble(t, arch.X86_64, dump.Linux).Module("app", 0x400000, 0x1000, symbols)
	d.SetModules(a.Modules, 0)
	trace := walkDump(t, assembledSources(a), d, Config{Trace: true}).Stacks[0].Trace
	if text := strings.Join(trace, "\n"); !strings.Contains(text, strings.Repeat("n", maxShown)+"...") || len(text) > 10*maxShown {
		t.Errorf("%d bytes, %.200s", len(text), text)
	}
}

// A million frames take little time and memory; the limit ends the walk.
func TestHostileFrames(t *testing.T) {
	const inside = "SYMTOOL_TEST_FRAMES"
	if os.Getenv(inside) != "" {
		a, d := stackOf(t, MaxFrames+100)
		s := walkDump(t, assembledSources(a), d, Config{}).Stacks[0]
		if s.End != EndLimit || len(s.Frames) != MaxFrames || s.Frames[MaxFrames-1].Function() != "f" {
			t.Fatalf("%v (%s), %d frames", s.End, s.Why, len(s.Frames))
		}
		if size := unsafe.Sizeof(s.Frames[0]); size != 112 {
			t.Errorf("a frame has %d bytes", size)
		}
		if first, last := len(s.Frames[maxWithRegisters-1].Registers), len(s.Frames[maxWithRegisters].Registers); first != 8 || last != 0 {
			t.Errorf("%d and %d registers", first, last)
		}
		return
	}
	if testing.Short() {
		t.Skip("the race detector takes time and memory of its own")
	}
	// In a separate process, so that only the walk uses its memory.
	cmd := exec.Command(os.Args[0], "-test.run=^TestHostileFrames$")
	cmd.Env = append(os.Environ(), inside+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	took, memory := cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), used.Maxrss>>10
	text := fmt.Sprintf("%d frames in %v of CPU time, %d MB", MaxFrames, took.Round(time.Millisecond), memory)
	t.Log(text)
	if took > 3*time.Second || memory > 400 {
		t.Error(text)
	}
}

// The trace of a long stack is cut.
func TestHostileTrace(t *testing.T) {
	a, d := stackOf(t, maxTrace)
	traced := walkDump(t, assembledSources(a), d, Config{Trace: true}).Stacks[0]
	if n := len(traced.Trace); n != maxTrace+1 || traced.Trace[n-1] != "further lines are left out" || len(traced.Frames) != maxTrace+1 {
		t.Errorf("%d lines of trace, %d frames", n, len(traced.Frames))
	}
}

// A long line of a trace costs more than a short one.
func TestHostileTraceLines(t *testing.T) {
	b := Budget{lines: 3}
	if long := strings.Repeat("x", 2*lineUnit); !b.takeLine(long) || b.takeLine("") {
		t.Errorf("%d of 3 lines left after a line of %d bytes and an empty one, want -1", b.lines, len(long))
	}
}
