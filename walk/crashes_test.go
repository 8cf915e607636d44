package walk

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/elfobj"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk/elfcore"
)

// crashCases are the crashes among the shared test data.
var crashCases = []string{"coldsplit", "cxxtmpl", "deeprec", "inlines", "nullcall", "omitfp", "sharedlib", "sighandler", "threads"}

// crashStore is a folder with symbol files of all binaries of the crash cases, in
// the layout of symbol stores. It is made once for all tests.
func crashStore(t testing.TB) string {
	t.Helper()
	shared := testenv.Shared(t, "data", "crashes")
	crashSymbols.Do(func() {
		crashSymbols.dir, crashSymbols.err = os.MkdirTemp("", "walk-test-")
		if crashSymbols.err == nil {
			crashSymbols.err = writeCrashStore(shared, crashSymbols.dir)
		}
	})
	if crashSymbols.err != nil {
		t.Fatal(crashSymbols.err)
	}
	return crashSymbols.dir
}

var crashSymbols struct {
	sync.Once
	dir string
	err error
}

func TestMain(m *testing.M) {
	status := m.Run()
	if crashSymbols.dir != "" {
		os.RemoveAll(crashSymbols.dir)
	}
	os.Exit(status)
}

// writeCrashStore dumps every binary in the folders below from.
func writeCrashStore(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*", "*"))
	if err != nil {
		return err
	}
	for _, path := range files {
		head, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if filepath.Ext(path) == ".debug" || filepath.Base(path) == "core" || !bytes.HasPrefix(head, []byte("\x7fELF")) {
			continue
		}
		if err := writeSymbols(path, to); err != nil {
			return err
		}
	}
	return nil
}

// writeSymbols puts the symbols of a binary into a store.
func writeSymbols(path, to string) error {
	m, err := symbolsOf(path)
	if err != nil {
		return err
	}
	return writeModule(m, to)
}

// writeModule puts the symbols of a module into a store.
func writeModule(m *symfmt.Module, to string) error {
	name, err := store.Path(m, ".sym")
	if err != nil {
		return err
	}
	name = filepath.Join(to, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := symfmt.Write(&text, m, symfmt.WriteOptions{}); err != nil {
		return err
	}
	return os.WriteFile(name, text.Bytes(), 0o644)
}

// symbolsOf reads a binary and the debug file beside it.
func symbolsOf(path string) (*symfmt.Module, error) {
	f, err := elfobj.Open(path, elfobj.DefaultLimits())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var debug *elfobj.File
	if _, err := os.Stat(path + ".debug"); err == nil {
		if debug, err = elfobj.Open(path+".debug", elfobj.DefaultLimits()); err != nil {
			return nil, err
		}
		defer debug.Close()
	}
	m, _, err := dwarf2sym.Read(context.Background(), f, debug, dwarf2sym.Options{Demangle: true})
	return m, err
}

// walkFile walks the dump at path.
func walkFile(t testing.TB, path string, s *Sources, c Config) *Result {
	t.Helper()
	d, closer, err := Open(path, Options{Core: elfcore.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closer.Close() })
	r, err := NewWalker(s, c).Walk(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// symbolSources are those of a store.
func symbolSources(t testing.TB, dirs ...string) *Sources {
	t.Helper()
	var all []resolve.Supplier
	for _, dir := range dirs {
		s, err := resolve.NewSymbols(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return &Sources{Symbols: resolve.NewChain(all...)}
}

// gdbFrame is a frame as gdb prints it.
type gdbFrame struct {
	function, file string
	line           int
	pc             uint64 // 0: at the beginning of a line, where gdb does not print it
}

var (
	gdbThread = regexp.MustCompile(`^Thread \d+ \(.*LWP (\d+)\)+:`)
	gdbLine   = regexp.MustCompile(`^#(\d+) +(?:0x([0-9a-f]+) in )?(.*)$`)
	gdbPlace  = regexp.MustCompile(`^(.*) at (.*):(\d+)$`)
)

// gdbStacks reads gdb's backtraces, by thread. What gdb prints before "Thread"
// is the frame where it stopped.
func gdbStacks(t testing.TB, path string) map[uint32][]gdbFrame {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	stacks := map[uint32][]gdbFrame{}
	thread := uint32(0)
	for _, line := range strings.Split(string(text), "\n") {
		if m := gdbThread.FindStringSubmatch(line); m != nil {
			id, _ := strconv.ParseUint(m[1], 10, 32)
			thread = uint32(id)
			continue
		}
		m := gdbLine.FindStringSubmatch(line)
		if m == nil || thread == 0 {
			continue
		}
		f := gdbFrame{function: m[3]}
		f.pc, _ = strconv.ParseUint(m[2], 16, 64)
		if p := gdbPlace.FindStringSubmatch(m[3]); p != nil {
			f.function, f.file = p[1], p[2]
			f.line, _ = strconv.Atoi(p[3])
		}
		stacks[thread] = append(stacks[thread], f)
	}
	return stacks
}

// gdbName is the function of gdb's text, which ends with its arguments.
func gdbName(text string) string {
	if i := strings.LastIndex(text, " ("); i >= 0 && strings.HasSuffix(text, ")") {
		text = text[:i]
	}
	return plainName(text)
}

// plainName is the part of a function's name that gdb and we agree on: without
// parameters, template arguments, namespaces, and the marks of glibc's internal
// names.
func plainName(name string) string {
	name = strings.TrimSuffix(strings.ReplaceAll(name, "operator()", "operator"), " const")
	depth, end := 0, len(name)
	for i := len(name) - 1; i >= 0 && strings.HasSuffix(name, ")"); i-- { // the last parenthesis that closes belongs to the parameters
		switch name[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				end = i
			}
		}
		if end < len(name) {
			break
		}
	}
	name = strings.TrimSpace(name[:end])
	var plain strings.Builder
	depth = 0
	for _, c := range name {
		switch c {
		case '<', '(', '{':
			depth++
		case '>', ')', '}':
			depth--
		default:
			if depth == 0 {
				plain.WriteRune(c)
			}
		}
	}
	name = plain.String()
	name = name[strings.LastIndexAny(name, ": ")+1:]
	return strings.TrimPrefix(name, "__GI_")
}

// ourFrame is a frame of ours, inlined ones apart.
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

// notStatement are frames, by case and number, with the lines of gdb, which looks
// at rows of the line table only that are is_stmt (DWARF 5, 6.2.2). Ours are
// those of the row of the address, as llvm-symbolizer prints them.
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
	dir := crashStore(t)
	var all crashTest
	for _, name := range crashCases {
		for _, kind := range []string{"dump.dmp", "core"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				c := crashTest{T: t, name: name}
				c.r = walkFile(t, testenv.Shared(t, "data", "crashes", name, kind), symbolSources(t, dir), Config{})
				c.compare(gdbStacks(t, testenv.Shared(t, "data", "crashes", name, "gdb_bt.txt")))
				all.frames, all.tailCalls, all.lines = all.frames+c.frames, all.tailCalls+c.tailCalls, all.lines+c.lines
			})
		}
	}
	t.Logf("%d frames; gdb has %d more of tail calls, and %d lines of other rows", all.frames, all.tailCalls, all.lines)
	if all.tailCalls != 12 || all.lines != 4 {
		t.Errorf("differences by rule: %d tail calls, %d lines", all.tailCalls, all.lines)
	}
}

func (c *crashTest) compare(want map[uint32][]gdbFrame) {
	if len(c.r.Stacks) != len(want) {
		c.Errorf("%d threads, gdb has %d", len(c.r.Stacks), len(want))
	}
	for i := range c.r.Stacks {
		s := &c.r.Stacks[i]
		id := c.r.Dump.Threads[s.Thread].ID
		c.stack(s, want[id], fmt.Sprintf("thread %d", id))
	}
}

func (c *crashTest) stack(s *Stack, want []gdbFrame, title string) {
	got := flat(s)
	if len(want) > 0 && gdbName(want[len(want)-1].function) == "main" {
		for _, name := range belowMain {
			want = append(want, gdbFrame{function: name})
		}
	}
	for k, w := range want {
		if w.pc != 0 && (len(got) == 0 || got[0].PC != w.pc) && c.isTailCall(w.pc) {
			c.tailCalls++
			continue
		}
		if len(got) == 0 {
			c.Errorf("%s: gdb's frame %d: none, gdb has %s", title, k, w.function)
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

// isTailCall reports whether gdb made up a frame for a function that ended in a jump to another.
// gdb knows it from DW_TAG_call_site; no symbol file has it, and it is not on the stack. Its
// address is behind the jump.
func (c *crashTest) isTailCall(pc uint64) bool {
	i := c.r.Dump.ModuleAt(pc)
	if i < 0 {
		return false
	}
	m := &c.r.Dump.Modules[i]
	for _, dir := range []string{c.name, "system"} {
		f, err := elfobj.Open(testenv.Shared(c, "data", "crashes", dir)+"/"+filepath.Base(m.Path), elfobj.DefaultLimits())
		if err != nil {
			continue
		}
		defer f.Close()
		const jump, length = 0xe9, 5 // jmp rel32
		p, ok := f.LoadedFrom(pc - length - m.Addr + f.LoadBase())
		if !ok {
			return false
		}
		code, err := f.SectionOf(p, "code", 1).Data()
		return err == nil && len(code) > 0 && code[0] == jump
	}
	return false
}

func (c *crashTest) frame(got ourFrame, want gdbFrame, title string, k int) {
	c.frames++
	f := got.Frame
	if f.Trust != TrustCFI && f.Trust != TrustContext && !(f.By == ByReturn && k == 1) {
		c.Errorf("%s: by %v", title, f.By)
	}
	name := gdbName(want.function)
	switch {
	case want.function == "<signal handler called>":
		if !f.Handler {
			c.Errorf("%s: no signal handler", title)
		}
		return
	case name == "??":
		if got.at.Function != "" || f.PC != want.pc {
			c.Errorf("%s: %s, gdb knows no function", title, got.at.Function)
		}
		return
	case plainName(got.at.Function) != name:
		c.Errorf("%s: function %q, gdb has %q", title, got.at.Function, want.function)
	case want.pc != 0 && !got.at.Inlined && want.pc != f.PC:
		c.Errorf("%s: %s: pc %#x, gdb has %#x", title, name, f.PC, want.pc)
	}
	if want.line == 0 || int(got.at.Line) == want.line && filepath.Base(got.at.File) == filepath.Base(want.file) {
		return
	}
	if notStatement[c.name][k] == want.line {
		c.lines++
		return
	}
	c.Errorf("%s: %s at %s:%d, gdb has %s:%d", title, name, got.at.File, got.at.Line, want.file, want.line)
}
