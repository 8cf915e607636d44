package dwarf2sym_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// dwz moves what several files share to another file. With that file, the symbols are the
// same as before, for every DWARF version and all of its forms.
func TestOracleSupplement(t *testing.T) {
	testenv.Oracle(t)
	if !testenv.OracleFull() {
		t.Skip("minutes of compiling: make oracle-full")
	}
	gxx, dwz := testenv.Tool(t, "g++"), testenv.Tool(t, "dwz")
	for _, c := range []struct {
		name, version string
		args          []string
	}{
		{"DWARF 4", "-gdwarf-4", nil},
		{"DWARF 5, GNU forms", "-gdwarf-5", nil},
		{"DWARF 5", "-gdwarf-5", []string{"--dwarf-5"}},
		{"DWARF 4 with type units", "-gdwarf-4 -fdebug-types-section", nil},
		{"one dictionary, no optimization", "-gdwarf-4 -O0", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			one, two := filepath.Join(dir, "one.so"), filepath.Join(dir, "two.so")
			for file, sources := range map[string][]string{one: {"templates.cc", "scopes.cc"}, two: {"templates.cc"}} {
				args := append([]string{"-w", "-O2", "-std=c++20", "-shared", "-fPIC", "-o", file}, strings.Fields(c.version)...)
				for _, source := range sources {
					args = append(args, testenv.Input(t, "src", source))
				}
				run(t, gxx, args...)
			}
			want := dumpOf(t, one)
			run(t, dwz, append(c.args, "-m", filepath.Join(dir, "common.debug"), "-M", "common.debug", one, two)...)
			got := dumpOf(t, one)
			if !bytes.Equal(got, want) {
				t.Error("other symbols than before dwz")
			}
			link, err := symtest.Open(t, one).Supplement()
			if err != nil || link == nil {
				t.Errorf("no link after dwz: %v", err)
			}
			t.Logf("%d records, %v", bytes.Count(got, []byte("\n")), link)
		})
	}
}

// The same for libc's debug file, which is C: two copies of it share all of their types
// and inline functions.
func TestOracleSupplementOfLibc(t *testing.T) {
	testenv.Oracle(t)
	objcopy, dwz := testenv.Tool(t, "objcopy"), testenv.Tool(t, "dwz")
	libc := symtest.Open(t, testenv.File(t, "/lib/x86_64-linux-gnu/libc.so.6", "libc6"))
	set := debugset.Set{Binary: libc}
	defer set.Close()
	finder := debugset.Finder{Dirs: []string{dwarf2sym.DefaultDebugDir}, Limits: object.DefaultLimits()}
	if err := finder.Complete(t.Context(), &set); err != nil || set.Debug == nil {
		t.Fatalf("no debug file of libc: %v, %v; install libc6-dbg", set.Tried, err)
	}
	debug := set.Debug
	one, two := filepath.Join(t.TempDir(), "one.debug"), filepath.Join(t.TempDir(), "two.debug")
	common := filepath.Join(t.TempDir(), "common.debug")
	run(t, objcopy, "--decompress-debug-sections", debug.Path, one)
	run(t, objcopy, "--decompress-debug-sections", debug.Path, two)
	want := dumpOf(t, one)
	run(t, dwz, "-m", common, "-M", common, one, two)
	if link, err := symtest.Open(t, one).Supplement(); link == nil {
		t.Fatalf("no link after dwz: %v", err)
	}
	if got := dumpOf(t, one); !bytes.Equal(got, want) {
		t.Error("other symbols than before dwz")
	}
	t.Logf("%d records", bytes.Count(want, []byte("\n")))
}

// The same for a program that is small enough to be checked in both ways.
func TestSupplementKeepsAll(t *testing.T) {
	for _, v := range []string{"4", "5"} {
		want := dumpOf(t, testenv.Input(t, "scopes-gcc"+v+".elf"))
		got := dumpOf(t, testenv.Input(t, "dwz"+v+".elf"))
		if !bytes.Equal(got, want) {
			t.Errorf("dwz%s.elf: other symbols than before dwz:\n%s\nwant\n%s", v, got, want)
		}
	}
}

// A program has the same symbols whether or not its types have their own units, even if
// neither linkage names nor ELF symbols show the scopes.
func TestOracleTypeUnits(t *testing.T) {
	testenv.Oracle(t)
	clang, objcopy := testenv.Tool(t, "clang++-22"), testenv.Tool(t, "objcopy")
	build := func(t *testing.T, more ...string) []byte {
		out := filepath.Join(t.TempDir(), "lib.so")
		run(t, clang, append(more, "-std=c++17", "-fvisibility=hidden", "-mllvm", "-dwarf-linkage-names=Abstract",
			"-shared", "-fPIC", "-nostdlib", "-o", out, testenv.Input(t, "src", "scopes.cc"))...)
		run(t, objcopy, "--wildcard", "--strip-symbol=*", out)
		return dumpOf(t, out)
	}
	for _, options := range [][]string{{"-gdwarf-4", "-O0"}, {"-gdwarf-5", "-O0"}, {"-gdwarf-4", "-O2"}, {"-gdwarf-5", "-O2"}} {
		t.Run(strings.Join(options, " "), func(t *testing.T) {
			want := build(t, options...)
			if got := build(t, append(options, "-fdebug-types-section")...); !bytes.Equal(got, want) {
				t.Errorf("with type units:\n%s\nwant\n%s", got, want)
			}
			if !bytes.Contains(want, []byte("outer::v1::Box<")) {
				t.Error("no name with a scope")
			}
		})
	}
}

// dumpOf returns the symbol file of a library without its ids. It must be complete.
func dumpOf(t *testing.T, path string) []byte {
	t.Helper()
	file := symtest.Open(t, path)
	rep, err := dwarf2sym.Read(context.Background(), file, dwarf2sym.Options{Name: "lib", ID: "0", Supplement: openSupplement(t, file)})
	if err != nil || len(rep.Problems) > 0 {
		t.Fatalf("%v, %v", err, rep)
	}
	m := rep.Module
	m.Infos = nil
	var b bytes.Buffer
	if err := symfmt.Write(&b, m, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Without the supplementary file its names are missing, which is reported; the addresses
// are kept.
func TestNoSupplement(t *testing.T) {
	for _, name := range []string{"dwz4.elf", "dwz5.elf"} {
		file := symtest.Open(t, testenv.Input(t, name))
		rep, err := dwarf2sym.Read(context.Background(), file, dwarf2sym.Options{})
		if err != nil || len(rep.Problems) != 1 || !strings.Contains(rep.Problems[0].String(), "the supplementary file") {
			t.Fatalf("%s: %v, %v", name, err, rep)
		}
		m := rep.Module
		result, err := dwarf2sym.Read(context.Background(), file, dwarf2sym.Options{Supplement: openSupplement(t, file)})
		if err != nil {
			t.Fatal(err)
		}
		whole := result.Module
		if len(whole.Funcs) != len(m.Funcs) {
			t.Fatalf("%s: %d functions with the file, %d without", name, len(whole.Funcs), len(m.Funcs))
		}
		for i := range m.Funcs {
			if a, b := &m.Funcs[i], &whole.Funcs[i]; a.RVA != b.RVA || a.Size != b.Size {
				t.Errorf("%s: function %d at %#x, want %#x", name, i, a.RVA, b.RVA)
			}
		}
	}
}
