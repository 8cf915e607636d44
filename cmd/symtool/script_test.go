package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/dropin"
	"github.com/symtool/symtool/internal/testenv"
)

func TestMain(m *testing.M) {
	commands := map[string]func(){"symtool": main, "unread": unread}
	for _, name := range dropin.Names() {
		commands[name] = main
	}
	testscript.Main(m, commands)
}

// unread runs a command whose standard output is a pipe without a reader.
func unread() {
	r, w, err := os.Pipe()
	if err == nil {
		r.Close()
		err = unix.Dup2(int(w.Fd()), 1)
	}
	path := ""
	if err == nil {
		path, err = exec.LookPath(os.Args[1])
	}
	if err == nil {
		err = syscall.Exec(path, os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(125)
}

// TestScript runs testdata/script/<command>_<case>.txtar. Beside the commands
// of testscript there is
//
//	status N COMMAND...   COMMAND must end with exit status N
//	same FILE FILE        two files hold the same bytes
//	absent GLOB...        nothing matches
//	serve VARIABLE WHAT   starts an HTTP server (serve_test.go)
//	exec unread COMMAND...   standard output of COMMAND has no reader
//	exec dump_syms ...       symtool under the name of another program
//
// and $GOLDEN is the folder with small binaries, golden/input, $DUMP
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
			env.Setenv("GORACE", os.Getenv("GORACE")) // of .ci/run
			env.Setenv("DUMP", filepath.Join(testenv.Root(t), "docs", "dump.md"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status": status,
			"same":   same,
			"absent": absent,
			"serve":  serveFiles,
		},
	})
}

func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("status %d, want %d", got, want)
	}
}

func same(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] same FILE FILE")
	}
	equal, err := cli.SameContents(ts.MkAbs(args[0]), ts.MkAbs(args[1]))
	ts.Check(err)
	if equal == neg {
		ts.Fatalf("%s and %s: same is %v", args[0], args[1], equal)
	}
}

func absent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: absent GLOB...")
	}
	for _, glob := range args {
		found, err := filepath.Glob(ts.MkAbs(glob))
		ts.Check(err)
		if len(found) > 0 {
			ts.Fatalf("%q: want nothing", found)
		}
	}
}

// Every script belongs to a command.
func TestScriptNames(t *testing.T) {
	files, err := os.ReadDir(filepath.Join("testdata", "script"))
	if err != nil {
		t.Fatal(err)
	}
	app := newApp(nil, nil, cli.NewMessages(nil))
	for _, f := range files {
		command := strings.FieldsFunc(f.Name(), func(r rune) bool { return r == '_' || r == '.' })[0]
		if app.Command(command) == nil && command != "symtool" {
			t.Errorf("%s: the first word is not a command", f.Name())
		}
	}
}
