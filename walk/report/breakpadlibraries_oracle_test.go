package report

import (
	"debug/elf"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// loaderSource is a program that loads the libraries in its arguments, as many as the first
// argument says, and crashes.
const loaderSource = `
#include <dlfcn.h>
#include <stdlib.h>
int main(int argc, char **argv) {
	int want = atoi(argv[1]);
	for (int i = 2; i < argc && want > 0; i++)
		if (dlopen(argv[i], RTLD_LAZY | RTLD_LOCAL))
			want--;
	*(volatile int *)0x18 = want;
}
`

// maxLibrary keeps the test short: the largest libraries take longer than all others.
const maxLibrary = 2 << 20

// systemLibrary is a library of this system.
type systemLibrary struct {
	path, name string // name is DT_SONAME
	function   uint64 // address of one that it exports
}

// openLibrary reads what dumps of a library need; ok is false for a file that is
// not a library with a name and a function.
func openLibrary(path string) (l systemLibrary, ok bool) {
	if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() || st.Size() > maxLibrary {
		return l, false
	}
	f, err := elf.Open(path)
	if err != nil {
		return l, false
	}
	defer f.Close()
	names, err := f.DynString(elf.DT_SONAME)
	if err != nil || len(names) != 1 {
		return l, false
	}
	symbols, _ := f.DynamicSymbols()
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool {
		return elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF && s.Size > 0
	})
	if i < 0 {
		return l, false
	}
	return systemLibrary{path, names[0], symbols[i].Value}, true
}

// systemLibraries returns the libraries of this system. Those whose file names differ from
// their DT_SONAMEs come first.
func systemLibraries(t *testing.T) (paths []string) {
	t.Helper()
	files, err := filepath.Glob("/usr/lib/*-linux-gnu/lib*.so.*")
	if err != nil {
		t.Fatal(err)
	}
	var same []string
	for _, path := range files {
		// A sanitizer's library ends a process that loads it late.
		if l, ok := openLibrary(path); !ok || strings.HasSuffix(path, "san.so") || strings.Contains(path, "san.so.") {
			continue
		} else if l.name != filepath.Base(path) {
			paths = append(paths, path)
		} else {
			same = append(same, path)
		}
	}
	return append(paths, same...)
}

// loadedDump returns the dump of a process with a hundred libraries of this system and
// their dependencies. It adds a thread for each, in one of its functions: walkers look for
// symbols only of modules that are on stacks.
func loadedDump(t *testing.T) (d *dump.Dump, libraries []systemLibrary) {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "loader.c"), filepath.Join(dir, "loader")
	if err := os.WriteFile(source, []byte(loaderSource), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(testenv.Tool(t, "gcc"), "-o", program, source, "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := exec.Command("sh", append([]string{"-c", `ulimit -c unlimited && exec "$0" "$@"`, program, "100"}, systemLibraries(t)...)...)
	run.Dir = dir
	if err := run.Run(); err == nil {
		t.Fatal("the program did not crash")
	}
	cores, _ := filepath.Glob(filepath.Join(dir, "core*"))
	if len(cores) != 1 {
		t.Skipf("cores %q: want kernel.core_pattern to be core", cores)
	}
	file, err := dumpfile.Open(t.Context(), cores[0], dumpfile.Options{Core: elfcore.Options{AtPaths: true}})
	if err != nil {
		t.Fatal(err)
	}
	d = file.Dump
	t.Cleanup(func() { file.Close() })
	for i := range d.Modules {
		m := &d.Modules[i]
		path, _ := filepath.EvalSymlinks(m.Path)
		l, ok := openLibrary(path)
		if !ok {
			continue
		}
		thread := d.Threads[0]
		thread.ID = uint32(1000 + len(d.Threads))
		thread.Context = thread.Context.Clone()
		thread.Context.Set(d.Arch.PC, m.Addr+l.function)
		d.Threads = append(d.Threads, thread)
		libraries = append(libraries, l)
	}
	return d, libraries
}

var listedModule = regexp.MustCompile(`(?m)^Module\|([^|]*)\|[^|]*\|([^|]*)\|`)

// Stores made from this system's libraries, under the names that symtool dump gives them,
// have the symbols of every module in a dump whose modules are named by DT_SONAME. Breakpad's
// walker and ours find them, and the same functions.
func TestOracleBreakpadLibraries(t *testing.T) {
	testenv.Oracle(t)
	d, libraries := loadedDump(t)
	symbols, names, renamed := t.TempDir(), map[string]bool{}, 0
	for _, l := range libraries {
		if err := walktest.WriteSymbols(l.path, symbols); err != nil {
			t.Fatal(err)
		}
		if names[l.name] = true; l.name != filepath.Base(l.path) {
			renamed++
		}
	}
	if err := walktest.WriteSymbols(d.Modules[d.Main].Path, symbols); err != nil {
		t.Fatal(err)
	}
	if len(libraries) < 30 || renamed < 15 {
		t.Fatalf("%d libraries, %d of them with files of other names", len(libraries), renamed)
	}
	data, _ := walktest.Written(t, "minidump", d)
	path := filepath.Join(t.TempDir(), "loaded.dmp")
	// symtool's own stream has the files' names.
	if err := os.WriteFile(path, walktest.WithoutRest(t, data), 0o666); err != nil {
		t.Fatal(err)
	}
	out := runBreakpad(t, testenv.BreakpadTool(t, "minidump_stackwalk"), "-m", path, symbols)
	for _, m := range listedModule.FindAllStringSubmatch(out, -1) {
		delete(names, m[1])
	}
	if len(names) > 0 {
		t.Errorf("modules not in Breakpad's list: %q", slices.Sorted(maps.Keys(names)))
	}
	peer := map[string][]string{} // the topmost frame of each thread
	for _, m := range walkedFrame.FindAllStringSubmatch(out, -1) {
		if peer[m[1]] == nil {
			peer[m[1]] = m[2:]
		}
	}
	if len(peer) != len(d.Threads) {
		t.Errorf("%d stacks, want %d", len(peer), len(d.Threads))
	}
	r := walks.Dump(t, path, walks.SymbolSources(t, symbols), walk.Config{MaxFrames: 1})
	compareTops(t, r, peer, libraries)
	t.Logf("%d libraries, %d of them with files of other names", len(libraries), renamed)
}

// compareTops compares the topmost frames of the threads that are in libraries, which
// are the last, with Breakpad's.
func compareTops(t *testing.T, r *walk.Result, peer map[string][]string, libraries []systemLibrary) {
	t.Helper()
	ours := map[[2]string]bool{}
	for _, s := range r.Stacks[len(r.Stacks)-len(libraries):] {
		f := &s.Frames[0]
		module := filepath.Base(r.Dump.Modules[f.Module].Path)
		if ours[[2]string{module, f.Function()}] = true; f.Function() == "" {
			t.Errorf("no symbols of %s: %q", module, r.Modules[f.Module].Tried)
		}
	}
	theirs := map[[2]string]bool{}
	for _, top := range peer {
		if top[1] == "" {
			t.Errorf("Breakpad has no symbols of %s", top[0])
		}
		theirs[[2]string{top[0], top[1]}] = true
	}
	for top := range ours {
		if !theirs[top] {
			t.Errorf("Breakpad does not have %q", top)
		}
	}
}
