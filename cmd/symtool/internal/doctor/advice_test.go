package doctor_test

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// advised returns doctor's first piece of advice that begins with a text.
func advised(t *testing.T, begins string, args ...string) string {
	t.Helper()
	_, stdout, stderr := doctored(t, args...)
	m := regexp.MustCompile(`(?m)^  - (` + regexp.QuoteMeta(begins) + `.*)$`).FindStringSubmatch(stdout)
	if m == nil {
		t.Fatalf("%q: no advice %q:\n%s%s", args, begins, stdout, stderr)
	}
	return m[1]
}

// TestDoctorAdvisesSplitFiles checks that doctor's advice about .dwo files and packages works with dump: with
// the binary in another folder, nothing is missing afterwards.
func TestDoctorAdvisesSplitFiles(t *testing.T) {
	golden := testenv.Input(t)
	for _, c := range []struct{ binary, part string }{
		{"split-gcc5.elf", "split-gcc5.elf-nest.dwo"}, {"split-clang4.elf", "split-clang4.elf-second.dwo"},
		{"split-dwp-clang5.elf", "split-dwp-clang5.elf.dwp"}, {"split-dwp-gcc4.elf", "split-dwp-gcc4.elf.dwp"},
		{"split-types-dwp-gcc5.elf", "split-types-dwp-gcc5.elf.dwp"},
	} {
		if _, err := os.Stat(filepath.Join(golden, c.binary)); err != nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join(golden, c.binary))
		if err != nil {
			t.Fatal(err)
		}
		moved := filepath.Join(t.TempDir(), "moved.elf")
		if err := os.WriteFile(moved, data, 0o777); err != nil {
			t.Fatal(err)
		}
		if status, stdout, _ := doctored(t, moved); status != cli.StatusInput || !strings.Contains(stdout, "missing: functions and inlined calls of") {
			t.Errorf("%s: status %d: %s", c.binary, status, stdout)
		}
		do := advised(t, "symtool dump BINARY ", filepath.Join(golden, c.part))
		args := strings.Fields(strings.Replace(do, "BINARY", moved, 1))
		var out, messages bytes.Buffer
		if status := app.Run(t.Context(), append(args, "--no-debuginfod"), strings.NewReader(""), &out, &messages); status != cli.StatusOK {
			t.Errorf("%s: %s: status %d: %s", c.part, do, status, messages.String())
		}
		if status, stdout, _ := doctored(t, args[2:]...); status != cli.StatusOK {
			t.Errorf("%s: doctor with %q: %s", c.part, args[3:], stdout)
		}
		if _, stdout, _ := doctored(t, filepath.Join(golden, c.part)); strings.Count(stdout, "missing: ") != 1 {
			t.Errorf("%s: more is missing than the binary:\n%s", c.part, stdout)
		}
	}
}

// TestDoctorAdvisesGo checks that flags of C compilers are not suggested for Go programs. .gopclntab always
// has their names and rules.
func TestDoctorAdvisesGo(t *testing.T) {
	testenv.Oracle(t)
	goTool := testenv.Tool(t, "go")
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module x\n", "main.go": "package main\n\nfunc main() { println(1) }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	build := func(name, flags string) string {
		cmd := exec.Command(goTool, "build", "-o", name, "-ldflags="+flags, ".")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return filepath.Join(dir, name)
	}
	for name, flags := range map[string]string{"w": "-w", "sw": "-s -w"} {
		_, stdout, _ := doctored(t, build(name, flags))
		if strings.Count(stdout, "  - build without -w and -s in go build's -ldflags") != 1 || !strings.Contains(stdout, "STACK CFI     from .gopclntab and its instructions\n") || strings.Contains(stdout, "-fasynchronous") || strings.Contains(stdout, "compile with -g") {
			t.Errorf("%s: %s", flags, stdout)
		}
	}
	if status, stdout, _ := doctored(t, build("whole", "")); status != cli.StatusOK {
		t.Errorf("without -w and -s: %s", stdout)
	}
}

// TestDoctorAdvisesLines checks that lines are reported as missing if none could be read, and rules if all of
// them are for code that the linker discarded.
func TestDoctorAdvisesLines(t *testing.T) {
	for file, why := range map[string]string{
		testenv.Input(t, "lang-swift.elf"):                                 "the line tables have no lines of its functions",
		withoutCode(t, testenv.Input(t, "lang-pascal.elf"), elf.EM_PPC64):  "FDEs are of code that the linker dropped",
		withoutCode(t, testenv.Input(t, "lang-pascal.elf"), elf.EM_X86_64): "STACK CFI     from its instructions",
	} {
		if _, stdout, _ := doctored(t, file); !strings.Contains(stdout, why) {
			t.Errorf("%s: not %q: %s", file, why, stdout)
		}
	}
}

// withoutCode returns the path of a copy of a 64-bit file, for a CPU, in which all of .debug_frame is for code at address
// 0.
func withoutCode(t *testing.T, path string, machine elf.Machine) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	section := f.Section(".debug_frame")
	entries := data[section.Offset : section.Offset+section.FileSize]
	for len(entries) > 0 {
		size := f.ByteOrder.Uint32(entries)
		entry := entries[4 : 4+size]
		if f.ByteOrder.Uint32(entry) != 1<<32-1 { // not a CIE
			clear(entry[4:16]) // the address, after a CIE pointer of 4 or 8 bytes
		}
		entries = entries[4+size:]
	}
	const machineAt = 18 // e_machine
	f.ByteOrder.PutUint16(data[machineAt:], uint16(machine))
	path = filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
