package report

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// Breakpad's minidump_stackwalk prints the same bytes about every crash, with records of variables in the
// symbol files and without.
func TestOracleBreakpadPassesOverVariables(t *testing.T) {
	testenv.BreakpadTool(t, "minidump_stackwalk")
	cases := peerCrashes(t)
	var binaries []string
	for _, path := range testenv.SharedGlob(t, "data", "crashes", "system", "*.so*") {
		if !strings.HasSuffix(path, ".debug") {
			binaries = append(binaries, path)
		}
	}
	for _, c := range cases {
		binaries = append(binaries, c.program)
	}
	plain, full := t.TempDir(), t.TempDir()
	bytesOfVariables := 0
	for _, path := range binaries {
		bytesOfVariables += storeVariables(t, path, plain, full)
	}
	if bytesOfVariables < 1<<20 {
		t.Errorf("%d bytes of variables", bytesOfVariables)
	}
	tool := testenv.BreakpadTool(t, "minidump_stackwalk")
	frames := 0
	for _, c := range cases {
		if c.name == "mips64" {
			continue // Breakpad continues to its limit of a million frames, which takes a minute
		}
		want, got := runBreakpad(t, tool, "-m", c.dump, plain), runBreakpad(t, tool, "-m", c.dump, full)
		if got = strings.ReplaceAll(got, full, plain); got != want {
			t.Errorf("%s: the outputs differ", c.name)
		}
		frames += strings.Count(want, "\n")
	}
	if frames < 10*len(cases) {
		t.Errorf("%d lines about %d crashes", frames, len(cases))
	}
}

// storeVariables adds the symbols of a binary to two stores, with variables to one of them, and returns how
// many bytes these have.
func storeVariables(t *testing.T, path, plain, full string) int {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o := dwarf2sym.Options{Demangle: true, Vars: dwarf2sym.VarOptions{Params: true, Locals: true, FullTypes: true}}
	if _, err := os.Stat(path + ".debug"); err == nil {
		debug, err := objfile.Open(path+".debug", object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		defer debug.Close()
		o.Debug = debug
	}
	result, err := dwarf2sym.Read(context.Background(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	m := result.Module
	symbols, _ := m.SplitVars()
	sizes := [2]int{}
	for i, x := range []struct {
		store string
		m     *symfmt.Module
	}{{plain, symbols}, {full, m}} {
		var b bytes.Buffer
		if err := symfmt.Write(&b, x.m, symfmt.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(x.store, m.Name, m.ID, m.Name+".sym")
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		sizes[i] = b.Len()
	}
	return sizes[1] - sizes[0]
}
