package walk_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// Programs that crash in optimized code, with values of the types of their languages' libraries: every byte that gdb
// shows for a variable equals the one evaluated from the symbol file and a core.
//
// Where we differ: gdb shows registers that a call may have changed, and constants that are in no core. Our value is
// unavailable then, with the reason.
func TestOracleVariables(t *testing.T) {
	testenv.Oracle(t)
	cc, cxx := testenv.Tool(t, "gcc"), testenv.Tool(t, "g++")
	type program struct {
		name  string
		build []string
		least int // values that equal gdb's
	}
	programs := []program{
		{"layout", []string{cc, "-O2", "-g", "layout.c", "-o"}, 33},
		{"numbers", []string{cc, "-O2", "-g", "numbers.c", "-o"}, 36},
		{"callback", []string{cc, "-O2", "-g", "callback.c", "-o"}, 11},
		{"boxes", []string{cxx, "-std=c++20", "-O0", "-g", "boxes.cc", "-o"}, 55},
		{"family", []string{cxx, "-std=c++20", "-O2", "-g", "family.cc", "-o"}, 27},
		{"coro", []string{cxx, "-std=c++20", "-O0", "-g", "coro.cc", "-o"}, 30},
		{"maps", []string{"go", "build", "-o"}, 17},
		{"routines", []string{"go", "build", "-o"}, 25},
		{"shop-gcc", []string{testenv.Tool(t, "g++"), "-std=c++20", "-O2", "-g", "-pthread", "shop.cc", "-o"}, 22},
		{"depot", []string{"go", "build", "-o"}, 17},
		{"entry", []string{cc, "-O2", "-g", "entry.c", "-o"}, 16},
		{"odd", []string{cc, "-O0", "-g", "-Wno-psabi", "odd.c", "-o"}, 28},
		{"weave", []string{cxx, "-std=c++20", "-O2", "-g", "weave.cc", "-o"}, 23},
		{"stock", []string{cxx, "-std=c++20", "-O2", "-g", "stock.cc", "-o"}, 14},
		{"shapes", []string{"go", "build", "-o"}, 20},
	}
	if testenv.OracleFull() {
		clang, clangxx, rustc := testenv.Tool(t, "clang-22"), testenv.Tool(t, "clang++-22"), testenv.Tool(t, "rustc")
		programs = append(programs, []program{
			{"niche", []string{rustc, "--edition", "2021", "-g", "niche.rs", "-o"}, 33},
			{"future", []string{rustc, "--edition", "2021", "-g", "future.rs", "-o"}, 33},
			{"shop-gcc-Og", []string{cxx, "-std=c++20", "-Og", "-g", "-pthread", "shop.cc", "-o"}, 22},
			{"shop-clang", []string{clangxx, "-std=c++20", "-O2", "-g", "-pthread", "shop.cc", "-o"}, 22},
			{"entry-gcc-O3", []string{cc, "-O3", "-g", "entry.c", "-o"}, 15},
			{"entry-clang", []string{clang, "-O2", "-g", "entry.c", "-o"}, 11},
			{"odd-gcc-O2", []string{cc, "-O2", "-g", "-Wno-psabi", "odd.c", "-o"}, 23},
			{"odd-clang", []string{clang, "-O2", "-g", "odd.c", "-o"}, 15},
			{"weave-gcc-O0", []string{cxx, "-std=c++20", "-O0", "-g", "weave.cc", "-o"}, 44},
			{"weave-clang", []string{clangxx, "-std=c++20", "-O2", "-g", "weave.cc", "-o"}, 19},
			{"stock-gcc-O0", []string{cxx, "-std=c++20", "-O0", "-g", "stock.cc", "-o"}, 29},
			{"stock-clang", []string{clangxx, "-std=c++20", "-O2", "-g", "stock.cc", "-o"}, 13},
			{"woven-O0", []string{rustc, "--edition", "2021", "-g", "woven.rs", "-o"}, 42},
			{"woven-O2", []string{rustc, "--edition", "2021", "-g", "-Copt-level=2", "woven.rs", "-o"}, 20},
			{"woven-O3", []string{rustc, "--edition", "2021", "-g", "-Copt-level=3", "woven.rs", "-o"}, 19},
		}...)
	}
	for _, p := range programs {
		dir := t.TempDir()
		program, core := filepath.Join(dir, p.name), filepath.Join(dir, "core")
		args := append(p.build[1:len(p.build):len(p.build)], program)
		if p.build[0] == "go" {
			args = append(args, p.name+".go")
		}
		build := exec.Command(p.build[0], args...)
		build.Dir = filepath.Join("testdata", "variables")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", p.name, err, out)
		}
		truth := gdbTruth(t, program, core)
		total := compareTruth(t, p.name, walktest.Opened(t, core), programSources(t, program), truth)
		t.Logf("%s: %v", p.name, total)
		if total["equal"] < p.least {
			t.Errorf("%s: %d values equal, want %d", p.name, total["equal"], p.least)
		}
		for _, bad := range append(wrongOutcomes, "lost without a reason") {
			if total[bad] > 0 {
				t.Errorf("%s: %s: %d", p.name, bad, total[bad])
			}
		}
	}
}

// programSources returns the symbol file of a program, and libraries as they are on this machine.
func programSources(t *testing.T, program string) *walk.Sources {
	t.Helper()
	symbols := varSymbols{}
	symbols.add(t, program, true)
	libraries, err := supplier.NewBinaries(nil, supplier.BinaryOptions{AtPaths: true})
	if err != nil {
		t.Fatal(err)
	}
	return &walk.Sources{Symbols: symbols, Binaries: libraries}
}

// gdbTruth runs a program until it crashes, writes a core, and returns what gdb says about its variables, but those
// of functions in libraries.
func gdbTruth(t *testing.T, program, core string) *walktest.Truth {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, "gdb"), "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set debug-file-directory /nonexistent",
		"-ex", "handle SIGUSR1 SIGURG nostop noprint pass",
		"-ex", "run", "-ex", "generate-core-file "+core, "-ex", "kill", "-ex", "core-file "+core, "-x", filepath.Join("testdata", "variables", "truth.py"), program)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	_, text, ok := bytes.Cut(out, []byte("\nTRUTH "))
	if err != nil || !ok {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	truth := &walktest.Truth{}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(truth); err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	if !testenv.OracleFull() && len(truth.Threads) > 1 { // the others stand where the scheduler left them, each time elsewhere
		truth.Threads = truth.Threads[:1]
	}
	return truth
}
