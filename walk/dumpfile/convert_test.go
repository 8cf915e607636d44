package dumpfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/minidump"
)

// thereAndBack checks that a dump is the same after conversions.
func thereAndBack(t *testing.T, path string, d *dump.Dump) {
	t.Helper()
	now := d
	for _, format := range []string{"minidump", "core", "minidump", "core", "core", "minidump", "minidump"} {
		data, _ := walktest.Written(t, format, now)
		now = walktest.Parsed(t, data)
		if now.Format != map[string]string{"minidump": minidump.Format, "core": elfcore.Format}[format] {
			t.Fatalf("%s: %s", path, now.Format)
		}
		for i, line := range compare(d, now) {
			if i < 10 {
				t.Errorf("%s: as %s: %s", path, format, line)
			}
		}
		for _, p := range now.Problems {
			t.Errorf("%s: as %s: %v", path, format, p)
		}
	}
}

// Each dump is the same after conversion to the other format and back.
func TestConvertLosesNothing(t *testing.T) {
	n := 0
	for _, path := range walktest.SharedDumps(t) {
		d := walktest.Opened(t, path)
		if filepath.Base(path) == "invalid-range.dmp" { // it has no system information, and so no CPU
			if _, err := dumpfile.Write(&bytes.Buffer{}, "core", d); err == nil {
				t.Error("a core without a CPU")
			}
			continue
		}
		thereAndBack(t, path, d)
		n++
	}
	t.Logf("%d dumps", n)
}

func TestConvertFixtures(t *testing.T) {
	cores, _ := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "input", "*.core.gz"))
	if len(cores) < 7 {
		t.Errorf("cores %v", cores)
	}
	names := []string{"mini-linux.dmp", "mini-linux-be.dmp", "mini-windows.dmp"}
	for _, core := range cores {
		names = append(names, filepath.Base(core))
	}
	for _, name := range names {
		path := testenv.Input(t, name)
		thereAndBack(t, path, walktest.Opened(t, path))
	}
}

// homeless lists the parts of the model that a format cannot represent without symtool's note, with
// the reasons.
var homeless = map[string]map[string]string{
	"minidump": {
		"System.CPU":                 "is named after its number",
		"System.Model":               "is of zeros where nothing is known",
		"Process.Started":            "is there as soon as there are other times",
		"Process.User":               "is in seconds",
		"Process.Kernel":             "is in seconds",
		"Crash.HasAddress":           "there is an address always",
		"Thread.Signal":              "only the crash has one",
		"Module.Path":                "has DT_SONAME in place of the file's name, as symbols are looked up by it",
		"Module.Bias":                "is in the headers of binaries, which the reader of minidumps does not look at",
		"Mapping.Device":             "is 00:00 where nothing is known",
		"Files":                      "has the status file, in which the ids of the process are",
		"Linker":                     "only Linux has a stream for it",
		"Thread.registers of x86_64": "$fs.base, $gs.base, and those of XSAVE",
		"registers not known":        "are 0",
	},
	"core": {},
}

// homelessRegs are the registers that neither format has a place for, and xsaveRegs those that contexts of minidumps
// have none for.
var (
	homelessRegs = regexp.MustCompile(`^(Crash|Thread)\.\$(fs|gs)\.base|^(Crash|Thread)\.(s11|t3|t4|t5|t6): 0x0 false`)
	xsaveRegs    = regexp.MustCompile(`^(Crash|Thread)\.\$(k[0-7]|r1[6-9]|r2[0-9]|r3[01]|pkru|xmm[0-9]+):`)
)

// What the formats lose for programs that do not read symtool's note is on the list.
func TestConvertAsOthersSee(t *testing.T) {
	for _, path := range walktest.SharedDumps(t) {
		if filepath.Base(path) != "core" {
			continue
		}
		d := walktest.Opened(t, path)
		data, _ := walktest.Written(t, "minidump", d)
		seen := walktest.Parsed(t, walktest.WithoutRest(t, data))
		for _, line := range compare(d, seen) {
			what, _, _ := strings.Cut(line, ":")
			if homeless["minidump"][what] == "" && !xsaveRegs.MatchString(line) && !homelessRegs.MatchString(line) {
				t.Errorf("%s: as a minidump: %s", path, line)
			}
		}
		data, _ = walktest.Written(t, "core", d)
		for _, line := range compare(d, walktest.Parsed(t, walktest.WithoutRest(t, data))) {
			if !homelessRegs.MatchString(line) {
				t.Errorf("%s: as a core: %s", path, line)
			}
		}
	}
}

// backtrace returns gdb's backtraces of all threads, in the order of their ids.
func backtrace(t *testing.T, core, program, arguments string) string {
	t.Helper()
	stacks := map[string][]string{}
	var ids []string
	id := ""
	for line := range strings.SplitSeq(oracle.GDBCore(t, core, program, "set print frame-arguments "+arguments, "thread apply all bt"), "\n") {
		if m := threadLine.FindStringSubmatch(line); m != nil {
			id = m[1]
			ids = append(ids, id)
		} else if id != "" && strings.HasPrefix(line, "#") {
			stacks[id] = append(stacks[id], line)
		}
	}
	slices.Sort(ids)
	var text strings.Builder
	for _, id := range ids {
		text.WriteString("thread " + id + "\n" + strings.Join(stacks[id], "\n") + "\n")
	}
	return text.String()
}

var threadLine = regexp.MustCompile(`^Thread \d+ .*LWP (\d+)`)

// gdb 13 cannot read the core of riscv64 that it wrote itself. It reads ours, up to a frame whose
// memory the core lacks, and shows the same as it did for the process.
func testRISCVBacktrace(t *testing.T, path, program string) {
	const readable = 15 // frames up to the signal's trampoline
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "gdb_bt.txt"))
	if err != nil {
		t.Fatal(err)
	}
	frames := func(text string) (list []string) {
		for _, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "#") && len(list) < readable {
				list = append(list, line)
			}
		}
		return list
	}
	data, _ := walktest.Written(t, "core", walktest.Opened(t, path))
	got, want := frames(backtrace(t, walktest.WriteFile(t, "core", data), program, "scalars")), frames(string(text))
	if len(want) != readable || !slices.Equal(got, want) {
		t.Errorf("gdb shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// gdb shows the same stacks for a core, for the core after conversion to a minidump and
// back, and for a core made from Breakpad's minidump of the same crash.
func TestOracleBacktrace(t *testing.T) {
	testenv.Oracle(t)
	frames := 0
	for _, path := range walktest.SharedDumps(t) {
		if filepath.Base(path) != "core" {
			continue
		}
		folder := filepath.Dir(path)
		program := filepath.Join(folder, "prog")
		want := backtrace(t, path, program, "scalars")
		if strings.Contains(path, "riscv64") {
			testRISCVBacktrace(t, path, program)
			continue
		}
		frames += strings.Count(want, "\n#")
		data, _ := walktest.Written(t, "minidump", walktest.Opened(t, path))
		compareBacktrace(t, want, path+" as minidump and core", walktest.Parsed(t, data), program, "scalars")
		compareBacktrace(t, want, path+" as others see it", walktest.Parsed(t, walktest.WithoutRest(t, data)), program, "scalars")
		if dmp := filepath.Join(folder, "dump.dmp"); exists(dmp) {
			// Some arguments are in memory that the minidump lacks.
			compareBacktrace(t, backtrace(t, path, program, "none"), dmp, walktest.Opened(t, dmp), program, "none")
		}
	}
	t.Logf("%d frames", frames)
	if frames < 100 {
		t.Errorf("%d frames in all", frames)
	}
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func compareBacktrace(t *testing.T, want, what string, d *dump.Dump, program, arguments string) {
	t.Helper()
	data, _ := walktest.Written(t, "core", d)
	if got := backtrace(t, walktest.WriteFile(t, "core", data), program, arguments); got != want {
		t.Errorf("%s: gdb shows\n%s\nwant\n%s", what, got, want)
	}
}
