package house

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

// docExceptions is the number of blocks of commands in the documents that no test runs.
// Each has its reason.
const docExceptions = 6

// guideLines is the maximum number of lines in a guide, without programs and output.
const guideLines = 270

// readmeLines is the maximum number of lines in the README, with everything in it.
const readmeLines = 200

// docMark begins the lines that separate the outputs of commands.
const docMark = "-- end of command"

// TestDocs runs the commands of the documents, each document in a folder of its own.
// GOLDIE_UPDATE=1 writes what they print.
func TestDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	for _, d := range documents(t) {
		t.Run(filepath.Base(d.name), func(t *testing.T) {
			t.Parallel()
			runDocument(t, d, func(b *docBlock) bool { return !b.oracle })
		})
	}
}

// TestDocsOracle runs the blocks of documents that need compilers or other tools.
func TestDocsOracle(t *testing.T) {
	testenv.Oracle(t)
	for _, tool := range []string{"gcc", "objcopy", "make"} {
		testenv.Tool(t, tool)
	}
	testenv.File(t, "/usr/lib/debug/.build-id", "libc6-dbg")
	n := 0
	for _, d := range documents(t) {
		if !slices.ContainsFunc(d.blocks, func(b *docBlock) bool { return b.oracle }) {
			continue
		}
		n++
		t.Run(filepath.Base(d.name), func(t *testing.T) {
			t.Parallel()
			runDocument(t, d, func(*docBlock) bool { return true })
		})
	}
	if n < 2 {
		t.Errorf("only %d documents need other tools", n)
	}
}

// runDocument runs the blocks that wanted selects, in order, in one shell.
func runDocument(t *testing.T, d *document, wanted func(*docBlock) bool) {
	dir := filepath.Join(t.TempDir(), "work")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	var (
		script   strings.Builder
		commands []*docCommand
		blocks   []*docBlock // of the commands
	)
	script.WriteString("exec 2>&1 </dev/null\n")
	for _, b := range d.blocks {
		if b.norun != "" || !wanted(b) {
			continue
		}
		if b.file != "" {
			// Files are written where the document shows them: one may replace another.
			fmt.Fprintf(&script, "mkdir -p '%s'\ncat >'%s' <<'-- end of file --'\n%s\n-- end of file --\n",
				filepath.Dir(b.file), b.file, strings.Join(b.text, "\n"))
		}
		for _, c := range b.commands {
			fmt.Fprintf(&script, "%s\nstatus=$?; printf '\\n%%s %%d\\n' '%s' $status; (exit $status)\n", strings.Join(c.script, "\n"), docMark)
			commands, blocks = append(commands, c), append(blocks, b)
		}
	}
	if slices.ContainsFunc(d.blocks, func(b *docBlock) bool { return b.lang == "go" && b.file != "" }) {
		if testing.Short() {
			t.Skip("builds programs: runs without -short")
		}
		writeGoModule(t, dir)
	}
	outputs := strings.Split(shell(t, dir, script.String()), "\n"+docMark+" ")
	if len(outputs) != len(commands)+1 {
		t.Fatalf("%s: %d of %d commands ran; the last one printed\n%s", d.name, len(outputs)-1, len(commands), outputs[len(outputs)-1])
	}
	changed := false
	for i := len(commands) - 1; i >= 0; i-- {
		c, text := commands[i], outputs[i]
		if i > 0 {
			_, text, _ = strings.Cut(text, "\n") // the status of the previous command
		}
		status, _, _ := strings.Cut(outputs[i+1], "\n")
		checkStatus(t, d, blocks[i], c, status)
		if d.compare(t, blocks[i], c, text) {
			changed = true
		}
	}
	if changed {
		d.write(t)
	}
}

// checkStatus checks that a command that fails is followed by a command that prints the
// status.
func checkStatus(t *testing.T, d *document, b *docBlock, c *docCommand, status string) {
	if n, err := strconv.Atoi(status); err != nil || n == 0 {
		return
	}
	i := slices.Index(b.commands, c)
	if i+1 == len(b.commands) || !strings.HasPrefix(b.commands[i+1].script[0], "echo $?") {
		t.Errorf("%s:%d: %s ends with status %s: want `echo $?` after it", d.name, c.from, c.script[0], status)
	}
}

// compare compares the output of a command with the document, or writes it there.
func (d *document) compare(t *testing.T, b *docBlock, c *docCommand, text string) (changed bool) {
	t.Helper()
	var output []string
	if text = strings.TrimSuffix(text, "\n"); text != "" {
		output = strings.Split(text, "\n")
	}
	same := sameLine
	if b.oracle {
		same = sameElsewhere
	}
	if printsAs(c.output, output, same) {
		return false
	}
	if !testenv.Updating() {
		t.Errorf("%s:%d: $ %s\nprints\n%s\nwant\n%s", d.name, c.from, strings.Join(c.script, "\n> "), text, strings.Join(c.output, "\n"))
		return false
	}
	d.lines = slices.Replace(d.lines, c.from, c.to, shortened(c.output, output)...)
	return true
}

// shell runs a script in dir, and returns its output without text that differs between
// machines.
func shell(t *testing.T, dir, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh")
	cmd.Stdin, cmd.Dir, cmd.WaitDelay = nil, dir, time.Minute
	file := filepath.Join(filepath.Dir(dir), "script")
	if err := os.WriteFile(file, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd.Args = append(cmd.Args, file)
	for _, v := range os.Environ() {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "HOME", "TMPDIR", "NO_COLOR", "DEBUGINFOD_URLS", "XDG_CACHE_HOME", "LANG", "LC_ALL", "TZ", "PWD", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "GOFLAGS":
		default:
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "HOME="+filepath.Dir(dir), "LC_ALL=C", "TZ=UTC", "PWD="+dir, "TMPDIR="+filepath.Dir(dir), "SYMTOOL_SRC="+testenv.Root(t))
	cmd.Env = append(cmd.Env, goEnvironment(t)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); ctx.Err() != nil {
		t.Fatalf("commands did not end: %v\n%s", err, out.Bytes())
	}
	return strings.NewReplacer(dir, "/home/you/work", testenv.Root(t), "$SYMTOOL_SRC").Replace(out.String())
}

// goEnvironment lets go build in the home folder of a test, without the network.
func goEnvironment(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := strings.Fields(string(out))
	return []string{"GOCACHE=" + dirs[0], "GOMODCACHE=" + dirs[1], "GOPROXY=off", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "GOWORK=off"}
}

// writeGoModule makes dir a module that uses this one, like `go get`.
func writeGoModule(t *testing.T, dir string) {
	t.Helper()
	const path = "github.com/symtool/symtool"
	mod := strings.Replace(string(testenv.ReadFile(t, testenv.Root(t), "go.mod")), "module "+path, "module example", 1)
	mod += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", path, path, testenv.Root(t))
	for name, text := range map[string]string{"go.mod": mod, "go.sum": string(testenv.ReadFile(t, testenv.Root(t), "go.sum"))} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
