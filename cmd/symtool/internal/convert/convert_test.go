package convert_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/formats"
	"github.com/symtool/symtool/internal/testenv"
)

// converted runs the command.
func converted(args ...string) (status int, stderr string) {
	var out, said bytes.Buffer
	status = app.Run(context.Background(), append([]string{"symtool", "convert"}, args...), nil, &out, &said)
	return status, said.String()
}

func mustConvert(t *testing.T, args ...string) {
	t.Helper()
	if status, said := converted(args...); status != cli.StatusOK {
		t.Fatalf("%q: status %d: %s", args, status, said)
	}
}

// goldenSymbols returns the complete symbol files of the repository. The other files contain remarks for
// their tests.
func goldenSymbols(t *testing.T) (names []string) {
	all, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("\n#")) {
			names = append(names, name)
		}
	}
	if len(names) < 80 {
		t.Fatalf("%d symbol files", len(names))
	}
	return names
}

func equalFiles(t *testing.T, what, a, b string) {
	t.Helper()
	if same, err := cli.SameContents(a, b); err != nil || !same {
		t.Errorf("%s: %s and %s: same is %v (%v)", what, a, b, same, err)
	}
}

// TestConvertKeepsDumps checks that convert reproduces dump's output in every format that loses nothing.
func TestConvertKeepsDumps(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	dir := t.TempDir()
	forms := [][]string{nil, {"--crlf"}, {"--gzip"}, {"--zstd"}, {"--crlf", "--zstd"}, {"--jobs", "3"}}
	for i, name := range goldenSymbols(t) {
		form := forms[i%len(forms)]
		there, back := filepath.Join(dir, "there"), filepath.Join(dir, "back")
		mustConvert(t, append(form, "--strict", "--to", "breakpad", name, "-o", there)...)
		mustConvert(t, "--strict", "--to", "breakpad", there, "-o", back)
		equalFiles(t, fmt.Sprint(form), back, name)
	}
}

// TestConvertSettles checks, for each format of symbols that is both read and written, that a file
// converted to it and back loses nothing when it is converted again. Each format gets every third file,
// or all of them under SYMTOOL_ORACLE=full.
func TestConvertSettles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	every := 3
	if testenv.OracleFull() {
		every = 1
	}
	for n, f := range formats.All() {
		// ELF files are dumped, and SFrame has only rules: the tests of symelf and symsframe compare
		// those.
		if f.Read == nil || f.Write == nil || f.Name == "elf" || f.Name == "sframe" {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			compared := 0
			for i, name := range goldenSymbols(t) {
				if (i+n)%every != 0 {
					continue
				}
				module := []string{"--rename-module", "m", "--quiet"}
				status, said := converted(append(module, "--to", f.Name, name, "-o", path("1"))...)
				if status == cli.StatusInput && (strings.Contains(said, "nothing is written") || strings.Contains(said, "is not written as")) {
					continue // the format can hold nothing of the file
				}
				if status != cli.StatusOK {
					t.Fatalf("%s: status %d: %s", name, status, said)
				}
				if st, err := os.Stat(path("1")); err != nil || st.Size() == 0 {
					continue // an empty list
				}
				for _, step := range [][2]string{{"1", "2.sym"}, {"2.sym", "3"}, {"3", "4.sym"}} {
					to := f.Name
					if strings.HasSuffix(step[1], ".sym") {
						to = "breakpad"
					}
					from := "breakpad"
					if to == "breakpad" {
						from = f.Name
					}
					mustConvert(t, append(module, "--from", from, "--to", to, path(step[0]), "-o", path(step[1]))...)
				}
				equalFiles(t, name, path("2.sym"), path("4.sym"))
				compared++
			}
			if t.Logf("%d files", compared); compared < 70/every {
				t.Errorf("%d files were compared", compared)
			}
		})
	}
}

// gunzipped returns the path of the decompressed contents of a file.
func gunzipped(t *testing.T, path string) string {
	t.Helper()
	packed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	text, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(text)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(path), ".gz"))
	if err := os.WriteFile(out, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestConvertHostile converts damaged files of every format to every format of symbols. The status must
// be one of the documented ones, and the output complete or missing.
func TestConvertHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	dir := t.TempDir()
	sym := filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "gcc-dwarf5.sym")
	outputs := formats.Names(func(f *formats.Format) bool { return f.Write != nil })
	samples := map[string]string{
		"elf.dumped": testenv.Input(t, "gcc-dwarf5.elf"), "pe": testenv.Input(t, "pdb-x64.exe"), "macho": testenv.Input(t, "macho-arm64"), "pdb": gunzipped(t, testenv.Input(t, "pdb-x64.pdb.gz")),
	}
	for _, f := range formats.All() {
		if f.Read != nil && f.Write != nil {
			samples[f.Name] = filepath.Join(dir, "sample."+f.Name)
			mustConvert(t, "--quiet", "--to", f.Name, sym, "-o", samples[f.Name])
		}
	}
	samples["gz"] = filepath.Join(dir, "sample.sym.gz")
	mustConvert(t, "--gzip", "--to", "breakpad", sym, "-o", samples["gz"])
	names := make([]string, 0, len(samples))
	for name := range samples {
		names = append(names, name)
	}
	slices.Sort(names)
	rng := rand.New(rand.NewPCG(9, 9))
	statuses := map[int]int{}
	for _, name := range names {
		whole, err := os.ReadFile(samples[name])
		if err != nil {
			t.Fatal(err)
		}
		from, _, _ := strings.Cut(strings.Replace(name, "gz", "breakpad", 1), ".")
		for i := range 40 {
			data := slices.Clone(whole)
			if i%4 == 0 {
				data = data[:rng.IntN(len(data))]
			} else {
				for range 1 + rng.IntN(8) {
					data[rng.IntN(len(data))] ^= byte(1 + rng.IntN(255))
				}
			}
			in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
			if err := os.WriteFile(in, data, 0o600); err != nil {
				t.Fatal(err)
			}
			os.Remove(out)
			to := outputs[i%len(outputs)]
			status, said := converted("--from", from, "--to", to, in, "-o", out)
			statuses[status]++
			_, err := os.Stat(out)
			what := fmt.Sprintf("%s to %s, variant %d", name, to, i)
			switch {
			case status != cli.StatusOK && status != cli.StatusFindings && status != cli.StatusInput:
				t.Errorf("%s: status %d: %s", what, status, said)
			case strings.Contains(said, "internal error") || strings.Contains(said, "panic"):
				t.Errorf("%s: %s", what, said)
			case status == cli.StatusInput && said == "":
				t.Errorf("%s: status 3 without a message", what)
			case status <= cli.StatusFindings && err != nil:
				t.Errorf("%s: status %d and no output", what, status)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".symtool*")); len(left) > 0 {
				t.Fatalf("%s: %q are left", what, left)
			}
		}
	}
	t.Logf("statuses %v", statuses)
}

// TestFormats checks that every format is described, and that flags that belong to formats exist.
func TestFormats(t *testing.T) {
	command := cli.NewApp(nil, nil, cli.NewMessages(nil), app.Commands).Command("convert")
	flags := map[string]bool{}
	for _, f := range command.Flags {
		flags[f.Names()[0]] = true
	}
	seen := map[string]string{}
	for _, f := range formats.All() {
		if f.Name == "" || f.Title == "" || !f.Reads() && !f.Writes() {
			t.Errorf("%+v", f)
		}
		for _, ext := range f.Exts {
			if seen[ext] != "" {
				t.Errorf("%s is of %s and of %s", ext, seen[ext], f.Name)
			}
			seen[ext] = f.Name
		}
		for _, flag := range slices.Concat(f.ReadFlags, f.WriteFlags, formats.EditFlags) {
			if !flags[flag] {
				t.Errorf("%s: there is no --%s", f.Name, flag)
			}
		}
	}
}
