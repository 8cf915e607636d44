package fleet_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/fleet"
)

// Go's runtime ends a process on the system stack. The walk of the thread continues where the goroutine left its own
// stack, so that the program's function is found without walking goroutines. The core has the form in which gdb writes
// it when the signal arrives.
func TestOracleGoFatal(t *testing.T) {
	testenv.Oracle(t)
	fatal := buildGoMain(t, "fatal.go", "CGO_ENABLED=0")
	for _, tt := range []struct {
		arg, function, signature string
	}{
		{"unlock", "main.unlock", "sync.(*Mutex).Unlock | main.unlock"},
		{"maps", "main.write", "main.write"},
		{"deadlock", "runtime.checkdead", "runtime.checkdead"}, // no goroutine runs
		{"panic", "main.read", "main.read"},
	} {
		t.Run(tt.arg, func(t *testing.T) { checkFatal(t, fatal, tt.arg, tt.function, tt.signature) })
	}
	t.Run("cgo", func(t *testing.T) {
		testenv.Tool(t, "gcc")
		checkFatal(t, buildGoMain(t, "fatalcgo.go", "CGO_ENABLED=1"), "", "main.call", "fail")
	})
}

// buildGoMain builds a program of testdata, as the main package of a module.
func buildGoMain(t *testing.T, file, env string) (program string) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	dir := testenv.WriteFiles(t, "go.mod", "module example.com/program\n\ngo 1.21\n", file, string(source))
	build := exec.Command("go", "build", "-o", "program", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=", env)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "program")
}

// checkFatal compares the functions of the thread that crashed, and the signature.
func checkFatal(t *testing.T, program, arg, function, want string) {
	t.Helper()
	core := filepath.Join(t.TempDir(), "core")
	t.Setenv("GOTRACEBACK", "crash")
	oracle.CrashCore(t, core, program, arg)
	opened, err := dumpfile.Open(t.Context(), core, dumpfile.Options{Core: elfcore.Options{Binaries: []string{program}}})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	named := []string{program} // and the libraries of cgo
	for i := range opened.Dump.Modules {
		if path := opened.Dump.Modules[i].Path; strings.Contains(path, ".so.") {
			named = append(named, path)
		}
	}
	binaries, err := supplier.NewBinaries(named, supplier.BinaryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := walk.NewWalker(&walk.SymbolSet{Binaries: binaries}, walk.Config{}).Walk(t.Context(), opened.Dump)
	if err != nil {
		t.Fatal(err)
	}
	var functions []string
	for i := range res.Stacks {
		if s := &res.Stacks[i]; s.Thread == res.Dump.CrashedThread() {
			for k := range s.Frames {
				functions = append(functions, s.Frames[k].Function())
			}
		}
	}
	if !slices.Contains(functions, function) {
		t.Errorf("no %s in\n%s", function, strings.Join(functions, "\n"))
	}
	if got := fleet.NewSignatureMaker(fleet.DefaultRules()).Of(res); !strings.HasSuffix(got, want) {
		t.Errorf("signature %s, want %s", got, want)
	}
}
