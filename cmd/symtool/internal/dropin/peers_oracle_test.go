package dropin

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// ranAs is what a program printed, and its exit status.
type ranAs struct {
	out    []byte
	status int
}

// ranPeer runs another program.
func ranPeer(t *testing.T, path string, args ...string) ranAs {
	t.Helper()
	out, err := exec.Command(path, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return ranAs{out, exit.ExitCode()}
	}
	if err != nil {
		t.Fatal(err)
	}
	return ranAs{out, 0}
}

// ranSymtool runs symtool as another program.
func ranSymtool(t *testing.T, name string, args ...string) ranAs {
	t.Helper()
	return ranPeer(t, testenv.Symtool(t), append([]string{"as", name}, args...)...)
}

// addressesOf returns the addresses of the FUNC records of a symbol file.
func addressesOf(text []byte) (all []string) {
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); f[0] == "FUNC" {
			if f[1] == "m" {
				f = f[1:]
			}
			all = append(all, f[1])
		}
	}
	return all
}

// TestOracleAsDumpSyms checks that Breakpad's dump_syms, and symtool under its name, accept the same command lines.
// The headers of symbol files are the same, byte by byte; in whole files, symtool has all functions that Breakpad
// has, and the options have the same effect. These are the differences:
//
//   - MODULE is named after DT_SONAME or, in symtool, by -n; Breakpad ignores -n for libraries.
//   - With -i, Breakpad reads no sections, so it writes a header even for a truncated file; symtool refuses the file.
func TestOracleAsDumpSyms(t *testing.T) {
	testenv.Oracle(t)
	tool := testenv.BreakpadTool(t, "dump_syms")
	damaged := filepath.Join(t.TempDir(), "damaged.elf")
	whole, err := os.ReadFile(testenv.Input(t, "gcc-O0.elf"))
	if err == nil {
		err = os.WriteFile(damaged, whole[:3000], 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	debug := t.TempDir()
	if err := os.Symlink(testenv.Input(t, "eu-strip.debug"), filepath.Join(debug, "eu-strip.debug")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file    string
		folders []string
	}{
		{testenv.Input(t, "gcc-O0.elf"), nil}, {testenv.Input(t, "gcc-dwarf5.elf"), nil}, {testenv.Input(t, "clang-dwarf4.elf"), nil},
		{testenv.Input(t, "eu-strip.elf"), []string{"nosuch", debug}}, {testenv.Input(t, "nodebug.elf"), nil}, {testenv.Input(t, "cpu-arm64.elf"), nil},
		{testenv.Input(t, "soname.elf"), nil}, {damaged, nil}, {"nosuch.elf", nil}, {testenv.Input(t, "README.md"), nil},
	} {
		for _, options := range []string{"", "-i", "-i -o Android", "-i -n NAME", "-c", "-d", "-d -c", "-r", "-m", "-v", "-m -r -c -o ChromeOS", "-x"} {
			if strings.Contains(options, "-i") && (c.file == damaged || strings.Contains(options, "-n") && filepath.Base(c.file) == "soname.elf") {
				continue
			}
			args := slices.Concat(strings.Fields(options), []string{c.file}, c.folders)
			theirs := ranPeer(t, tool, args...)
			if options == "" {
				args = append([]string{"--dialect", "breakpad"}, args...)
			}
			ours := ranSymtool(t, "dump_syms", args...)
			name := "dump_syms " + options + " " + filepath.Base(c.file)
			if ours.status != theirs.status {
				t.Errorf("%s: status %d, want %d", name, ours.status, theirs.status)
			}
			if strings.Contains(options, "-i") && !bytes.Equal(ours.out, theirs.out) {
				t.Errorf("%s:\n%swant\n%s", name, ours.out, theirs.out)
			}
			compareRecords(t, name, ours.out, theirs.out)
		}
	}
}

// compareRecords compares which kinds of records and which functions two symbol files have.
func compareRecords(t *testing.T, name string, ours, theirs []byte) {
	t.Helper()
	for _, kind := range []string{"MODULE", "INFO CODE_ID", "INFO GENERATOR", "FUNC", "PUBLIC", "INLINE", "STACK CFI INIT"} {
		has := func(text []byte) bool { return bytes.Contains(append([]byte{'\n'}, text...), []byte("\n"+kind+" ")) }
		switch {
		case has(theirs) && !has(ours) && kind != "PUBLIC": // where symtool has a FUNC, it may lack the PUBLIC
			t.Errorf("%s: no %s", name, kind)
		case has(ours) && !has(theirs) && kind != "FUNC" && kind != "INLINE" && kind != "PUBLIC": // Breakpad loses some of these
			t.Errorf("%s: %s, which Breakpad does not write", name, kind)
		case kind == "INLINE" && has(ours) && !strings.Contains(name, "-d"):
			t.Errorf("%s: %s without -d", name, kind)
		}
	}
	known := map[string]bool{}
	for _, address := range addressesOf(ours) {
		known[address] = true
	}
	for _, address := range addressesOf(theirs) {
		if !known[address] {
			t.Errorf("%s: no FUNC %s", name, address)
		}
	}
}

// TestOracleAsStackwalk checks that Breakpad's minidump_stackwalk, and symtool under its name, print the same bytes,
// with symbols dumped by symtool. These are the differences:
//
//   - With -s, Breakpad's program often takes hours: only crashes with which it ends soon are compared.
//   - nullcall and sighandler have frames that Breakpad does not find by STACK CFI: the caller of
//     address 0, and the frames below a signal handler.
func TestOracleAsStackwalk(t *testing.T) {
	testenv.Oracle(t)
	crashes := testenv.Shared(t, "data", "crashes")
	tool := testenv.BreakpadTool(t, "minidump_stackwalk")
	store := t.TempDir()
	binaries := []string{filepath.Join(crashes, "sharedlib", "libcb.so")}
	for _, path := range testenv.SharedGlob(t, "data", "crashes", "system", "*.so*") {
		if !strings.HasSuffix(path, ".debug") {
			binaries = append(binaries, path)
		}
	}
	names := []string{"coldsplit", "cxxtmpl", "deeprec", "inlines", "omitfp", "sharedlib", "threads"}
	for _, name := range names {
		binaries = append(binaries, filepath.Join(crashes, name, "prog"))
	}
	for _, path := range binaries {
		if got := ranSymtool(t, "dump_syms", "-s", store, "--inlines", path); got.status != 0 {
			t.Fatalf("dump_syms %s: status %d", path, got.status)
		}
	}
	for _, name := range names {
		for _, options := range []string{"", "-m", "-c", "-b", "-m -c", "-c -b", "-s"} {
			if options == "-s" && name != "coldsplit" && name != "deeprec" && name != "omitfp" {
				continue
			}
			args := append(strings.Fields(options), filepath.Join(crashes, name, "dump.dmp"), store, "nosuch")
			compareStackwalks(t, name, tool, args)
		}
	}
	for _, args := range [][]string{{}, {"-x", "a"}, {"nosuch.dmp"}, {"-m", "nosuch.dmp"}, {filepath.Join(crashes, "inlines", "prog")}} {
		compareStackwalks(t, "wrong", tool, args)
	}
}

func compareStackwalks(t *testing.T, name, tool string, args []string) {
	t.Helper()
	ours, theirs := ranSymtool(t, "minidump_stackwalk", args...), ranPeer(t, tool, args...)
	if ours.status != theirs.status {
		t.Errorf("%s: minidump_stackwalk %q: status %d, want %d", name, args, ours.status, theirs.status)
	}
	if !bytes.Equal(ours.out, theirs.out) {
		t.Errorf("%s: minidump_stackwalk %q: %d bytes differ from Breakpad's %d", name, args, len(ours.out), len(theirs.out))
	}
}
