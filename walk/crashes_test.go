package walk

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/internal/walktest"
)

func TestMain(m *testing.M) { os.Exit(walktest.RunTests(m)) }

// walkFile walks the dump at path.
func walkFile(t testing.TB, path string, s *SymbolSet, c Config) *Result {
	t.Helper()
	file, err := dumpfile.Open(t.Context(), path, dumpfile.Options{Core: elfcore.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	d := file.Dump
	t.Cleanup(func() { file.Close() })
	r, err := NewWalker(s, c).Walk(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// symbolSources returns a SymbolSet with the symbols of stores.
func symbolSources(t testing.TB, dirs ...string) *SymbolSet {
	t.Helper()
	return &SymbolSet{Symbols: walktest.Folders(t, dirs...)}
}

// ourFrame is a frame of a walk. Inlined frames are separate frames.
type ourFrame struct {
	*Frame
	at resolve.Frame
}

func flat(s *Stack) (all []ourFrame) {
	for i := range s.Frames {
		f := &s.Frames[i]
		for _, n := range f.Names {
			all = append(all, ourFrame{f, n})
		}
		if len(f.Names) == 0 {
			all = append(all, ourFrame{Frame: f})
		}
	}
	return all
}

// belowMain are the C library's functions that gdb does not print.
var belowMain = []string{"__libc_start_call_main", "__libc_start_main_impl", "_start"}

// notStatement lists frames, by case and number, with the lines that gdb prints. gdb uses only rows
// of the line table that are is_stmt (DWARF 5, 6.2.2). symtool prints the line of the row at the
// address, as llvm-symbolizer does.
var notStatement = map[string]map[int]int{
	"cxxtmpl": {6: 1844},
	"inlines": {0: 4},
}

// crashTest compares the walk of a crash case with gdb's.
type crashTest struct {
	*testing.T
	name      string
	r         *Result
	tailCalls int
	lines     int
	frames    int
}

// TestCrashes walks every crash case from the minidump and from the core with
// symbol files, and compares each thread with gdb's frames.
func TestCrashes(t *testing.T) {
	dir := walktest.CrashStore(t)
	var all crashTest
	for _, name := range walktest.CrashCases {
		for _, kind := range []string{"dump.dmp", "core"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				c := crashTest{T: t, name: name}
				c.r = walkFile(t, testenv.Shared(t, "data", "crashes", name, kind), symbolSources(t, dir), Config{})
				c.compare(walktest.GDBStacks(t, testenv.Shared(t, "data", "crashes", name, "gdb_bt.txt")))
				all.frames, all.tailCalls, all.lines = all.frames+c.frames, all.tailCalls+c.tailCalls, all.lines+c.lines
			})
		}
	}
	t.Logf("%d frames; gdb has %d more of tail calls, and %d lines of other rows", all.frames, all.tailCalls, all.lines)
	if all.tailCalls != 12 || all.lines != 4 {
		t.Errorf("differences by rule: %d tail calls, %d lines", all.tailCalls, all.lines)
	}
}

func (c *crashTest) compare(want map[uint32][]walktest.GDBFrame) {
	if len(c.r.Stacks) != len(want) {
		c.Errorf("%d threads, gdb has %d", len(c.r.Stacks), len(want))
	}
	for i := range c.r.Stacks {
		s := &c.r.Stacks[i]
		id := c.r.Dump.Threads[s.Thread].ID
		c.stack(s, want[id], fmt.Sprintf("thread %d", id))
	}
}

func (c *crashTest) stack(s *Stack, want []walktest.GDBFrame, title string) {
	got := flat(s)
	if len(want) > 0 && walktest.GDBName(want[len(want)-1].Function) == "main" {
		for _, name := range belowMain {
			want = append(want, walktest.GDBFrame{Function: name})
		}
	}
	for k, w := range want {
		if w.PC != 0 && (len(got) == 0 || got[0].PC != w.PC) && c.isTailCall(w.PC) {
			c.tailCalls++
			continue
		}
		if len(got) == 0 {
			c.Errorf("%s: gdb's frame %d: none, gdb has %s", title, k, w.Function)
			break
		}
		c.frame(got[0], w, fmt.Sprintf("%s: gdb's frame %d", title, k), k)
		got = got[1:]
	}
	for _, g := range got {
		c.Errorf("%s: %s, gdb has none", title, g.at.Function)
	}
	if !s.End.Clean() {
		c.Errorf("%s: ends by %v: %s", title, s.End, s.Why)
	}
}

// isTailCall reports whether gdb inferred a frame for a function that ended in a jump to another. gdb
// infers it from DW_TAG_call_site; no symbol file has that information, and the frame is not on the
// stack. Its address is after the jump.
func (c *crashTest) isTailCall(pc uint64) bool {
	i := c.r.Dump.ModuleAt(pc)
	if i < 0 {
		return false
	}
	m := &c.r.Dump.Modules[i]
	for _, dir := range []string{c.name, "system"} {
		f, err := objfile.Open(testenv.Shared(c, "data", "crashes", dir)+"/"+filepath.Base(m.Path), object.DefaultLimits())
		if err != nil {
			continue
		}
		defer f.Close()
		const jump, length = 0xe9, 5 // jmp rel32
		addr := pc - length - m.Addr + f.Base
		for _, s := range f.Segments {
			if data, err := s.Data(); err == nil && s.Holds(addr) {
				return data[addr-s.Addr] == jump
			}
		}
		return false
	}
	return false
}

func (c *crashTest) frame(got ourFrame, want walktest.GDBFrame, title string, k int) {
	c.frames++
	f := got.Frame
	if f.Trust != TrustCFI && f.Trust != TrustContext && !(f.By == ByReturn && k == 1) {
		c.Errorf("%s: by %v", title, f.By)
	}
	name := walktest.GDBName(want.Function)
	switch {
	case want.Function == "<signal handler called>":
		if !f.Handler {
			c.Errorf("%s: no signal handler", title)
		}
		return
	case name == "??":
		if got.at.Function != "" || f.PC != want.PC {
			c.Errorf("%s: %s, gdb knows no function", title, got.at.Function)
		}
		return
	case walktest.PlainName(got.at.Function) != name:
		c.Errorf("%s: function %q, gdb has %q", title, got.at.Function, want.Function)
	case want.PC != 0 && !got.at.Inlined && want.PC != f.PC:
		c.Errorf("%s: %s: pc %#x, gdb has %#x", title, name, f.PC, want.PC)
	}
	if want.Line == 0 || int(got.at.Line) == want.Line && filepath.Base(got.at.File) == filepath.Base(want.File) {
		return
	}
	if notStatement[c.name][k] == want.Line {
		c.lines++
		return
	}
	c.Errorf("%s: %s at %s:%d, gdb has %s:%d", title, name, got.at.File, got.at.Line, want.File, want.Line)
}
