// Package apptest runs scripts of package testscript with the program.
package apptest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/dropin"
)

// Main is the TestMain of a package with scripts. Scripts can run symtool and unread like any program. The names of the
// programs that symtool replaces also run symtool.
func Main(m *testing.M) {
	program := func() { os.Exit(app.Run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr)) }
	commands := map[string]func(){"symtool": program, "unread": unread}
	for _, name := range dropin.Names() {
		commands[name] = program
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

// Command is a command for scripts.
type Command = func(ts *testscript.TestScript, neg bool, args []string)

// Commands returns the commands that scripts have in addition to those of testscript:
//
//	status N COMMAND...   COMMAND must end with exit status N
//	same FILE FILE        two files hold the same bytes
//	absent GLOB...        nothing matches
//
// and more, which may be nil.
func Commands(more map[string]Command) map[string]Command {
	all := map[string]Command{"status": status, "same": same, "absent": absent}
	maps.Copy(all, more)
	return all
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
