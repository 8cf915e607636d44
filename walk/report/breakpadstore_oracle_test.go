package report

import (
	"bytes"
	"cmp"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// storedAs dumps a copy, under another file name, of a library or a program with its debug
// file, if there is one: the store must use the name that dumps ask for.
func storedAs(t *testing.T, dir, binary, debugFile, file string) {
	t.Helper()
	data, err := os.ReadFile(binary)
	path := filepath.Join(t.TempDir(), file)
	if err == nil {
		err = os.WriteFile(path, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := dwarf2sym.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o := dwarf2sym.Options{Demangle: true}
	if debugFile != "" {
		if o.Debug, err = dwarf2sym.Open(debugFile); err != nil {
			t.Fatal(err)
		}
		defer o.Debug.Close()
	}
	result, err := dwarf2sym.Read(t.Context(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	m := result.Module
	if err := walktest.WriteModule(m, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Path(m, ".sym"); err != nil {
		t.Fatal(err)
	}
}

// namedStore returns a store of the programs and libraries of the crashes.
func namedStore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	crashes := testenv.Shared(t, "data", "crashes")
	system := func(name string) string { return filepath.Join(crashes, "system", name) }
	for _, name := range []string{"libc.so.6", "ld-linux-x86-64.so.2"} {
		storedAs(t, dir, system(name), system(name+".debug"), name+"-2.36")
	}
	for _, name := range []string{"libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"} {
		storedAs(t, dir, system(name), "", name+".0.30")
	}
	storedAs(t, dir, filepath.Join(crashes, "sharedlib", "libcb.so"), "", "libcb-1.2.so")
	programs, err := filepath.Glob(filepath.Join(crashes, "*", "prog"))
	if err != nil || len(programs) == 0 {
		t.Fatal(programs, err)
	}
	for _, p := range programs {
		storedAs(t, dir, p, "", "prog")
	}
	return dir
}

var (
	walkedFrame = regexp.MustCompile(`(?m)^(\d+)\|\d+\|([^|]*)\|([^|]*)\|`)
	notLoaded   = regexp.MustCompile(`Couldn't load symbols for: ([^|]+)\|`)
	gdbFrameOf  = regexp.MustCompile(`(?m)^#\d+ +(?:0x[0-9a-f]+ in )?(.*?) \(`)
)

// breakpadStacks returns the functions of each thread's frames as Breakpad's walker
// finds them, and the modules without symbols.
func breakpadStacks(t *testing.T, dump, symbols string) (stacks map[string][]string, missing []string) {
	t.Helper()
	cmd := exec.Command(testenv.BreakpadTool(t, "minidump_stackwalk"), "-m", dump, symbols)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", dump, err, stderr.Bytes())
	}
	stacks = map[string][]string{}
	for _, m := range walkedFrame.FindAllStringSubmatch(string(out), -1) {
		stacks[m[1]] = append(stacks[m[1]], cmp.Or(plainFunction(m[3]), m[2]))
	}
	for _, m := range notLoaded.FindAllStringSubmatch(stderr.String(), -1) {
		missing = append(missing, filepath.Base(m[1]))
	}
	slices.Sort(missing)
	return stacks, slices.Compact(missing)
}

// plainFunction returns a function's name without its parameters, and without the C
// library's internal prefixes.
func plainFunction(name string) string {
	name, _, _ = strings.Cut(name, "(")
	return strings.TrimPrefix(name, "__GI_")
}

// gdbStacksOf returns gdb's stacks, which end at main.
func gdbStacksOf(t *testing.T, path string) (stacks [][]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\nThread ")[1:] {
		var stack []string
		for _, m := range gdbFrameOf.FindAllStringSubmatch(part, -1) {
			stack = append(stack, plainFunction(m[1]))
		}
		stacks = append(stacks, stack)
	}
	return stacks
}

// lost returns the elements of want that are not in got, in its order.
func lost(want, got []string) (list []string) {
	for _, name := range want {
		if i := slices.Index(got, name); i >= 0 {
			got = got[i+1:]
		} else {
			list = append(list, name)
		}
	}
	return list
}

// threadStarts are the functions that nothing calls.
var threadStarts = []string{"_start", "clone3"}

// Breakpad's walker reads dumps whose modules Breakpad's client named, with a store whose
// symbols were dumped from files with other names. It finds the symbols of every module, the
// frames that gdb finds except knownLosses, and no frames after the function in which a
// thread begins.
func TestOracleBreakpadStore(t *testing.T) {
	testenv.Oracle(t)
	symbols := namedStore(t)
	dumps, err := filepath.Glob(testenv.Shared(t, "data", "crashes") + "/*/dump.dmp")
	if err != nil || len(dumps) == 0 {
		t.Fatal(dumps, err)
	}
	found, all := 0, 0
	losses := map[string]int{}
	for _, dump := range dumps {
		stacks, missing := breakpadStacks(t, dump, symbols)
		if want := []string{"libdumper.so", "linux-gate.so"}; len(slices.DeleteFunc(missing, func(m string) bool { return slices.Contains(want, m) })) > 0 {
			t.Errorf("%s: no symbols of %q", dump, missing)
		}
		truth := gdbStacksOf(t, filepath.Join(filepath.Dir(dump), "gdb_bt.txt"))
		if len(truth) != len(stacks) {
			t.Errorf("%s: %d threads, gdb has %d", dump, len(stacks), len(truth))
		}
		for _, want := range truth {
			// The thread is the one with most of its frames.
			best := want
			for _, thread := range slices.Sorted(maps.Keys(stacks)) {
				if l := lost(want, stacks[thread]); len(l) < len(best) {
					best = l
				}
			}
			found, all = found+len(want)-len(best), all+len(want)
			for _, name := range best {
				losses[filepath.Base(filepath.Dir(dump))+" "+name]++
			}
		}
		for thread, got := range stacks {
			if i := slices.IndexFunc(got, func(name string) bool { return slices.Contains(threadStarts, name) }); i >= 0 && i < len(got)-1 {
				t.Errorf("%s: thread %s continues after %s: %q", dump, thread, got[i], got[i+1:])
			}
		}
	}
	t.Logf("%d of %d frames; lost: %v", found, all, losses)
	if !maps.Equal(losses, knownLosses) {
		t.Errorf("lost %v, want %v", losses, knownLosses)
	}
}

// knownLosses are the frames that gdb finds and Breakpad's walker does not: names of
// templates that gdb writes differently, libc's aliases, libc's functions that are inlined
// where .debug_info has no call site, and gdb's name for a null pointer.
var knownLosses = map[string]int{
	"cxxtmpl app::detail::Impl<main": 1, "cxxtmpl operator": 3, "cxxtmpl std::_Function_handler<int": 1, "cxxtmpl std::function<int": 1,
	"cxxtmpl std::__insertion_sort<__gnu_cxx::__normal_iterator<int*, std::vector<int> >, __gnu_cxx::__ops::_Iter_comp_iter<main": 1,
	"nullcall ??": 1, "sharedlib qsort": 1, "sighandler __pthread_kill_internal": 1,
	"threads __futex_abstimed_wait_cancelable64": 2, "threads __new_sem_wait": 1, "threads do_futex_wait": 1,
}
