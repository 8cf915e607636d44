package walk

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// callsTruth lists the functions of calls.c from the crash to the start. A blank is the
// return of the signal handler.
var callsTruth = []string{
	"inner", "middle", "crash", "recurse", "recurse", "recurse", "recurse", "handler", "", "raiser", "called", "each", "begin", "_start",
}

// TestCalls walks the core of a crash on each CPU through a signal handler, and compares it with the
// program's source, and with gdb's backtrace as far as that goes: on some CPUs gdb does not know
// QEMU's signal trampoline.
func TestCalls(t *testing.T) {
	const gdbFrames = 100 // that gdb names, in all files
	n := 0
	for _, cpu := range walktest.CallsCPUs {
		t.Run(cpu, func(t *testing.T) {
			program := testenv.Input(t, "crashes", "calls-"+cpu+".elf")
			r := walkWith(t, testenv.Input(t, "crashes", "calls-"+cpu+".core.gz"), program)
			checkCalls(t, &r.Stacks[0])
			n += compareCalls(t, r, program, testenv.Input(t, "crashes", "calls-"+cpu+".bt.txt"))
			for _, format := range []string{"minidump", "core"} {
				converted, err := NewWalker(binarySources(t, program), Config{}).Walk(context.Background(), afterFormat(t, r, format))
				if err != nil {
					t.Fatal(err)
				}
				if got, want := stackText(converted), stackText(r); got != want {
					t.Errorf("as a %s\n%s, want\n%s", format, got, want)
				}
			}
		})
	}
	if n != gdbFrames {
		t.Errorf("gdb has %d frames, want %d", n, gdbFrames)
	}
}

// afterFormat returns the dump of a walk after writing it in a format and reading it again.
func afterFormat(t *testing.T, r *Result, format string) *dump.Dump {
	t.Helper()
	data, _ := walktest.Written(t, format, r.Dump)
	return walktest.Parsed(t, data)
}

func checkCalls(t *testing.T, s *Stack) {
	t.Helper()
	var got []string
	for k, f := range flat(s) {
		name := f.at.Function
		if f.Handler {
			name = "" // only x86-64 has the trampoline in the program, with a name
		}
		got = append(got, name)
		if f.Handler != (callsTruth[min(k, len(callsTruth)-1)] == "") {
			t.Errorf("frame %d: a handler's return: %v", k, f.Handler)
		}
		if f.Trust < TrustCFIScan || f.Trust == TrustFramePtr {
			t.Errorf("frame %d: %v by %v", k, f.Trust, f.By)
		}
	}
	if !slices.Equal(got, callsTruth) {
		t.Errorf("got %q, want %q as in the source", got, callsTruth)
	}
	if !s.End.Clean() {
		t.Errorf("ends by %v: %s", s.End, s.Why)
	}
}

// compareCalls compares a stack with gdb's as long as that has names, and returns how many frames that
// are.
func compareCalls(t *testing.T, r *Result, program, backtrace string) (n int) {
	t.Helper()
	text, err := os.ReadFile(backtrace)
	if err != nil {
		t.Fatal(err)
	}
	c := gdbTest{TB: t, names: sameAddress(t, program)}
	ours, theirs := flat(&r.Stacks[0]), walktest.LastBacktrace(t, string(text))
	for k := 0; len(ours) > 0 && ours[0].at.Function != walktest.GDBName(theirs[0].Function); k++ {
		ours = ours[1:] // inlined at the crash; gdb has the line before
	}
	for k, want := range theirs {
		if strings.HasPrefix(want.Function, "??") {
			break
		}
		if k >= len(ours) {
			t.Errorf("frame %d: missing, gdb has %s", k, want.Function)
			break
		}
		c.frame(ours[k], want, k)
		n++
	}
	return n
}

var (
	lldbStackOf = regexp.MustCompile(`^[* ] thread #(\d+)`)
	lldbFrameOf = regexp.MustCompile("^  [* ] frame #(\\d+): 0x([0-9a-f]+) [^`]+`([^ (]+).*?(?: at (\\S+?):(\\d+).*)?$")
)

// lldbStacks reads LLDB's backtraces in the order of its threads.
func lldbStacks(t *testing.T, path string) (stacks [][]walktest.GDBFrame) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if m := lldbStackOf.FindStringSubmatch(line); m != nil {
			if k, _ := strconv.Atoi(m[1]); k > len(stacks) {
				stacks = append(stacks, nil)
			}
			continue
		}
		m := lldbFrameOf.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%s: %q", path, line)
		}
		f := walktest.GDBFrame{Function: m[3], File: m[4]}
		f.PC, _ = strconv.ParseUint(m[2], 16, 64)
		f.Line, _ = strconv.Atoi(m[5])
		last := &stacks[len(stacks)-1]
		if m[1] == "0" {
			*last = nil // of the stop, and again in the list
		}
		*last = append(*last, f)
	}
	return stacks
}

// TestStacks walks the kernel's core and LLDB's minidump of a program with three threads and a
// library, by binaries and by symbol files, before and after conversions, and compares with what
// gdb and LLDB print.
func TestStacks(t *testing.T) {
	folder := testenv.Input(t, "crashes")
	program, library := filepath.Join(folder, "stacks"), filepath.Join(folder, "libnet.so.1")
	store := t.TempDir()
	for _, path := range []string{program, library} {
		if err := walktest.WriteSymbols(path, store); err != nil {
			t.Fatal(err)
		}
	}
	gdb := walktest.GDBStacks(t, filepath.Join(folder, "stacks.bt.txt"))
	lldb := lldbStacks(t, filepath.Join(folder, "stacks.lldb.txt"))
	for _, kind := range []string{"core", "dmp"} {
		for by, sources := range map[string]*SymbolSet{"symbols": symbolSources(t, store), "binaries": binarySources(t, program, library)} {
			t.Run(kind+"/"+by, func(t *testing.T) {
				r := walkFile(t, filepath.Join(folder, "stacks."+kind+".gz"), sources, Config{})
				if len(r.Stacks) != 3 || len(gdb) != 3 || len(lldb) != 3 {
					t.Fatalf("%d stacks, gdb has %d, LLDB %d", len(r.Stacks), len(gdb), len(lldb))
				}
				id := func(s Stack) uint32 { return r.Dump.Threads[s.Thread].ID }
				stacks := slices.Clone(r.Stacks)
				slices.SortFunc(stacks, func(a, b Stack) int { return cmp.Compare(id(a), id(b)) })
				for i := range stacks {
					want := gdb[id(stacks[i])]
					if kind == "dmp" {
						want = lldb[i] // in the order in which they began
					}
					compareStack(t, &stacks[i], want, kind)
				}
				checkConversions(t, r, sources)
			})
		}
	}
}

// compareStack compares a stack with a debugger's frames. It compares addresses with gdb's only: LLDB
// has a separate address for each inlined frame.
func compareStack(t *testing.T, s *Stack, want []walktest.GDBFrame, kind string) {
	t.Helper()
	got := flat(s)
	if kind == "core" {
		want = withoutTailCalls(got, want)
	}
	if len(got) != len(want) {
		t.Errorf("%d frames, the debugger has %d", len(got), len(want))
	}
	for k := range min(len(got), len(want)) {
		g, w := got[k], want[k]
		if g.at.Function != walktest.GDBName(w.Function) {
			t.Errorf("frame %d: %s, the debugger has %s", k, g.at.Function, w.Function)
		}
		if w.Line != 0 && (int(g.at.Line) != w.Line || filepath.Base(g.at.File) != w.File) {
			t.Errorf("frame %d: %s at %s:%d, the debugger has %s:%d", k, g.at.Function, g.at.File, g.at.Line, w.File, w.Line)
		}
		if w.PC != 0 && kind == "core" && g.PC != w.PC {
			t.Errorf("frame %d: %#x, the debugger has %#x", k, g.PC, w.PC)
		}
	}
	if !s.End.Clean() {
		t.Errorf("ends by %v: %s", s.End, s.Why)
	}
}

// withoutTailCalls leaves out frames that gdb infers from DW_TAG_call_site for functions that ended in
// a jump: they are not on the stack. There is one, wait_here.
func withoutTailCalls(got []ourFrame, want []walktest.GDBFrame) []walktest.GDBFrame {
	return slices.DeleteFunc(slices.Clone(want), func(w walktest.GDBFrame) bool {
		return walktest.GDBName(w.Function) == "wait_here" && !slices.ContainsFunc(got, func(g ourFrame) bool { return g.PC == w.PC })
	})
}

// checkConversions walks a dump after conversions again.
func checkConversions(t *testing.T, r *Result, sources *SymbolSet) {
	t.Helper()
	d, want := r.Dump, stackText(r)
	for _, format := range []string{"minidump", "core", "core", "minidump"} {
		data, _ := walktest.Written(t, format, d)
		d = walktest.Parsed(t, data)
		again, err := NewWalker(sources, Config{}).Walk(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		if got := stackText(again); got != want {
			t.Fatalf("as a %s\n%s, want\n%s", format, got, want)
		}
	}
}

// The symbols of another build of a library are not used.
func TestStacksOtherBuild(t *testing.T) {
	folder := testenv.Input(t, "crashes")
	sources := binarySources(t, filepath.Join(folder, "stacks"), filepath.Join(folder, "old"))
	r := walkFile(t, filepath.Join(folder, "stacks.core.gz"), sources, Config{})
	n := 0
	for _, f := range flat(&r.Stacks[0]) {
		if i := r.Dump.ModuleAt(f.PC); i < 0 || filepath.Base(r.Dump.Modules[i].Path) != "libnet.so.1" {
			continue
		}
		if n++; f.at.Function != "" {
			t.Errorf("%#x is %s at line %d", f.PC, f.at.Function, f.at.Line)
		}
	}
	if n == 0 {
		t.Error("no frame in the library")
	}
}

// A frame whose size depends on the length of vectors is left by its rules, which need vg from the core's note.
func TestVectorFrames(t *testing.T) {
	sources := &SymbolSet{Binaries: walktest.Binaries(t, testenv.Input(t, "crashes", "vectors-aarch64.elf"))}
	defer sources.Close()
	d := walktest.Opened(t, testenv.Unpacked(t, testenv.Input(t, "crashes", "vectors-aarch64.core.gz")))
	res, err := NewWalker(sources, Config{}).Walk(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	var frames []string
	for i := range res.Stacks[0].Frames {
		f := &res.Stacks[0].Frames[i]
		frames = append(frames, f.Function()+" "+f.By.String())
	}
	if want := []string{"crash context", "middle eh_frame", "outer eh_frame", "_start eh_frame"}; !slices.Equal(frames, want) {
		t.Errorf("%q, want %q", frames, want)
	}
}
