package app_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// onTerminal runs the program with standard output and standard error on a terminal, and returns everything
// that appears there.
func onTerminal(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	master, slave := testenv.Terminal(t)
	cmd := exec.CommandContext(t.Context(), testenv.Symtool(t), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, slave, slave
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "NO_COLOR" && name != "TERM" {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close() // so that reading ends with EIO when the program has closed it, too
	var screen bytes.Buffer
	if _, err := screen.ReadFrom(master); err != nil && !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return strings.ReplaceAll(screen.String(), "\r\n", "\n")
}

const (
	oldSym = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nFUNC 10 4 0 f\nFUNC 20 4 0 gone\n"
	newSym = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nFUNC 10 4 0 f\nFUNC 30 4 0 new\x1b[31m\n"
)

// TestColors checks that output is coloured on a terminal, unless colours are switched off, and nowhere
// else. Names never add colours.
func TestColors(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"old.sym": oldSym, "new.sym": newSym} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	term := "TERM=xterm"
	for _, c := range []struct {
		name    string
		env     []string
		args    []string
		colours bool
	}{
		{"terminal", []string{term}, nil, true},
		{"auto", []string{term}, []string{"--color", "auto"}, true},
		{"NO_COLOR", []string{term, "NO_COLOR=1"}, nil, false},
		{"NO_COLOR is empty", []string{term, "NO_COLOR="}, nil, true},
		{"NO_COLOR, always", []string{term, "NO_COLOR=1"}, []string{"--color", "always"}, true},
		{"never", []string{term}, []string{"--color", "never"}, false},
		{"dumb", []string{"TERM=dumb"}, nil, false},
		{"file", []string{term}, []string{"-o", "out"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			screen := onTerminal(t, dir, c.env, append([]string{"diff", "--detail", "old.sym", "new.sym"}, c.args...)...)
			if c.name == "file" {
				if screen != "" {
					t.Errorf("on the terminal: %q", screen)
				}
				text, err := os.ReadFile(filepath.Join(dir, "out"))
				if err != nil {
					t.Fatal(err)
				}
				screen = string(text)
			}
			if got := strings.Contains(screen, "\x1b["); got != c.colours {
				t.Errorf("colours: %v, want %v\n%q", got, c.colours, screen)
			}
			if strings.Contains(screen, "new\x1b[31m") || !strings.Contains(screen, "new") || !strings.Contains(screen, "gone") {
				t.Errorf("the screen has\n%q", screen)
			}
		})
	}
}

// TestWalkTerminal checks that on a terminal the stacks of walk have colours by trust, and short names.
// Elsewhere they are unchanged.
func TestWalkTerminal(t *testing.T) {
	dir := t.TempDir()
	app := testenv.Copy(t, testenv.Input(t, "crashes", "calls-x86_64.elf"), dir, "app")
	core := testenv.Copy(t, testenv.Input(t, "crashes", "calls-x86_64.core.gz"), dir, "core.gz")
	walk := []string{"walk", "--hermetic", "--brief", "--binaries", app, core}
	const plain = " 0  calls-x86_64.elf!inner [calls.c : 91 + 0x0]\n"
	for _, c := range []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"terminal", []string{"TERM=xterm"}, nil, "\x1b[32m 0\x1b[m  calls-x86_64.elf!\x1b[1minner\x1b[m (inlined) [calls.c : 91 + 0x0]\n"},
		{"NO_COLOR", []string{"TERM=xterm", "NO_COLOR=1"}, nil, " 0  calls-x86_64.elf!inner (inlined) [calls.c : 91 + 0x0]\n"},
		{"full names", []string{"TERM=dumb"}, []string{"--names", "full"}, plain},
	} {
		if screen := onTerminal(t, dir, c.env, append(walk, c.args...)...); !strings.Contains(screen, c.want) {
			t.Errorf("%s: got\n%q\nwant %q in it", c.name, screen, c.want)
		}
	}
	piped, err := exec.CommandContext(t.Context(), testenv.Symtool(t), walk...).Output()
	if err != nil || !strings.Contains(string(piped), plain) || strings.Contains(string(piped), "\x1b") {
		t.Errorf("piped: %v, got\n%q\nwant %q in it", err, piped, plain)
	}
}
