package integration_test

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/symtool/symtool/cmd/symtool/internal/apptest"
	"github.com/symtool/symtool/internal/testenv"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// TestOracleIntegration runs testdata/integration/<build system>.txtar: the worked
// examples of the rules that `symtool integration` prints, built by the real tools.
// Each is built from $SRC in its own folder; `rules NAME FILE` writes the rules
// there.
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
		Cmds:      apptest.Commands(nil),
	})
}
