package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shell runs a command line in a folder, with the program as symtool-beam.
func shell(t *testing.T, dir, line string) (status int, stdout, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := "#!/bin/sh\n" + mainVar + "=1 exec '" + self + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "symtool-beam"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-ec", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	var out, messages strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), messages.String()
}

// field returns a folder with dumps, a store, and a list.
func field(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	input := filepath.Join(rootDir(t), "golden", "input")
	for _, name := range []string{"mini-linux.dmp", "walk-sources.core.gz"} {
		write(t, filepath.Join(dir, "dumps", name), read(t, filepath.Join(input, name)))
	}
	write(t, filepath.Join(dir, "dumps", ".hidden"), "")
	write(t, filepath.Join(dir, "bad", "short.dmp"), "MDMP")
	write(t, filepath.Join(dir, "list"), "dumps/mini-linux.dmp\r\n\ndumps/mini-linux.dmp\n")
	write(t, filepath.Join(dir, "walk.sym"), read(t, filepath.Join(rootDir(t), "golden", "dwarf2sym", "walk-sources.sym")))
	command(t, "store", "add", filepath.Join(dir, "store"), filepath.Join(dir, "walk.sym"))
	write(t, filepath.Join(dir, "full", "file"), "")
	return dir
}

// TestProgram runs the program as users do.
func TestProgram(t *testing.T) {
	dir := field(t)
	for _, c := range []struct {
		line   string
		status int
		stdout string // contained in standard output
		stderr string // all of standard error, without a leading "symtool-beam: "
	}{
		{"symtool-beam --output o1 --symbols store dumps", statusOK, "2 dumps: 2 whole, 0 damaged, 0 not read", ""},
		{"symtool-beam --output o2 --symbols walk.sym 'dumps/*.dmp' bad", statusInput, "2 dumps: 1 whole, 0 damaged, 1 not read", ""},
		{"symtool-beam --output o3 --list list --list - <list", statusOK, "1 dump: 1 whole", ""},
		{"symtool-beam --output o4 --runner direct dumps", statusOK, "2 dumps: 2 whole", ""},
		{"symtool-beam --output full dumps", statusOutput, "", "full: there are files in it, such as file: want an empty folder\n"},
		{"symtool-beam --output full/file/x dumps", statusOutput, "", "full/file/x: not a directory\n"},
		{"symtool-beam dumps", statusUsage, "", "no --output\n"},
		{"symtool-beam --output o", statusUsage, "", "no DUMP and no --list\n"},
		{"symtool-beam --output o ''", statusInput, "", "a DUMP has an empty name\n"},
		{"symtool-beam --output o --list /dev/null", statusInput, "", "--list names no dump\n"},
		{"symtool-beam --output o --list none", statusInput, "", "--list: none: no such file or directory\n"},
		{"symtool-beam --output o 'none*'", statusInput, "", "none*: it matches nothing\n"},
		{"mkdir empty; symtool-beam --output o empty", statusInput, "", "empty: no file in it\n"},
		{"symtool-beam --output o --shard-size 0 dumps", statusUsage, "", "--shard-size is 0, want 1 or more\n"},
		{"symtool-beam --output o --jobs -1 dumps", statusUsage, "", "--jobs, --max-frames or --symbol-memory is negative, want 0 or more\n"},
		{"symtool-beam --output o --debuginfod http://localhost dumps", statusUsage, "", "--debuginfod is for --binaries\n"},
		{"symtool-beam --output o --symbol-cache x dumps", statusUsage, "", "--symbol-cache is for --symbol-url\n"},
		{"symtool-beam --output o --techniques guess dumps", statusUsage, "", "--techniques has \"guess\", want some of win-program, win-fpo, symbols, eh_frame, sframe, code, signal-frame, go-stack, frame-pointer, return, scan\n"},
		{"symtool-beam --output o --symbols none dumps", statusInput, "", "--symbols: none: no such file or directory\n"},
		{"symtool-beam --output o --binaries none dumps", statusInput, "", ""},
	} {
		t.Run(c.line, func(t *testing.T) {
			status, stdout, stderr := shell(t, dir, c.line)
			wrong := c.stderr != "" && stderr != "symtool-beam: "+c.stderr || c.stderr == "" && c.status == statusOK && stderr != ""
			if status != c.status || !strings.Contains(stdout, c.stdout) || wrong {
				t.Errorf("status %d, want %d\nstdout %.500s\nstderr %.500s", status, c.status, stdout, stderr)
			}
			os.RemoveAll(filepath.Join(dir, "o"))
		})
	}
}

// TestReadme runs the commands in the README for this machine unchanged.
func TestReadme(t *testing.T) {
	dir := field(t)
	_, section, _ := strings.Cut(read(t, "README.md"), "\n## On this machine\n")
	var lines []string
	for line := range strings.Lines(section) {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			lines = append(lines, code)
		} else if strings.HasPrefix(line, "## ") {
			break
		}
	}
	status, stdout, stderr := shell(t, dir, strings.Join(lines, ""))
	if len(lines) != 3 || status != statusOK || strings.Count(stdout, "2 dumps: 2 whole") != 2 || strings.Count(stdout, `{"crash_info"`) != 2 {
		t.Errorf("%q: status %d\n%.1000s\n%s", lines, status, stdout, stderr)
	}
}

// TestDocumented checks that the README has every flag, file and column, and that the
// usage has every flag.
func TestDocumented(t *testing.T) {
	text := read(t, "README.md")
	_, _, usage := shell(t, t.TempDir(), "symtool-beam --help")
	for _, name := range (&flags{}).all() {
		if !strings.Contains(text, "`--"+name) {
			t.Errorf("the README lacks --%s", name)
		}
		if !strings.Contains(usage, "\n  --"+name+" ") {
			t.Errorf("the usage lacks --%s:\n%s", name, usage)
		}
	}
	for _, name := range columns {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the README lacks the column %s", name)
		}
	}
}
