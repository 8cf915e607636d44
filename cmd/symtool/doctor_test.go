package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// doctored runs doctor in the folder of the inputs; nothing of this machine counts.
func doctored(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, messages bytes.Buffer
	args = append([]string{"symtool", "doctor", "--debug-dir", "nowhere", "--no-debuginfod"}, args...)
	status = run(t.Context(), args, strings.NewReader(""), &out, &messages)
	return status, out.String(), messages.String()
}

// doctorKinds are an input of each kind.
var doctorKinds = []string{
	"gcc-dwarf5.elf", "gcc-dwarf4-types.elf", "gcc-dwarf64.elf", "nodebug.elf", "nodebug-dynsym.elf", "no-build-id.elf",
	"split-clang5.elf", "split-dwp-gcc4.elf", "split-missing.elf", "dwz5.elf", "dwz5-common.debug", "pair.elf", "pair.debug", "split-pair.elf",
	"minidebug.elf", "compressed-zlib.elf", "compressed-zlib-gnu.elf", "compressed-zstd.elf", "debug-frame-only.elf", "debug-frame.elf",
	"sframe-text-v1.elf", "sframe-text-v2.elf", "sframe-text-v3.elf", "sframe-text-segment.elf", "exidx.elf", "exidx-cxx.elf", "object-gcc5-types.elf",
	"module.elf", "kernel-high.elf", "rust-v0.elf", "lang-ada.elf", "cpu-mips.elf", "bad-form.elf", "bad-cycle.elf",
	"mini-linux.dmp", "mini-windows.dmp", "mini-hostile.dmp", "qemu-mips.core.gz", "qemu-s390x.core.gz",
	filepath.Join("..", "dwarf2sym", "gcc-dwarf5.sym"), filepath.Join("..", "dwarf2sym", "nodebug.sym"),
}

// What doctor says of a file of each kind.
func TestDoctorGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	golden := testenv.Golden(t)
	t.Chdir(testenv.Input(t))
	var all strings.Builder
	for _, name := range doctorKinds {
		status, stdout, stderr := doctored(t, name)
		all.WriteString("$ symtool doctor " + name + "\n" + stderr + stdout + "status " + string(rune('0'+status)) + "\n\n")
	}
	golden.Assert(t, "doctor.txt", []byte(all.String()))
	for _, name := range []string{"split-missing.elf", "pair.elf", "mini-linux.dmp", "../dwarf2sym/nodebug.sym"} {
		_, stdout, _ := doctored(t, "--format", "json", name)
		golden.Assert(t, "doctor-"+filepath.Base(name)+".json", []byte(stdout))
	}
}

// Of every input, doctor's numbers are those of dump, and its status is at least
// dump's; something is missing if the status is 1, and nothing if it is 0.
func TestDoctorAgreesWithDump(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
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
		var doc doctorDocument
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		g := doc.Files[0]
		if status != g.Status || status != doc.Status || status == statusOK && len(g.Missing) > 0 || status == statusFindings && len(g.Missing) == 0 {
			t.Errorf("%s: status %d, in the document %d, missing %v", file, status, g.Status, g.Missing)
		}
		var out, messages bytes.Buffer
		args := []string{"symtool", "dump", "--debug-dir", "nowhere", "--no-debuginfod", "--format", "json", "-o", filepath.Join(t.TempDir(), "x.sym"), file}
		dumped := run(t.Context(), args, strings.NewReader(""), &out, &messages)
		var summary dumpSummary
		if err := json.Unmarshal(out.Bytes(), &summary); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if g.Error != "" {
			if summary.Files[0].Error == "" {
				t.Errorf("%s: %s, but dump takes it", file, g.Error)
			}
			continue
		}
		if *g.Binary.Stats != *summary.Files[0].Stats || *g.Symbols.Module != *summary.Files[0].Module {
			t.Errorf("%s: %+v, dump has %+v", file, g.Binary.Stats, summary.Files[0].Stats)
		}
		// To dump, debug information that is not there is damage; doctor says what is missing.
		if problems := len(summary.Files[0].Problems) > 0; problems != (status == statusInput) || dumped == statusOK && problems {
			t.Errorf("%s: status %d, dump's %d", file, status, dumped)
		}
	}
	if len(files) < 150 {
		t.Errorf("%d files only", len(files))
	}
}

func TestDebianNames(t *testing.T) {
	for file, want := range map[string]string{
		"/usr/lib/x86_64-linux-gnu/libssl.so.3": "libssl3", "libfoo2.so.1": "libfoo2-1", "libstdc++.so.6.0.30": "libstdc++6",
		"libGL_x.so.1": "libgl-x1", "libc.so": "", "program": "",
	} {
		if got := sonamePackage(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "libx1:amd64.list"), []byte("/.\n/usr\n/lib/libx.so.1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"/usr/lib/libx.so.1": "libx1", "/lib/libx.so.1": "libx1", "/usr/lib/libx.so": ""} {
		if got := (&doctor{dpkg: dir}).debianPackage(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
	if debugPackage("libc6") != "libc6-dbg" || debugPackage("libssl3") != "libssl3-dbgsym" {
		t.Error("the names of debug packages")
	}
}

// dpkg -S names the same packages.
func TestDebianNamesOracle(t *testing.T) {
	testenv.Oracle(t)
	dpkg := testenv.Tool(t, "dpkg-query")
	var files []string
	for _, pattern := range []string{"/usr/lib/x86_64-linux-gnu/lib[c-z]*.so.?", "/bin/[a-c]*", "/usr/sbin/[a-d]*"} {
		found, _ := filepath.Glob(pattern)
		for i := 0; i < len(found); i += 1 + len(found)/30 {
			files = append(files, found[i])
		}
	}
	out, _ := exec.Command(dpkg, append([]string{"-S"}, files...)...).Output() // fails for those that no package has
	n, guessed := 0, 0
	for line := range strings.Lines(string(out)) {
		owner, file, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if strings.HasPrefix(owner, "diversion ") || strings.Contains(owner, ",") {
			continue
		}
		want, _, _ := strings.Cut(owner, ":")
		n++
		if got := (&doctor{dpkg: dpkgLists}).debianPackage(file); got != want {
			t.Errorf("%s: %q, dpkg -S has %q", file, got, want)
		}
		if want == sonamePackage(file) {
			guessed++
		}
	}
	t.Logf("%d files; the name of the library alone gives the package of %d", n, guessed)
	if n < 30 {
		t.Errorf("compared %d files only", n)
	}
}

// Damaged files of any kind are answered or refused: no panic, nothing unbounded.
func TestDoctorHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
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
			if status != statusOK && status != statusFindings && status != statusInput || strings.Contains(stderr, "panic") || stdout+stderr == "" {
				t.Errorf("%s: status %d\n%s", name, status, stderr)
			}
			runs++
		}
	}
	if runs < 38*each {
		t.Errorf("%d runs only", runs)
	}
}
