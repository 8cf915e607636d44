package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// recorder is a testing.TB whose Skip and Fatal end the function under test
// and keep their message.
type recorder struct {
	testing.TB
	skipped, failed string
}

func (r *recorder) Helper() {}
func (r *recorder) Skipf(format string, args ...any) {
	r.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
func (r *recorder) Errorf(format string, args ...any) { r.failed = fmt.Sprintf(format, args...) }
func (r *recorder) Fatal(args ...any) {
	r.failed = fmt.Sprint(args...)
	runtime.Goexit()
}

// record runs f as a separate test would.
func record(t *testing.T, f func(testing.TB)) *recorder {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r
}

func TestRoot(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(Root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(mod), "module github.com/symtool/symtool\n") {
		t.Errorf("%s is not the root of this module", Root(t))
	}
}

func TestToolThatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(oracleVar, "")
	r := record(t, func(t testing.TB) { Tool(t, "llvm-symbolizer-22") })
	if want := "needs program llvm-symbolizer-22: runs with " + oracleVar + "=1, as `make oracle` does"; r.skipped != want || r.failed != "" {
		t.Errorf("skipped %q, failed %q", r.skipped, r.failed)
	}
	t.Setenv(oracleVar, "1")
	r = record(t, func(t testing.TB) { Tool(t, "llvm-symbolizer-22") })
	if want := "no program llvm-symbolizer-22: apt-get install llvm-22"; r.failed != want {
		t.Errorf("failed %q, want %q", r.failed, want)
	}
	r = record(t, func(t testing.TB) { Tool(t, "rustc") })
	if want := "needs program rustc: runs with " + oracleVar + "=full, as `make oracle-full` does"; r.skipped != want {
		t.Errorf("skipped %q, failed %q; want it skipped: %q", r.skipped, r.failed, want)
	}
	t.Setenv(oracleVar, "full")
	r = record(t, func(t testing.TB) { Tool(t, "rustc") })
	if want := "no program rustc: apt-get install rustc"; r.failed != want {
		t.Errorf("failed %q, want %q", r.failed, want)
	}
	r = record(t, func(t testing.TB) { Tool(t, "no-such-program") })
	if want := "no program no-such-program"; r.skipped != want {
		t.Errorf("skipped %q, want %q", r.skipped, want)
	}
}

// make oracle installs the packages that the tests require.
func TestOraclePackages(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(Root(t), "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for name, packages := range map[string][]string{"ORACLE_PACKAGES": oraclePackages, "ORACLE_FULL_PACKAGES": fullPackages} {
		line := "\n" + name + " = " + strings.Join(packages, " ") + "\n"
		if !strings.Contains(strings.ReplaceAll(string(makefile), " \\\n\t", " "), line) {
			t.Errorf("the Makefile does not have the line%s", line)
		}
	}
}

func TestToolThatIsThere(t *testing.T) {
	dir := t.TempDir()
	prog := filepath.Join(dir, "eu-readelf")
	if err := os.WriteFile(prog, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv(oracleVar, "")
	if r := record(t, func(t testing.TB) { Tool(t, "eu-readelf") }); r.skipped == "" {
		t.Error("a program of make oracle's is used in other targets")
	}
	t.Setenv(oracleVar, "1")
	if got := Tool(t, "eu-readelf"); got != prog {
		t.Errorf("got %q, want %q", got, prog)
	}
}

func TestFile(t *testing.T) {
	t.Setenv(oracleVar, "")
	here := filepath.Join(Root(t), "go.mod")
	if got := File(t, here, "x"); got != here {
		t.Errorf("got %q, want %q", got, here)
	}
	r := record(t, func(t testing.TB) { File(t, "/nonexistent/x", "libx-dbg") })
	if want := "no file /nonexistent/x: apt-get install libx-dbg"; r.skipped != want {
		t.Errorf("skipped %q, want %q", r.skipped, want)
	}
}

func TestShared(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(sharedVar, dir)
	r := record(t, func(t testing.TB) { Shared(t, "data", "x") })
	if !strings.Contains(r.skipped, sharedVar) || !strings.Contains(r.skipped, filepath.Join(dir, "data", "x")) {
		t.Errorf("skipped %q", r.skipped)
	}
	if err := os.WriteFile(filepath.Join(dir, "y"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := Shared(t, "y"); got != filepath.Join(dir, "y") {
		t.Errorf("got %q", got)
	}
}

// A relative SYMTOOL_SHARED is relative to the repository's folder, whichever package asks.
func TestSharedRelative(t *testing.T) {
	t.Setenv(sharedVar, filepath.Join("internal", "testenv"))
	if got, want := Shared(t, "testenv.go"), filepath.Join(Root(t), "internal", "testenv", "testenv.go"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := SharedGlob(t, "*env.go"); len(got) != 1 {
		t.Errorf("%q", got)
	}
	t.Setenv(sharedVar, "no such folder")
	if got := SharedGlob(t, "*"); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestInputThatIsMissing(t *testing.T) {
	r := record(t, func(t testing.TB) { Input(t, "no such input") })
	if !strings.Contains(r.failed, "no such input") {
		t.Errorf("failed %q", r.failed)
	}
}

func TestOracle(t *testing.T) {
	t.Setenv(oracleVar, "1")
	if r := record(t, Oracle); r.skipped != "" {
		t.Errorf("skipped %q", r.skipped)
	}
	if OracleFull() {
		t.Error("1 is full")
	}
	t.Setenv(oracleVar, "full")
	if r := record(t, Oracle); r.skipped != "" || !OracleFull() {
		t.Errorf("full: skipped %q, full %v", r.skipped, OracleFull())
	}
	t.Setenv(oracleVar, "0")
	if r := record(t, Oracle); !strings.Contains(r.skipped, oracleVar+"=1") || OracleFull() {
		t.Errorf("skipped %q", r.skipped)
	}
}

func TestGolden(t *testing.T) {
	got := Golden(t).GoldenFileName(t, "case.txt")
	if want := filepath.Join(Root(t), "golden", "internal", "testenv", "case.txt"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Tool does not find symtool under the name of another program, where scripts have it.
func TestToolIsNotUs(t *testing.T) {
	dir := t.TempDir()
	ours, theirs := filepath.Join(dir, "testscript-main1", "bin"), filepath.Join(dir, "bin")
	for _, place := range []string{ours, theirs} {
		writeFile(t, filepath.Join(place, "nm"), []byte("#!/bin/sh\n"), 0o777)
	}
	t.Setenv("PATH", ours)
	if path, err := lookPath("nm"); err == nil {
		t.Errorf("found %s", path)
	}
	t.Setenv("PATH", ours+string(filepath.ListSeparator)+theirs)
	if path, err := lookPath("nm"); err != nil || path != filepath.Join(theirs, "nm") {
		t.Errorf("%s, %v", path, err)
	}
}
