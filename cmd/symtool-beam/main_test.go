package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
)

// mainVar is the variable that makes the test binary the program.
const mainVar = "SYMTOOL_BEAM_MAIN"

// TestMain makes the tests run on the runner that --runner names.
func TestMain(m *testing.M) {
	if os.Getenv(mainVar) != "" {
		main()
	}
	quiet(false)
	ptest.Main(m)
}

// symtool builds the command once, and returns its path.
var symtool = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "symtool-beam-test-*")
	if err != nil {
		return "", err
	}
	built := filepath.Join(dir, "symtool")
	cmd := exec.Command("go", "build", "-trimpath", "-o", built, "./cmd/symtool")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = &buildError{err, out}
	}
	return built, err
})

type buildError struct {
	error
	out []byte
}

func (e *buildError) Error() string { return e.error.Error() + "\n" + string(e.out) }

// command returns the standard output of symtool, whose status may be 3 for damaged
// dumps.
func command(t testing.TB, args ...string) []byte {
	t.Helper()
	built, err := symtool()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(built, args...)
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != statusInput {
		t.Fatalf("symtool %.300q: %v\n%.2000s", args, err, &messages)
	}
	return out.Bytes()
}

// walkLines returns the output lines of symtool walk for dumps.
func walkLines(t *testing.T, flags, dumps []string) []byte {
	t.Helper()
	if len(dumps) > 1 {
		// A single dump cannot be mistaken for a response file.
		file := filepath.Join(t.TempDir(), "args")
		var text strings.Builder
		for _, d := range dumps {
			text.WriteString("'" + strings.ReplaceAll(d, "'", `'\''`) + "'\n")
		}
		write(t, file, text.String())
		dumps = []string{"@" + file}
	}
	return command(t, slices.Concat([]string{"walk", "--format", "jsonl"}, flags, dumps)...)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lines returns the lines in an output folder, in the order of the files' names.
func lines(t *testing.T, dir string) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "lines-*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of lines: %v", len(files), err)
	}
	var all []byte
	for _, f := range files {
		all = append(all, read(t, f)...)
	}
	return all
}

// results returns all files of an output folder, by name.
func results(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		all[e.Name()] = read(t, filepath.Join(dir, e.Name()))
	}
	return all
}

// beamWalk runs the program, and returns its output folder and its standard output.
func beamWalk(t *testing.T, f flags, want int, operands ...string) (dir, text string) {
	t.Helper()
	f.output = filepath.Join(t.TempDir(), "out")
	if f.shardSize == 0 {
		f.shardSize = 64
	}
	var stdout strings.Builder
	status, err := f.run(context.Background(), operands, strings.NewReader(""), &stdout)
	if err != nil {
		t.Fatalf("status %d: %v", status, err)
	}
	if status != want {
		t.Errorf("status %d, want %d", status, want)
	}
	return f.output, stdout.String()
}

// inputs returns the dumps of golden/input, and symbols of one.
func inputs(t *testing.T) (dumps []string, symbols string) {
	t.Helper()
	for _, pattern := range []string{"*.dmp", "*.core.gz"} {
		found, err := filepath.Glob(filepath.Join(rootDir(t), "golden", "input", pattern))
		if err != nil {
			t.Fatal(err)
		}
		dumps = append(dumps, found...)
	}
	slices.Sort(dumps)
	return dumps, filepath.Join(rootDir(t), "golden", "dwarf2sym", "walk-sources.sym")
}

// TestSameLines checks that the lines equal the command's, and that everything is the
// same for any number of workers, size of shards and limit of memory.
func TestSameLines(t *testing.T) {
	dumps, symbols := inputs(t)
	dir := t.TempDir()
	missing, broken := filepath.Join(dir, "missing.dmp"), filepath.Join(dir, "broken\n.dmp")
	write(t, broken, "MDMP")
	dumps = append(dumps, missing, broken, dir+"/empty.dmp")
	write(t, dir+"/empty.dmp", "")
	slices.Sort(dumps)
	for _, c := range []struct {
		name  string
		args  []string
		flags flags
	}{
		{"plain", nil, flags{}},
		{"registers", []string{"--registers"}, flags{config: Config{Registers: true}}},
		{"restricted", []string{"--techniques", "frame-pointer,scan", "--max-frames", "5"}, flags{techniques: "frame-pointer,scan", config: Config{MaxFrames: 5}}},
		{"binaries", []string{"--binaries", filepath.Join(rootDir(t), "golden", "input", "walk-sources.elf")}, flags{config: Config{Binaries: []string{filepath.Join(rootDir(t), "golden", "input", "walk-sources.elf")}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := walkWithNames(t, append([]string{"--symbols", symbols}, c.args...), dumps)
			c.flags.config.Symbols = []string{symbols}
			var first map[string]string
			for i, jobs := range []int{1, 2, 7} {
				f := c.flags
				f.config.Jobs, f.shardSize, f.memory = jobs, []int{64, 3, 1}[i], []int64{0, 0, 1}[i]
				out, text := beamWalk(t, f, statusInput, dumps...)
				got := lines(t, out)
				if !bytes.Equal(got, want) {
					t.Fatalf("%d jobs: the lines differ from symtool's: %s", jobs, firstDifference(string(got), string(want)))
				}
				files := results(t, out)
				if text != files["report.txt"] {
					t.Errorf("standard output differs from report.txt")
				}
				for name := range files {
					if strings.HasPrefix(name, "lines-") {
						delete(files, name)
					}
				}
				if first == nil {
					first = files
				}
				for name, text := range first {
					if files[name] != text {
						t.Errorf("%d jobs: %s differs: %s", jobs, name, firstDifference(files[name], text))
					}
				}
				if len(first) != len(files) || len(files) != 9 {
					t.Errorf("%d jobs: %d files, want 9", jobs, len(files))
				}
			}
		})
	}
}

// walkWithNames is like walkLines, but passes the dumps on the command line.
func walkWithNames(t *testing.T, flags, dumps []string) []byte {
	t.Helper()
	return command(t, slices.Concat([]string{"walk", "--format", "jsonl"}, flags, dumps)...)
}

func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from := max(0, i-80)
	return "…" + a[from:min(len(a), i+80)] + "\nand\n…" + b[from:min(len(b), i+80)]
}
