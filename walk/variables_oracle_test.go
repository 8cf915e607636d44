package walk_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
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
		{"shapes", []string{"go", "build", "-o"}, 11},
		{"machine", []string{cc, "-O2", "-g", "-gdwarf-4", "machine.c", "-lm", "-o"}, 22},
		{"removed", []string{cc, "-O2", "-g", "removed.c", "-o"}, 9},
		{"loom", []string{cxx, "-std=c++20", "-O2", "-g", "loom.cc", "-o"}, 27},
	}
	if testenv.OracleFull() {
		clang, clangxx, rustc := testenv.Tool(t, "clang-22"), testenv.Tool(t, "clang++-22"), testenv.Tool(t, "rustc")
		programs = append(programs, []program{
			{"niche", []string{rustc, "--edition", "2021", "-g", "niche.rs", "-o"}, 33},
			{"future", []string{rustc, "--edition", "2021", "-g", "future.rs", "-o"}, 33},
			{"future-O2", []string{rustc, "--edition", "2021", "-g", "-Copt-level=2", "future.rs", "-o"}, 38},
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
			{"machine-gcc-O0", []string{cc, "-O0", "-g", "machine.c", "-lm", "-o"}, 31},
			{"machine-gcc-O3-lto", []string{cc, "-O3", "-flto", "-g", "machine.c", "-lm", "-o"}, 22},
			{"machine-dwarf2", []string{cc, "-O1", "-gdwarf-2", "machine.c", "-lm", "-o"}, 23},
			{"machine-dwarf3", []string{cc, "-Og", "-gdwarf-3", "machine.c", "-lm", "-o"}, 23},
			{"machine-dwarf64", []string{cc, "-O2", "-g", "-gdwarf64", "machine.c", "-lm", "-o"}, 22},
			{"machine-clang", []string{clang, "-O2", "-g", "machine.c", "-lm", "-o"}, 20},
			{"machine-clang-O0", []string{clang, "-O0", "-g", "machine.c", "-lm", "-o"}, 32},
			{"loom-gcc-O0", []string{cxx, "-std=c++20", "-O0", "-g", "loom.cc", "-o"}, 46},
			{"loom-types", []string{cxx, "-std=c++20", "-O1", "-g", "-fdebug-types-section", "loom.cc", "-o"}, 27},
			{"loom-split", []string{cxx, "-std=c++20", "-O2", "-g", "-gsplit-dwarf", "loom.cc", "-o"}, 27},
			{"loom-clang", []string{clangxx, "-std=c++20", "-O2", "-g", "loom.cc", "-o"}, 22},
			{"loom-clang-O1", []string{clangxx, "-std=c++20", "-O1", "-g", "loom.cc", "-o"}, 21},
			{"hive", []string{rustc, "--edition", "2021", "-g", "hive.rs", "-o"}, 31},
			{"hive-O2", []string{rustc, "--edition", "2021", "-g", "-Copt-level=2", "hive.rs", "-o"}, 21},
			{"hive-O3", []string{rustc, "--edition", "2021", "-g", "-Copt-level=3", "hive.rs", "-o"}, 21},
			{"woven-O0", []string{rustc, "--edition", "2021", "-g", "woven.rs", "-o"}, 42},
			{"woven-O2", []string{rustc, "--edition", "2021", "-g", "-Copt-level=2", "woven.rs", "-o"}, 21},
			{"woven-O3", []string{rustc, "--edition", "2021", "-g", "-Copt-level=3", "woven.rs", "-o"}, 20},
		}...)
	}
	library := cc + ` -O2 -g -fPIC -shared -DLIBRARY plugin.c -o "$(dirname $0)/libplugin.so" && `
	programs = append(programs, program{"plugin", []string{"sh", "-c", library + cc + ` -O2 -g plugin.c "$(dirname $0)/libplugin.so" -o $0`}, 7})
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
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
			compareForms(t, p.name+" "+filepath.Base(p.build[0]), program, core, gdbTruth(t, program, core), p.least)
		})
	}
}

// compareForms compares a core, the minidump made from it, and what is left if a dump has only stacks.
func compareForms(t *testing.T, name, program, core string, truth *walktest.Truth, least int) {
	t.Helper()
	forms := map[string]*dump.Dump{"core": walktest.Opened(t, core)}
	if d := forms["core"]; (&walk.Result{Dump: d}).Variables(t.Context()).MemorySize() < 64<<20 { // not Go's arenas, where the stacks are
		forms["stacks"] = onlyStacks(walktest.Opened(t, core))
		path := filepath.Join(t.TempDir(), "dump.dmp")
		b, _ := walktest.Written(t, "minidump", d)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		forms["minidump"] = walktest.Opened(t, path)
	}
	for form, d := range forms {
		total := compareTruth(t, name+" "+form, d, programSources(t, program), truth)
		t.Logf("%s %s: %v", name, form, total)
		if total["equal"] < least && form != "stacks" {
			t.Errorf("%s %s: %d values equal, want %d", name, form, total["equal"], least)
		}
		for _, bad := range append(wrongOutcomes, "lost without a reason") {
			if total[bad] > 0 {
				t.Errorf("%s %s: %s: %d", name, form, bad, total[bad])
			}
		}
	}
}

// onlyStacks drops what is not on the threads' stacks from a dump.
func onlyStacks(d *dump.Dump) *dump.Dump {
	var keep []dump.Region
	for _, r := range d.Memory.Regions {
		for i := range d.Threads {
			c := d.Registers(i)
			if sp, ok := c.Get(c.Arch.SP); ok && r.Addr <= sp && sp < r.End() {
				keep = append(keep, dump.Region{Addr: sp, Data: r.Data[sp-r.Addr:]})
				break
			}
		}
	}
	d.Memory = dump.NewMemory(d.Memory.Order, keep)
	return d
}

// The same for CPUs that need a cross compiler. QEMU writes arm64's cores, without floating-point registers.
func TestOracleVariablesCPUs(t *testing.T) {
	testenv.Oracle(t)
	qemu := testenv.Tool(t, "qemu-aarch64-static")
	for _, p := range []struct {
		name, compiler string
		least          int
	}{
		{"layout", "aarch64-linux-gnu-gcc", 34}, {"entry", "aarch64-linux-gnu-gcc", 15}, {"odd", "aarch64-linux-gnu-gcc", 18},
		{"layout", "i686-linux-gnu-gcc", 34}, {"entry", "i686-linux-gnu-gcc", 25}, {"odd", "i686-linux-gnu-gcc", 22},
	} {
		dir := t.TempDir()
		program, core := filepath.Join(dir, p.name), filepath.Join(dir, "core")
		build := exec.Command(testenv.Tool(t, p.compiler), "-O2", "-g", "-static", "-Wno-psabi", p.name+".c", "-o", program, "-lm")
		build.Dir = filepath.Join("testdata", "variables")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", p.name, err, out)
		}
		var truth *walktest.Truth
		if p.compiler[0] == 'a' {
			core = coreOfQEMU(t, qemu, program)
			truth = truthOf(t, oracle.GDBCore(t, core, program, "source "+truthScript))
		} else {
			truth = gdbTruth(t, program, core)
		}
		compareForms(t, p.name+" "+p.compiler, program, core, truth, p.least)
	}
}

// truthScript prints gdb's values.
var truthScript = filepath.Join("testdata", "variables", "truth.py")

// programSources returns the symbol file of a program, the symbol files of the libraries beside it, and other
// libraries as they are on this machine.
func programSources(t *testing.T, program string) *walk.SymbolSet {
	t.Helper()
	symbols := varSymbols{}
	symbols.add(t, program, true)
	own, _ := filepath.Glob(filepath.Join(filepath.Dir(program), "*.so"))
	for _, path := range own {
		symbols.add(t, path, true)
	}
	libraries, err := supplier.NewBinaries(nil, supplier.BinaryOptions{AtPaths: true})
	if err != nil {
		t.Fatal(err)
	}
	return &walk.SymbolSet{Symbols: symbols, Binaries: libraries}
}

// gdbTruth runs a program until it crashes, writes a core, and returns gdb's values of its variables, except those of
// functions in libraries.
func gdbTruth(t *testing.T, program, core string) *walktest.Truth {
	t.Helper()
	oracle.CrashCore(t, core, program)
	truth := truthOf(t, oracle.GDB(t, "-iex", "set debug-file-directory /nonexistent", "-ex", "core-file "+core, "-x", truthScript, program))
	if !testenv.OracleFull() && len(truth.Threads) > 1 { // the others are wherever the scheduler left them, which differs each time
		truth.Threads = truth.Threads[:1]
	}
	return truth
}

// truthOf reads what truthScript prints.
func truthOf(t *testing.T, out string) *walktest.Truth {
	t.Helper()
	_, text, ok := strings.Cut(out, "\nTRUTH ")
	if !ok {
		t.Fatalf("gdb prints no values:\n%s", out)
	}
	truth := &walktest.Truth{}
	if err := json.NewDecoder(strings.NewReader(text)).Decode(truth); err != nil {
		t.Fatal(err)
	}
	return truth
}
