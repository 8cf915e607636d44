package main

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/symtool/symtool/internal/testenv"
)

// TestOracleIntegration runs testdata/integration/<build system>.txtar: the worked
// examples of the rules that `symtool integration` prints, built by the real tools.
// Each builds in its own folder, from $SRC; `rules NAME FILE` writes the rules there.
func TestOracleIntegration(t *testing.T) {
	testenv.Oracle(t)
	for _, tool := range []string{"cmake", "g++", "gcc", "gn", "make", "meson", "ninja", "objcopy"} {
		testenv.Tool(t, tool)
	}
	src, err := filepath.Abs(filepath.Join("testdata", "integration", "src"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "integration"),
		UpdateScripts:       testenv.Updating(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SRC", src)
			env.Setenv("DEBUGINFOD_URLS", "")
			return nil
		},
		Condition: func(cond string) (bool, error) { return cond == "full" && testenv.OracleFull(), nil },
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status": status,
			"same":   same,
			"absent": absent,
		},
	})
}

// Each system has a worked example, or for CI tests in ci_test.go, and rules with a head
// that says how they are used.
func TestIntegrationsAreComplete(t *testing.T) {
	known := map[string]bool{}
	for _, it := range integrations {
		known["integration/"+it.path] = true
		text, err := integrationText(it.name)
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.HasPrefix(strings.TrimLeft(text, `#" `), it.file()+": symbol files for crash reports") &&
			!strings.HasPrefix(strings.TrimLeft(text, `#" `), it.file()+": rules for symbol files") {
			t.Errorf("%s: begins with %.80q", it.path, text)
		}
		if strings.HasPrefix(it.path, "ci/") {
			continue
		}
		script := readFile(t, filepath.Join("cmd", "symtool", "testdata", "integration", it.name+".txtar"))
		if !strings.Contains(script, "symtool integration "+it.name+"\n") {
			t.Errorf("%s.txtar does not use the rules", it.name)
		}
	}
	err := fs.WalkDir(integrationFiles, "integration", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !known[path] {
			t.Errorf("%s is embedded, and no integration", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
