package doctor_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dumpfile"
)

// doctored runs doctor in the folder of the inputs, without using this machine's debug
// files.
func doctored(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, messages bytes.Buffer
	args = append([]string{"symtool", "doctor", "--debug-dir", "nowhere", "--no-debuginfod"}, args...)
	status = app.Run(t.Context(), args, strings.NewReader(""), &out, &messages)
	return status, out.String(), messages.String()
}

// doctorKinds lists an input of each kind.
var doctorKinds = []string{
	"gcc-dwarf5.elf", "gcc-dwarf4-types.elf", "gcc-dwarf64.elf", "nodebug.elf", "nodebug-dynsym.elf", "no-build-id.elf",
	"split-clang5.elf", "split-dwp-gcc4.elf", "split-missing.elf", "dwz5.elf", "dwz5-common.debug", "pair.elf", "pair.debug", "split-pair.elf",
	"minidebug.elf", "compressed-zlib.elf", "compressed-zlib-gnu.elf", "compressed-zstd.elf", "debug-frame-only.elf", "debug-frame.elf",
	"sframe-text-v1.elf", "sframe-text-v2.elf", "sframe-text-v3.elf", "sframe-text-segment.elf", "exidx.elf", "exidx-cxx.elf", "object-gcc5-types.elf",
	"module.elf", "kernel-high.elf", "rust-v0.elf", "lang-ada.elf", "cpu-mips.elf", "bad-form.elf", "bad-cycle.elf",
	"mini-linux.dmp", "mini-windows.dmp", "mini-hostile.dmp", "qemu-mips.core.gz", "qemu-s390x.core.gz",
	filepath.Join("..", "dwarf2sym", "gcc-dwarf5.sym"), filepath.Join("..", "dwarf2sym", "nodebug.sym"),
}

// TestDoctorGolden checks doctor's output for a file of each kind.
func TestDoctorGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	golden := testenv.Golden(t)
	t.Chdir(testenv.Input(t))
	var all strings.Builder
	for _, name := range doctorKinds {
		status, stdout, stderr := doctored(t, name, "--hermetic="+strconv.FormatBool(dumpfile.FormatOf(name) != ""))
		all.WriteString("$ symtool doctor " + name + "\n" + stderr + stdout + "status " + string(rune('0'+status)) + "\n\n")
	}
	golden.Assert(t, "doctor.txt", []byte(all.String()))
	for _, name := range []string{"split-missing.elf", "pair.elf", "mini-linux.dmp", "../dwarf2sym/nodebug.sym"} {
		_, stdout, _ := doctored(t, "--format", "json", name, "--hermetic="+strconv.FormatBool(dumpfile.FormatOf(name) != ""))
		golden.Assert(t, "doctor-"+filepath.Base(name)+".json", []byte(stdout))
	}
}

// doctorAnswer has the fields for a file that the documents of doctor and dump share.
type doctorAnswer struct {
	Status int `json:"status"`
	Files  []struct {
		Status   int              `json:"status"`
		Error    string           `json:"error"`
		Missing  []any            `json:"missing"`
		Problems []any            `json:"problems"`
		Stats    *dwarf2sym.Stats `json:"stats"`  // in dump's document
		Module   any              `json:"module"` // in dump's document
		Binary   struct {
			Stats *dwarf2sym.Stats `json:"stats"`
		} `json:"binary"`
		Symbols struct {
			Module any `json:"module"`
		} `json:"symbols"`
	} `json:"files"`
}

// TestDoctorAgreesWithDump checks that, for every input, doctor's numbers are dump's, and
// doctor's status is at least dump's. Something must be missing if the status is 1, and
// nothing if it is 0.
func TestDoctorAgreesWithDump(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	t.Chdir(testenv.Input(t))
	files, err := filepath.Glob("*.elf")
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		if testing.Short() && i%4 > 0 {
			continue
		}
		status, stdout, _ := doctored(t, "--format", "json", file)
		var doc doctorAnswer
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		g := doc.Files[0]
		if status != g.Status || status != doc.Status || status == cli.StatusOK && len(g.Missing) > 0 || status == cli.StatusFindings && len(g.Missing) == 0 {
			t.Errorf("%s: status %d, in the document %d, missing %v", file, status, g.Status, g.Missing)
		}
		var out, messages bytes.Buffer
		args := []string{"symtool", "dump", "--debug-dir", "nowhere", "--no-debuginfod", "--format", "json", "-o", filepath.Join(t.TempDir(), "x.sym"), file}
		dumped := app.Run(t.Context(), args, strings.NewReader(""), &out, &messages)
		var summary doctorAnswer
		if err := json.Unmarshal(out.Bytes(), &summary); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if g.Error != "" {
			if summary.Files[0].Error == "" {
				t.Errorf("%s: %s, but dump accepts it", file, g.Error)
			}
			continue
		}
		if !reflect.DeepEqual(g.Binary.Stats, summary.Files[0].Stats) || !reflect.DeepEqual(g.Symbols.Module, summary.Files[0].Module) {
			t.Errorf("%s: %+v, dump has %+v", file, g.Binary.Stats, summary.Files[0].Stats)
		}
		// For dump, missing debug information is damage. doctor reports it as missing.
		if problems := len(summary.Files[0].Problems) > 0; problems != (status == cli.StatusInput) || dumped == cli.StatusOK && problems {
			t.Errorf("%s: status %d, dump's %d", file, status, dumped)
		}
	}
	if len(files) < 150 {
		t.Errorf("%d files only", len(files))
	}
}

// TestDoctorHostile checks that damaged files of any kind are answered or refused,
// without a panic or unbounded cost.
func TestDoctorHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	t.Chdir(testenv.Input(t))
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	runs, each := 0, 4
	if testing.Short() {
		each = 1
	}
	for _, name := range doctorKinds {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for range each {
			damaged := bytes.Clone(data)
			for range 1 + random.IntN(20) {
				damaged[random.IntN(len(damaged))] = byte(random.Uint32())
			}
			damaged = damaged[:len(damaged)-random.IntN(2)*random.IntN(len(damaged))]
			file := filepath.Join(dir, "damaged"+filepath.Ext(name))
			if err := os.WriteFile(file, damaged, 0o666); err != nil {
				t.Fatal(err)
			}
			status, stdout, stderr := doctored(t, file)
			if status != cli.StatusOK && status != cli.StatusFindings && status != cli.StatusInput || strings.Contains(stderr, "panic") || stdout+stderr == "" {
				t.Errorf("%s: status %d\n%s", name, status, stderr)
			}
			runs++
		}
	}
	if runs < 38*each {
		t.Errorf("%d runs only", runs)
	}
}
