package resolve

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symcache"
)

// A program in Rust reads our symcaches with the parts of symbolic that Debian has, the
// crates symbolic-common and debugid: the memory layout of a debug id, CPUs, languages,
// joined paths, names as Rust's UTF-8. symbolic-symcache itself is in no package that these
// tests can install: the look-up follows its documentation.
//
// The only difference is that symbolic simplifies the paths that it returns, such as
// "a/../b" and "./a". Such answers are counted.
func TestOracleSymcache(t *testing.T) {
	testenv.Oracle(t)
	program := buildSymcacheReader(t)
	var n symcacheCounts
	for _, path := range symcacheInputs(t) {
		askSymcache(t, program, path, symcache.Options{}, &n)
	}
	for _, path := range symcacheReal(t) {
		for _, version := range []uint32{7, 8, 9} {
			askSymcache(t, program, path, symcache.Options{Version: version}, &n)
		}
	}
	if path, o := symcacheFile(t); path != "" {
		askSymcache(t, program, path, o, &n)
	}
	t.Logf("%d symcaches, %d addresses, %d functions, %d of them with a path that symbolic simplifies", n.files, n.addresses, n.frames, n.simplified)
	if n.addresses < 700_000 || n.simplified == 0 {
		t.Error("too few")
	}
}

type symcacheCounts struct{ files, addresses, frames, simplified int }

// symbolicCrates lists the crates that symbolic-common needs, in order, as in Debian 12.
var symbolicCrates = []struct{ name, edition, dir string }{
	{"stable_deref_trait", "2015", "stable_deref_trait-1.2.0"},
	{"libc", "2015", "libc-0.2.139"},
	{"memmap2", "2018", "memmap2-0.5.7"},
	{"uuid", "2018", "uuid-1.2.1"},
	{"debugid", "2018", "debugid-0.8.0"},
	{"symbolic_common", "2021", "symbolic-common-9.2.1"},
}

const crateRegistry = "/usr/share/cargo/registry"

func buildSymcacheReader(t *testing.T) string {
	t.Helper()
	rustc := testenv.Tool(t, "rustc")
	dir := t.TempDir()
	build := func(args ...string) {
		cmd := exec.Command(rustc, append(args, "-L", dir)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("rustc %v: %v\n%s", args, err, out)
		}
	}
	var externs []string
	for _, c := range symbolicCrates {
		source := testenv.File(t, filepath.Join(crateRegistry, c.dir, "src", "lib.rs"), "librust-symbolic-common-dev")
		build(append([]string{
			"--crate-type", "rlib", "--crate-name", c.name, "--edition", c.edition,
			"--cap-lints", "allow", "--cfg", `feature="std"`, source,
		}, externs...)...)
		externs = append(externs, "--extern", c.name+"="+filepath.Join(dir, "lib"+c.name+".rlib"))
	}
	source, err := filepath.Abs(filepath.Join("testdata", "symcache.rs"))
	if err != nil {
		t.Fatal(err)
	}
	build(append([]string{"-O", "--edition", "2021", "-o", "symcache", source}, externs...)...)
	return filepath.Join(dir, "symcache")
}

// askSymcache compares the program's answers with ours at all edges of a file.
func askSymcache(t *testing.T, program, path string, o symcache.Options, n *symcacheCounts) {
	t.Helper()
	m := symcacheModule(t, path)
	file := filepath.Join(t.TempDir(), "x.symcache")
	if err := os.WriteFile(file, writeSymcache(t, m, o), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := symcacheEdges(m, o.Base)
	var stdin []byte
	for _, rva := range asked {
		stdin = binary.LittleEndian.AppendUint32(stdin, uint32(rva-o.Base))
	}
	cmd := exec.Command(program, file)
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a := symcacheAnswers{t: t, lines: bufio.NewScanner(out), n: n}
	a.lines.Buffer(nil, 1<<20)
	a.head(m)
	r := moduleResolver(t, m)
	var at Location
	var expected []byte
	for _, rva := range asked {
		expected = appendAnswer(expected[:0], find(t, r, rva, &at), &at)
		if got := a.next(); !bytes.Equal(got, expected) {
			t.Fatalf("%s: version %d: %#x: got\n%s, want\n%s as symbolic", path, o.Version, rva, got, expected)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s: %v: %s", path, err, stderr.String())
	}
	n.files++
	n.addresses += len(asked)
}

// symcacheAnswers reads the program's output.
type symcacheAnswers struct {
	t      *testing.T
	lines  *bufio.Scanner
	n      *symcacheCounts
	answer []byte
}

// head compares the MODULE record. symbolic does not know all CPUs.
func (a *symcacheAnswers) head(m *symfmt.Module) {
	a.t.Helper()
	a.lines.Scan()
	arch := map[string]string{"riscv": "unknown", "riscv64": "unknown", "s390x": "unknown"}[m.Arch]
	if arch == "" {
		arch = m.Arch
	}
	fields := strings.Split(a.lines.Text(), "\t")
	if len(fields) != 3 || !strings.EqualFold(fields[0], m.ID) || fields[1] != arch {
		a.t.Errorf("symbolic reads %q of %s %s", fields, m.ID, m.Arch)
	}
}

// next returns an answer in the form of appendAnswer.
func (a *symcacheAnswers) next() []byte {
	a.t.Helper()
	a.answer = a.answer[:0]
	for a.lines.Scan() && len(a.lines.Bytes()) > 0 {
		fields := bytes.Split(a.lines.Bytes(), []byte{'\t'})
		if len(fields) != 5 || string(fields[1]) != "unknown" {
			a.t.Fatalf("%q", a.lines.Bytes())
		}
		a.n.frames++
		if !bytes.Equal(fields[2], fields[3]) {
			a.n.simplified++
		}
		a.answer = fmt.Appendf(a.answer, "%s at %s:%s\n", fields[0], fields[2], fields[4])
	}
	if len(a.answer) == 0 {
		a.answer = append(a.answer, "nothing"...)
	}
	return a.answer
}
