package resolve_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// TestOracleProfile compares profiles symbolized by resolve --format pprof with the output of pprof, which calls
// llvm-symbolizer, for the same profile and binary: functions, files and lines, including inlined functions, all over
// the code. The names of clones have other suffixes.
func TestOracleProfile(t *testing.T) {
	testenv.Oracle(t)
	symbolizer := testenv.Tool(t, "llvm-symbolizer-22")
	tools := t.TempDir()
	if err := os.Symlink(symbolizer, filepath.Join(tools, "llvm-symbolizer")); err != nil {
		t.Fatal(err)
	}
	for _, input := range []string{"gcc-dwarf5.elf", "clang-dwarf5.elf", "hotcold-clang5.elf", "walk-sources.elf", "lto-clang.elf"} {
		t.Run(input, func(t *testing.T) {
			dir := t.TempDir()
			binary, in := filepath.Join(dir, "prog"), filepath.Join(dir, "in.pb.gz")
			testenv.Copy(t, testenv.Input(t, input), binary)
			writeProfile(t, in, profileOf(t, binary))
			flags := pprofFlags{flag.NewFlagSet("pprof", flag.ContinueOnError), []string{
				"-proto", "-tools=" + tools, "-symbolize=local:demangle=none", "-output=" + filepath.Join(dir, "theirs.pb.gz"), binary, in,
			}}
			if err := driver.PProf(&driver.Options{Flagset: flags}); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			status := app.Run(t.Context(), []string{"symtool", "resolve", "--format", "pprof", "--binaries", binary, in}, nil, &out, &errs)
			if status == cli.StatusUsage || status == cli.StatusInput {
				t.Fatalf("status %d: %s", status, errs.String())
			}
			ours, err := profile.Parse(&out)
			if err != nil {
				t.Fatal(err)
			}
			compareProfiles(t, ours, readProfile(t, filepath.Join(dir, "theirs.pb.gz")))
		})
	}
}

// pprofFlags holds the arguments of pprof.
type pprofFlags struct {
	*flag.FlagSet
	args []string
}

func (f pprofFlags) StringList(name, value, usage string) *[]*string {
	return &[]*string{f.String(name, value, usage)}
}
func (f pprofFlags) ExtraUsage() string   { return "" }
func (f pprofFlags) AddExtraUsage(string) {}

func (f pprofFlags) Parse(func()) []string {
	if err := f.FlagSet.Parse(f.args); err != nil {
		panic(err)
	}
	return f.Args()
}

func compareProfiles(t *testing.T, ours, theirs *profile.Profile) {
	t.Helper()
	got, want := profileFrames(ours), profileFrames(theirs)
	same, inlined := 0, 0
	for addr, frames := range want {
		if frames[0][0] == ' ' || strings.HasSuffix(frames[0], ":0") {
			continue // after the end of a function, or not in the debug information
		}
		if !slices.Equal(got[addr], frames) {
			t.Errorf("%#x: %q, want %q", addr, got[addr], frames)
			continue
		}
		if same++; len(frames) > 1 {
			inlined++
		}
	}
	if same < 10 {
		t.Errorf("%d locations have the same functions", same)
	}
	t.Logf("%d locations have the same functions, %d of them inlined ones", same, inlined)
}
