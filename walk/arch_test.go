package walk

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// archCase is a crash on a CPU, run under QEMU except on x86.
type archCase struct {
	cpu string
	// below is how many of the functions below main must be found. The cores that gdb wrote for a
	// program in QEMU contain less of the stack: they end in the frame of the first function.
	below int
}

var archCases = []archCase{{"arm", 3}, {"arm64", 3}, {"mips64", 1}, {"riscv64", 1}, {"x86", 3}}

// archTruth is the stack according to prog.c: the calls from the crash on. Which functions of the
// C library gdb shows below them varies. The functions below a signal handler follow if there is
// one.
var archTruth = []string{"middle", "crash", "recurse", "recurse", "recurse", "recurse", "recurse", "recurse", "compare", "compare", "sorted"}

// walkWith walks a core with binaries, given as files or folders.
func walkWith(t testing.TB, core string, binaries ...string) *Result {
	t.Helper()
	var tried []string
	o := dumpfile.Options{Core: elfcore.Options{Binaries: binaries, Tried: func(path, why string) { tried = append(tried, path+": "+why) }}}
	file, err := dumpfile.Open(t.Context(), core, o)
	if err != nil {
		t.Fatal(err)
	}
	d := file.Dump
	t.Cleanup(func() {
		file.Close()
		if t.Failed() {
			t.Log("tried", tried)
		}
	})
	r, err := NewWalker(binarySources(t, binaries...), Config{Trace: true}).Walk(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sameAddress returns, for each name in a binary's symbol table, all names of its
// address. gdb and symtool may choose different ones.
func sameAddress(t testing.TB, binary string) map[string][]string {
	t.Helper()
	f, err := objfile.Open(binary, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	names := map[uint64][]string{}
	err = f.Symbols(object.Symtab, func(s *object.Symbol) {
		names[s.Addr&^1] = append(names[s.Addr&^1], string(s.Name))
	})
	if err != nil {
		t.Fatal(err)
	}
	same := map[string][]string{}
	for _, list := range names {
		for _, name := range list {
			same[name] = append(same[name], list...)
		}
	}
	return same
}

// gdbTest compares a stack with gdb's backtrace.
type gdbTest struct {
	testing.TB
	names map[string][]string
	first [2]int // lines of the first frame, of ours and of gdb's

	frames, lines, aliases, signals int
}

// compare compares all frames. extra are functions below the last one that gdb lists.
func (c *gdbTest) compare(r *Result, want []walktest.GDBFrame, extra []string) {
	c.Helper()
	for _, name := range extra {
		want = append(want, walktest.GDBFrame{Function: name + " ()"})
	}
	s := &r.Stacks[0]
	got := flat(s)
	for k := range max(len(got), len(want)) {
		switch {
		case k >= len(got):
			c.Errorf("frame %d: none, gdb has %s; the walk ended by %v: %s", k, want[k].Function, s.End, s.Why)
			return
		case k >= len(want):
			c.Errorf("frame %d: %s %#x, gdb has none", k, got[k].at.Function, got[k].PC)
		default:
			c.frame(got[k], want[k], k)
		}
	}
	if c.Failed() {
		c.Log(strings.Join(s.Trace, "\n"))
	}
}

func (c *gdbTest) frame(got ourFrame, want walktest.GDBFrame, k int) {
	c.Helper()
	c.frames++
	f := got.Frame
	if f.Trust < TrustCFIScan || f.Trust == TrustFramePtr {
		c.Errorf("frame %d: %v by %v", k, f.Trust, f.By)
	}
	if want.Function == "<signal handler called>" {
		if !f.Handler {
			c.Errorf("frame %d: no handler returns to %#x", k, f.PC)
		}
		c.signals++
		return
	}
	name := strings.TrimPrefix(walktest.GDBName(want.Function), ".") // 64-bit PowerPC's mark of code
	if f.Handler {
		c.Errorf("frame %d: a handler's return, gdb has %s", k, name)
	}
	if got.at.Function != name {
		// gdb removes what the compiler adds after a dot and a digit.
		if got.at.Inlined || !slices.ContainsFunc(c.names[got.at.Function], func(n string) bool { return n == name || strings.HasPrefix(n, name+".") }) {
			c.Errorf("frame %d: function %q, gdb has %q", k, got.at.Function, name)
		}
		c.aliases++
	}
	if want.PC != 0 && want.PC != f.PC {
		c.Errorf("frame %d: %s: pc %#x, gdb has %#x", k, name, f.PC, want.PC)
	}
	switch {
	case want.Line == 0:
	case filepath.Base(got.at.File) != filepath.Base(want.File):
		c.Errorf("frame %d: %s in %s, gdb has %s", k, name, got.at.File, want.File)
	case int(got.at.Line) == want.Line:
	case k == 0 && c.first == [2]int{int(got.at.Line), want.Line}:
		// The row at the address, which llvm-symbolizer prints, is not is_stmt (DWARF
		// 5, 6.2.2), so gdb takes the row before it.
		c.lines++
	default:
		c.Errorf("frame %d: %s at line %d, gdb has %d", k, name, got.at.Line, want.Line)
	}
}

// TestArch walks a crash on each CPU and compares each frame with gdb's, which had the process and
// not only the core, and with the program's source.
func TestArch(t *testing.T) {
	arch := testenv.Shared(t, "data", "arch")
	var all gdbTest
	for _, a := range archCases {
		t.Run(a.cpu, func(t *testing.T) {
			dir := filepath.Join(arch, a.cpu)
			program := filepath.Join(dir, "prog")
			text, err := os.ReadFile(filepath.Join(dir, "gdb_bt.txt"))
			if err != nil {
				t.Fatal(err)
			}
			r := walkWith(t, filepath.Join(dir, "core"), program)
			c := gdbTest{TB: t, names: sameAddress(t, program), first: [2]int{6, 5}}
			c.compare(r, walktest.LastBacktrace(t, string(text)), belowMain[:a.below])
			checkTruth(t, r)
			checkEnd(t, &r.Stacks[0], a.below == len(belowMain))
			all.frames, all.lines, all.aliases, all.signals = all.frames+c.frames, all.lines+c.lines, all.aliases+c.aliases, all.signals+c.signals
		})
	}
	t.Logf("%d frames, %d of them signal handlers' returns; other names of the same address: %d; lines of other rows: %d", all.frames, all.signals, all.aliases, all.lines)
	if all.frames != 104 || all.signals != 3 || all.lines != 5 {
		t.Errorf("%d frames, %d signals, %d lines", all.frames, all.signals, all.lines)
	}
}

// checkTruth compares the program's own functions with its source.
func checkTruth(t *testing.T, r *Result) {
	t.Helper()
	want := slices.Clone(archTruth)
	var got []string
	for _, f := range flat(&r.Stacks[0]) {
		if filepath.Base(f.at.File) != "prog.c" {
			continue
		}
		got = append(got, f.at.Function)
		if f.at.Function == "handler" {
			want = append(want, "handler", "raiser")
		}
	}
	if want = append(want, "main"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q as in the source", got, want)
	}
}

// checkEnd checks that a walk ended where the program starts, or where the dump's memory ends.
func checkEnd(t *testing.T, s *Stack, complete bool) {
	t.Helper()
	last := s.Frames[len(s.Frames)-1]
	if complete && (s.End != EndStart && s.End != EndOutermost || !starts[last.Function()]) {
		t.Errorf("ends by %v at %s: %s", s.End, last.Function(), s.Why)
	}
	if !complete && !strings.Contains(fmt.Sprint(s.Trace), "no memory at") {
		t.Errorf("ends by %v at %s: %s", s.End, last.Function(), s.Why)
	}
}
