package testenv

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// testsof builds .ci/testsof, and returns a function that runs it in a folder.
func testsof(t *testing.T) func(dir string, args ...string) (string, error) {
	t.Helper()
	program, source := filepath.Join(t.TempDir(), "testsof"), filepath.Join(Root(t), ".ci", "testsof", "main.go")
	if _, err := os.Stat(source); err != nil { // go test keeps results, and knows of files that the test itself looks at
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", program, source)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(dir string, args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}

// TestTestsof runs testsof in a repository with a test of each kind. Its testenv calls the same functions as this package.
func TestTestsof(t *testing.T) {
	testsof := testsof(t)
	full, empty := t.TempDir(), t.TempDir()
	for _, f := range txtar.Parse(ReadFile(t, "testdata/testsof.txtar")).Files {
		path := filepath.Join(full, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, dir, args, want string
		fails                 bool
	}{
		{"oracle", full, "oracle", "-run ^(TestByHelper|TestByMethod|TestHanded|TestInClosure|TestOracleDirect|TestPage|TestSharedOracle|TestTool)$ ./a\n", false},
		{"full", full, "full", "-run ^(TestByHelper|TestByMethod|TestHanded|TestInClosure|TestMore|TestOracleDirect|TestPage|TestSharedOracle|TestTool)$ ./a\n", false},
		{"shared", full, "shared", "-run ^(FuzzGlob|TestGlob|TestShared)$ ./a\n", false},
		{"both", full, "oracle shared", "-run ^(FuzzGlob|TestByHelper|TestByMethod|TestGlob|TestHanded|TestInClosure|TestOracleDirect|TestPage|TestShared|TestSharedOracle|TestTool)$ ./a\n", false},
		{"no tests", empty, "oracle", "testsof: no test of kind oracle in this folder\n", true},
		{"another kind", full, "oracle all", "testsof: all: want oracle, full or shared\n", true},
		{"no kind", full, "", "testsof: want oracle, full or shared\n", true},
	} {
		out, err := testsof(c.dir, strings.Fields(c.args)...)
		if out != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, out, c.want)
		}
	}
}

// unpicked are tests named TestOracle that make oracle-full does not run, and why.
var unpicked = map[string]string{
	"TestOraclePackages":          "reads the Makefile",
	"TestOracleBreakpadCrashes":   "runs where SYMTOOL_MINIDUMP_STACKWALK names Breakpad's program",
	"TestOracleBreakpadRandomWin": "runs where SYMTOOL_MINIDUMP_STACKWALK names Breakpad's program",
	"TestOracleBreakpadWin":       "reads what Breakpad's program printed",
	"TestOracleBreakpadDumps":     "reads what Breakpad's program printed",
}

// Tests whose names say that they compare with other tools are those that make oracle-full runs. It runs no
// other tests, so a comparison that its pattern misses would never run.
func TestTestsofRepository(t *testing.T) {
	out, err := testsof(t)(Root(t), "full")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	picked := regexp.MustCompile(strings.Fields(out)[1])
	compared := 0
	for _, f := range testFunctions(t) {
		if name := f.decl.Name.Name; strings.HasPrefix(name, "TestOracle") {
			compared++
			if picked.MatchString(name) == (unpicked[name] != "") {
				t.Errorf("%s: make oracle-full runs %s: %v; want %v: %s", f.file, name, picked.MatchString(name), unpicked[name] == "",
					cmp.Or(unpicked[name], "it compares with other tools"))
			}
		}
	}
	if compared < 80 {
		t.Errorf("%d comparisons with other tools in the repository", compared)
	}
}
