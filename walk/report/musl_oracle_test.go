package report

import (
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// muslStacks are the functions on the stack for each place of callbacks.c, by the sources of it and of musl 1.2.3.
var muslStacks = [10]string{
	"compare sift trinkle __qsort_r sorted main libc_start_main_stage2 _start",
	"find bsearch sorted main libc_start_main_stage2 _start",
	"visit walk walk walk sorted main libc_start_main_stage2 _start",
	"__restore_sigs raise abort __assert_fail checked main libc_start_main_stage2 _start",
	"handler __restore_rt __restore_sigs raise interrupted main libc_start_main_stage2 _start",
	"jumped main libc_start_main_stage2 _start",
	"begin __pthread_once_full run start __clone",
	"run start __clone",
	"memchr strnlen printf_core vfprintf vsnprintf sprintf printed main libc_start_main_stage2 _start",
	"last __funcs_on_exit exit libc_start_main_stage2 _start",
}

// Programs that crash within musl, whose libc has next to no call frame information, have whole stacks. LLDB, which
// follows prologues, has fewer frames, and so has Breakpad's walker, but more with the rules from instructions in our
// symbol files than without.
func TestOracleMusl(t *testing.T) {
	testenv.Oracle(t)
	lldb := testenv.Tool(t, "lldb-22")
	libc := testenv.File(t, "/usr/lib/x86_64-linux-musl/libc.so", "musl")
	var sum muslFrames
	for link, debug := range map[string]string{"-static": "-g0", "-dynamic": "-g"} { // with -g, the program has .debug_frame
		t.Run(link, func(t *testing.T) {
			program := walktest.CrashProgram(t, "musl-gcc", "callbacks.c", "-O2", debug, "-fno-asynchronous-unwind-tables", link)
			derived, tables := muslStores(t, program, libc)
			sources := walks.BinarySources(t, program, libc)
			for place, functions := range muslStacks {
				want := strings.Fields(functions)
				core := walktest.CrashCore(t, program, strconv.Itoa(place))
				r := walks.Dump(t, core, sources, walk.Config{})
				pcs := muslStack(t, place, r, want, link == "-static")
				dump := convertedCore(t, core, program, libc)
				n := muslFrames{
					len(want), len(pcs), lldbMusl(t, lldb, program, core, pcs),
					breakpadMusl(t, dump, tables, pcs), breakpadMusl(t, dump, derived, pcs),
				}
				t.Logf("place %d: %+v", place, n)
				sum.add(n)
			}
		})
	}
	t.Logf("frames: %+v", sum)
	if sum.ours != sum.all || sum.lldb >= sum.all || sum.derived <= sum.tables {
		t.Error("want all frames, and more than the others")
	}
}

// muslFrames counts frames of threads that crashed: all, ours, LLDB's, and those of Breakpad's walker with symbol files
// from tables alone, and with derived rules.
type muslFrames struct{ all, ours, lldb, tables, derived int }

func (m *muslFrames) add(n muslFrames) {
	m.all += n.all
	m.ours += n.ours
	m.lldb += n.lldb
	m.tables += n.tables
	m.derived += n.derived
}

// muslStores returns stores with the symbol files of binaries, with derived rules and without.
func muslStores(t *testing.T, binaries ...string) (derived, tables string) {
	t.Helper()
	derived, tables = t.TempDir(), t.TempDir()
	for _, path := range binaries {
		m, err := walktest.SymbolsOf(path)
		if err == nil {
			err = walktest.WriteModule(m, derived)
		}
		if err == nil {
			m.CFI.Blocks = slices.DeleteFunc(m.CFI.Blocks, func(b symfmt.CFIBlock) bool { return b.Marks&symfmt.MarkCode != 0 })
			err = walktest.WriteModule(m, tables)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return derived, tables
}

// muslStack returns the program counters of the thread that crashed, and compares its functions. A libc.so without
// internal symbols has names for some.
func muslStack(t *testing.T, place int, r *walk.Result, want []string, named bool) (pcs []uint64) {
	t.Helper()
	var got []string
	for i := range r.Stacks[0].Frames {
		f := &r.Stacks[0].Frames[i]
		name, _, _ := strings.Cut(f.Function(), ".") // .constprop.0
		pcs, got = append(pcs, f.PC), append(got, name)
		if !named && i < len(want) && r.Dump.Modules[f.Module].Path != r.Dump.Modules[r.Dump.Main].Path {
			got[i] = want[i]
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("place %d: functions %q, want %q", place, got, want)
	}
	return pcs
}

var lldbPC = regexp.MustCompile(`(?m)^ *\*? *frame #\d+: 0x([0-9a-f]+)`)

// lldbMusl returns how many of a stack's frames LLDB finds.
func lldbMusl(t *testing.T, lldb, program, core string, pcs []uint64) int {
	t.Helper()
	out, err := exec.Command(lldb, "-x", "-b", "-o", "target create "+program+" --core "+core, "-o", "bt").Output()
	if err != nil {
		t.Fatal(err)
	}
	return commonFrames(t, lldbPC, string(out), pcs)
}

var breakpadPC = regexp.MustCompile(`rip = 0x([0-9a-f]+)`)

// breakpadMusl returns how many of a stack's frames Breakpad's walker finds.
func breakpadMusl(t *testing.T, dump, store string, pcs []uint64) int {
	t.Helper()
	out := runBreakpad(t, testenv.BreakpadTool(t, "minidump_stackwalk"), dump, store)
	_, thread, _ := strings.Cut(out, " (crashed)\n")
	thread, _, _ = strings.Cut(thread, "\n\n")
	return commonFrames(t, breakpadPC, thread, pcs)
}

// commonFrames returns how many of the program counters in a text are those of a stack, in its order.
func commonFrames(t *testing.T, pc *regexp.Regexp, text string, stack []uint64) (n int) {
	t.Helper()
	for _, m := range pc.FindAllStringSubmatch(text, -1) {
		v, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.Index(stack, v); i >= 0 {
			n++
			stack = stack[i+1:]
		}
	}
	return n
}
