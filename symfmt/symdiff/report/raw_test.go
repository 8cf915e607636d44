package report

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/symdiff"
)

func TestHunks(t *testing.T) {
	for _, c := range []struct {
		ops  string // the signs of the operations
		want string
	}{
		{"", ""},
		{"    ", ""},
		{"+++", "@@ -0,0 +1,3 @@ 0:3"},
		{"-", "@@ -1 +0,0 @@ 0:1"},
		{"-+", "@@ -1 +1 @@ 0:2"},
		{" + ", "@@ -1,2 +1,3 @@ 0:3"},
		{"     -     ", "@@ -3,7 +3,6 @@ 2:9"},
		{"+      +", "@@ -1,6 +1,8 @@ 0:8"},                       // 6 lines between: one hunk
		{"+       +", "@@ -1,3 +1,4 @@ 0:4, @@ -5,3 +6,4 @@ 5:9"}, // 7: two
		{"--        ++", "@@ -1,5 +1,3 @@ 0:5, @@ -8,3 +6,5 @@ 7:12"},
	} {
		var ops []symdiff.Op
		for _, sign := range []byte(c.ops) {
			ops = append(ops, symdiff.Op{Sign: sign})
		}
		var got []string
		for _, h := range hunksOf(ops) {
			got = append(got, fmt.Sprintf("%s %d:%d", h.String(), h.from, h.to))
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%q: %q, want %q", c.ops, got, c.want)
		}
	}
}

// rawPairs are pairs of symbol files of one program each, by different compilers or
// of different forms of its debug information.
var rawPairs = [][2]string{
	{"hotcold-gcc4.sym", "hotcold-gcc5.sym"}, {"hotcold-clang5.sym", "hotcold-gcc5.sym"}, {"scopes-gcc4.sym", "scopes-clang5.sym"},
	{"gcc-O0.sym", "gcc-dwarf5.sym"}, {"clang-dwarf4.sym", "clang-dwarf5.sym"}, {"lto-gcc.sym", "lto-clang.sym"}, {"icf-lld.sym", "icf-gold.sym"},
}

// patch(1) turns the listings of the old file into those of the new one, and
// diffstat(1) counts the lines in the output.
func TestOracleRaw(t *testing.T) {
	testenv.Oracle(t)
	patch, diffstat := testenv.Tool(t, "patch"), testenv.Tool(t, "diffstat")
	files, changes, lines := 0, 0, 0
	for _, pair := range rawPairs {
		r := compareGoldens(t, pair)
		dir, want, diff := rawListings(t, r)
		cmd := exec.Command(patch, "-p1", "--binary", "--fuzz=0", "--no-backup-if-mismatch", "-s", "-d", dir)
		cmd.Stdin = bytes.NewReader(diff)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: patch: %v\n%s", pair, err, out)
		}
		for name, text := range want {
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil && !(os.IsNotExist(err) && text == "") {
				t.Fatal(err)
			}
			if string(got) != text {
				t.Errorf("%s: after the patch %s is\n%swant\n%s", pair, name, got, text)
			}
			files++
		}
		text := written(t, "raw", nil, []*Module{twoFiles(r)}, Options{})
		plus, minus := countSigns(text)
		cmd = exec.Command(diffstat, "-s")
		cmd.Stdin = bytes.NewReader(text)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("diffstat: %v", err)
		}
		if p, m := statNumber(out, "insertion"), statNumber(out, "deletion"); p != plus || m != minus {
			t.Errorf("%s: diffstat counts %d and %d lines, there are %d and %d", pair, p, m, plus, minus)
		}
		changes += len(r.Changes)
		lines += plus + minus
	}
	t.Logf("%d pairs: %d changes, %d listings patched, %d lines counted", len(rawPairs), changes, files, lines)
	if files == 0 || lines == 0 {
		t.Error("nothing was compared")
	}
}

func compareGoldens(t *testing.T, pair [2]string) *symdiff.Result {
	t.Helper()
	var sources [2]*symdiff.Source
	for i, name := range pair {
		var err error
		if sources[i], err = symdiff.OpenSource(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", name)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { sources[i].Close() })
	}
	r, err := symdiff.Compare(context.Background(), sources[0], sources[1], symdiff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rawListings writes the old listings of all changes into files named by
// numbers; want are the new ones, diff is the difference of all.
func rawListings(t *testing.T, r *symdiff.Result) (dir string, want map[string]string, diff []byte) {
	t.Helper()
	dir, want = t.TempDir(), map[string]string{}
	var b bytes.Buffer
	out := &rawWriter{lineWriter: newLineWriter(&b, Options{})}
	d := r.Details()
	for i, c := range r.Changes {
		x, err := d.Records(c)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("change%d", i)
		if c.Old != symdiff.None {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(joinLines(x.OldRecords)), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want[name] = joinLines(x.NewRecords)
		out.file(name, name, x.OldRecords, x.NewRecords, "0x1", "0x2")
	}
	if err := out.flush(); err != nil {
		t.Fatal(err)
	}
	return dir, want, b.Bytes()
}

func joinLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(printables(lines), "\n") + "\n"
}

// countSigns counts the lines that are new and gone: those in hunks.
func countSigns(text []byte) (plus, minus int) {
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		case line[0] == '+':
			plus++
		case line[0] == '-':
			minus++
		}
	}
	return plus, minus
}

// statNumber returns how many insertions or deletions diffstat counts.
func statNumber(out []byte, what string) int {
	m := regexp.MustCompile(`(\d+) ` + what).FindSubmatch(out)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}
