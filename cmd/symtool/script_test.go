package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/apptest"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// TestScript runs testdata/script/<command>_<case>.txtar. In addition to the
// commands of testscript and of package apptest, scripts have
//
//	serve VARIABLE WHAT   starts an HTTP server (serve_test.go)
//	exec unread COMMAND...   standard output of COMMAND has no reader
//	exec dump_syms ...       symtool under the name of another program
//
// $GOLDEN is the folder with small binaries, golden/input, and $DUMP is
// docs/dump.md.
func TestScript(t *testing.T) {
	input := testenv.Input(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       testenv.Updating(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOLDEN", input)
			env.Setenv("GORACE", os.Getenv("GORACE")) // set by .ci/run
			env.Setenv("DUMP", filepath.Join(testenv.Root(t), "docs", "dump.md"))
			return nil
		},
		Cmds: apptest.Commands(map[string]apptest.Command{"serve": serveFiles}),
	})
}

// TestScriptNames checks that every script belongs to a command.
func TestScriptNames(t *testing.T) {
	files, err := os.ReadDir(filepath.Join("testdata", "script"))
	if err != nil {
		t.Fatal(err)
	}
	program := cli.NewApp(nil, nil, cli.NewMessages(nil), app.Commands)
	for _, f := range files {
		command := strings.FieldsFunc(f.Name(), func(r rune) bool { return r == '_' || r == '.' })[0]
		if program.Command(command) == nil && command != "symtool" {
			t.Errorf("%s: the first word is not a command", f.Name())
		}
	}
}
