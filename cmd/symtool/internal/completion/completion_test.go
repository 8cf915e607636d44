package completion_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// completionScript returns what symtool completion prints for a shell.
func completionScript(t *testing.T, shell string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := app.Run(t.Context(), []string{"symtool", "completion", shell}, nil, &stdout, &stderr); status != cli.StatusOK {
		t.Fatalf("%s: status %d: %s", shell, status, &stderr)
	}
	return stdout.String()
}

// TestCompletionIsWhole checks that every flag, every word of an enumeration and every command
// is in every script.
func TestCompletionIsWhole(t *testing.T) {
	program := cli.NewApp(nil, nil, cli.NewMessages(nil), app.Commands)
	commands := cli.Models(program)
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script := completionScript(t, shell)
		for _, c := range commands {
			if !strings.Contains(script, c.Name) {
				t.Errorf("%s: no %s", shell, c.Name)
			}
			for _, f := range c.Flags {
				if !strings.Contains(script, "--"+f.Name) && !strings.Contains(script, "-l "+f.Name) {
					t.Errorf("%s: no --%s of %s", shell, f.Name, c.Name)
				}
				if words := strings.Join(f.Values, " "); !strings.Contains(script, words) {
					t.Errorf("%s: not %q of --%s", shell, words, f.Name)
				}
			}
		}
	}
}

// completions lists text that is typed before the Tab key, in a folder with the files binary.elf
// and stone and the folder store, and the text that must be on the screen afterwards.
var completions = []struct {
	typed string
	tabs  int
	want  []string // X is typed after the completion
}{
	{"symtool du", 1, []string{"symtool dump X"}},
	{"symtool dump --fo", 1, []string{"symtool dump --formatX", "symtool dump --format X", "symtool dump --format=X"}},
	{"symtool dump --format j", 1, []string{"--format json X"}},
	{"symtool dump --format=j", 1, []string{"--format=json X"}},
	{"symtool diff --only=fun", 1, []string{"--only=functionsX", "--only=functions X", "--only=functions,X"}},
	{"symtool diff --only functions,li", 1, []string{"--only functions,linesX", "--only functions,lines X", "--only functions,lines,X"}},
	{"symtool dump bin", 1, []string{"symtool dump binary.elf X"}},
	{"symtool dump -o x.sym bin", 1, []string{"-o x.sym binary.elf X"}},
	{"symtool dump binary.elf --no-g", 1, []string{"binary.elf --no-generator X"}},
	{"symtool dump --store sto", 1, []string{"--store store/X"}},
	{"symtool dump --dwp bin", 1, []string{"--dwp binary.elf X"}},
	{"symtool dump --os bin", 1, []string{"--os binX"}},
	{"symtool completion z", 1, []string{"symtool completion zsh X"}},
	{"symtool help dif", 1, []string{"symtool help diff X"}},
	{"symtool lint --explain SYM10", 2, []string{"SYM101"}},
	{"symtool walk --format ", 2, []string{"machine"}},
	{"symtool dump --format ", 2, []string{"json"}},
	{"symtool ", 2, []string{"completion"}},
}

// TestCompletionOracle checks that the scripts work in the shells, which run in tmux.
func TestCompletionOracle(t *testing.T) {
	testenv.Oracle(t)
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, f := range []string{"binary.elf", "stone"} {
				if err := os.WriteFile(filepath.Join(dir, f), nil, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(filepath.Join(dir, "store"), 0o777); err != nil {
				t.Fatal(err)
			}
			script := filepath.Join(t.TempDir(), "_symtool")
			if err := os.WriteFile(script, []byte(completionScript(t, shell)), 0o666); err != nil {
				t.Fatal(err)
			}
			sh := startShell(t, shell, script, dir)
			for _, c := range completions {
				sh.try(c.typed, c.tabs, c.want)
			}
		})
	}
}

// terminal is a shell in tmux.
type terminal struct {
	t    *testing.T
	tmux []string
}

// shellStarts has the commands that make a shell complete only with the script %s, and print
// that it is ready.
var shellStarts = map[string]string{
	"bash": "PS1='$ '; bind 'set bell-style none'; . %s; clear; echo ready",
	"zsh":  "PS1='$ '; autoload -Uz compinit; compinit -D -u; . %s; clear; echo ready",
	"fish": "function fish_prompt; echo -n '$ '; end; function fish_right_prompt; end; source %s; clear; echo ready",
}

func startShell(t *testing.T, name, script, dir string) *terminal {
	tmux, shell := testenv.Tool(t, "tmux"), testenv.Tool(t, name)
	home := testenv.Scratch(t) // when they end, shells write what was typed to a file
	args := map[string][]string{"bash": {"--norc", "--noprofile"}, "zsh": {"-f"}, "fish": {"--no-config"}}[name]
	sh := &terminal{t, []string{tmux, "-f", "/dev/null", "-S", filepath.Join(home, "socket")}}
	sh.run(append([]string{"new-session", "-d", "-x", "150", "-y", "60", "-c", dir,
		"-e", "HOME=" + home, "-e", "XDG_CONFIG_HOME=" + home, "-e", "LC_ALL=C.UTF-8", shell}, args...)...)
	t.Cleanup(func() { sh.run("kill-server") })
	sh.until("a prompt", func(screen string) bool { return strings.TrimSpace(screen) != "" })
	sh.run("send-keys", "-l", fmt.Sprintf(shellStarts[name], script))
	sh.run("send-keys", "Enter")
	sh.until("ready", func(screen string) bool { return strings.HasPrefix(screen, "ready\n$") })
	return sh
}

func (sh *terminal) run(args ...string) string {
	sh.t.Helper()
	cmd := exec.Command(sh.tmux[0], append(sh.tmux[1:], args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		sh.t.Fatalf("tmux %q: %v: %s", args, err, stderr.Bytes())
	}
	return string(out)
}

// until waits until is returns true for the screen.
func (sh *terminal) until(what string, is func(screen string) bool) {
	sh.t.Helper()
	if wrong := sh.within(2*time.Minute, what, is); wrong != "" {
		sh.t.Error(wrong)
	}
}

// within is like until, for at most limit. If is never returns true, wrong describes the screen.
func (sh *terminal) within(limit time.Duration, what string, is func(screen string) bool) (wrong string) {
	sh.t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) { // tmux does not report changes
		screen := sh.run("capture-pane", "-p")
		if is(screen) {
			return ""
		}
		if time.Now().After(end) {
			return fmt.Sprintf("not on the screen: %s\n%s", what, strings.TrimSpace(screen))
		}
	}
}

// try types a text, presses Tab, and looks for want on the screen.
func (sh *terminal) try(typed string, tabs int, want []string) {
	sh.t.Helper()
	testenv.Longer(sh.t, 300*time.Millisecond, func(limit time.Duration) string {
		wrong := sh.complete(typed, tabs, want, limit)
		// Do not send C-c: a late interrupt would end the next completion.
		empty := func(screen string) bool { return strings.TrimSpace(screen) == "$" }
		for range 20 {
			sh.run("send-keys", "C-e", "C-u", "C-l")
			if sh.within(5*time.Second, "an empty line", empty) == "" {
				return wrong
			}
		}
		sh.until("an empty line", empty)
		return wrong
	})
}

// complete gives the shell limit for each Tab, and more time for the rest.
func (sh *terminal) complete(typed string, tabs int, want []string, limit time.Duration) (wrong string) {
	sh.t.Helper()
	rest := min(20*limit, 30*time.Second)
	sh.run("send-keys", "-l", typed)
	if wrong := sh.within(rest, typed, func(screen string) bool { return strings.Contains(screen, strings.TrimSpace(typed)) }); wrong != "" {
		return wrong
	}
	for range tabs {
		before := sh.run("capture-pane", "-p")
		sh.run("send-keys", "Tab")
		// The screen does not change if there is nothing to complete.
		sh.within(limit, "a change", func(screen string) bool { return screen != before })
	}
	if tabs == 1 {
		sh.run("send-keys", "X")
	}
	return sh.within(rest, fmt.Sprintf("%q after %q", want, typed), func(screen string) bool {
		for _, w := range want {
			if strings.Contains(screen, w) {
				return true
			}
		}
		return false
	})
}
