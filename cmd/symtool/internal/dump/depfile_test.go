package dump

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// oddNames lists names of files that make, ninja or the shell could misinterpret.
var oddNames = []string{
	"plain", "a b", " lead", "two  blanks", "a$b", "$(x)", "a#b", "a:b", `a\b`, `a\ b`, `a\\ b`, "tab\there", "a'b", `a"b`, "a|b", "a;b",
	"a~b", "a=b", "a(b)", "a&b", "\u00e9", "a%b", "a$$b", "# $",
}

func TestMakeName(t *testing.T) {
	for name, want := range map[string]string{
		"a/b.elf": "a/b.elf", "a b": `a\ b`, "a$b": "a$$b", "a#b": `a\#b`, `a\b`: `a\b`, `a\ b`: `a\\\ b`, `a\\ b`: `a\\\\\ b`,
		"a\tb": "a\\\tb", "a:b": "a:b", "  ": `\ \ `,
	} {
		if got := makeName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestDepfileText(t *testing.T) {
	for _, c := range []struct {
		phony          bool
		targets, files []string
		want           string
	}{
		{false, []string{"a.sym"}, []string{"a"}, "a.sym: \\\n a\n"},
		{true, []string{"a b.sym", "c"}, []string{"a b", "d$.dwo", "e"}, "a\\ b.sym c: \\\n a\\ b \\\n d$$.dwo \\\n e\nd$$.dwo:\ne:\n"},
		{true, []string{"a.sym"}, nil, "a.sym:\n"},
	} {
		got, err := (&depfile{phony: c.phony}).text(c.targets, c.files)
		if err != nil || got != c.want {
			t.Errorf("%q: %v, want %q", got, err, c.want)
		}
	}
	for _, name := range []string{"a\nb", "a\rb", `a\`, "a;b", "x;touch y", "a|b", "|"} {
		if _, err := (&depfile{}).text([]string{"x"}, []string{name}); err == nil {
			t.Errorf("%q: written", name)
		}
		if _, err := (&depfile{}).text([]string{name}, []string{"x"}); err == nil {
			t.Errorf("%q: written as a target", name)
		}
	}
}

func TestRelative(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for path, want := range map[string]string{
		dir + "/a/b": "a/b", dir + "/a/../c": "c", dir + "x/a": dir + "x/a", "/lib/a": "/lib/a", "a/../b": "a/../b", dir: dir,
		"/lib/../x/a": "/lib/../x/a", "./a": "./a",
	} {
		if got := relative(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestDependencies checks that each file that was read is listed once, by any of the names
// by which it was read, in the order of operands and then of names.
func TestDependencies(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	read := func(names ...string) *dumpResult {
		return &dumpResult{Result: binfile.Result{Opened: binfile.FileList{Names: names}}}
	}
	source := &dumpResult{Result: binfile.Result{MappedFiles: []srcmap.File{{Path: "/src/a.c", File: "src/a.c"}, {Path: "/src/b.c"}, {Path: "/src/a.h", File: "/src/a.h"}}}}
	d := &dumper{dumpConfig: &dumpConfig{files: []string{"z.elf", "./y.elf"}, Reader: binfile.Reader{DebugFile: "d"}}}
	d.maps.Files, d.maps.Manifests = []string{"rules"}, []cli.ManifestArg{{File: "manifest"}}
	d.results = []*dumpResult{
		read("z.elf", dir+"/b.dwo", "b.dwo", "/usr/c"), read("./y.elf", "b.dwo", "a.dwo", dir+"/a.dwo", "d", dir+"/rules"), source,
	}
	want := []string{"z.elf", "./y.elf", "d", "rules", "manifest", "/src/a.h", "/usr/c", "a.dwo", "b.dwo", "src/a.c"}
	if got := d.dependencies(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	d.BuildID = []byte{1}
	if got := d.dependencies(); got[0] != "d" {
		t.Errorf("by build-id: %q", got)
	}
}

// TestOracleDepfileNames checks that names are written as by GCC, and that ninja and make
// read them back.
func TestOracleDepfileNames(t *testing.T) {
	testenv.Oracle(t)
	gcc, ninja, gnuMake := testenv.Tool(t, "gcc"), testenv.Tool(t, "ninja"), testenv.Tool(t, "make")
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range oddNames {
		write(name+".c", "")
		toolOutput(t, gcc, "-E", "-MD", "-MF", "gcc.d", "-MQ", name+".o", "-o", "out.i", "-nostdinc", "-x", "c", "./"+name+".c")
		got, err := os.ReadFile("gcc.d")
		if err != nil {
			t.Fatal(err)
		}
		want := makeName(name+".o") + ": " + makeName(name+".c") + "\n"
		if text := strings.ReplaceAll(string(got), "\\\n ", ""); strings.Join(strings.Fields(text), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%q: gcc writes %q, want %q", name, got, want)
		}
	}

	// ninja's depfiles cannot name any of these, neither in GCC's form nor in another.
	const notNinja = "\t'\"|;&"
	var files []string
	for _, name := range oddNames {
		if !strings.ContainsAny(name, notNinja) {
			files = append(files, name+".c")
		}
	}
	text, err := (&depfile{}).text([]string{"out"}, files)
	if err != nil {
		t.Fatal(err)
	}
	write("names.d", text)
	write("build.ninja", "rule r\n  command = cp names.d out.d && touch out\n  depfile = out.d\n  deps = gcc\nbuild out: r\n")
	toolOutput(t, ninja, "out")
	var read []string
	for _, line := range strings.Split(toolOutput(t, ninja, "-t", "deps", "out"), "\n")[1:] {
		if name, ok := strings.CutPrefix(line, "    "); ok {
			read = append(read, name)
		}
	}
	if !slices.Equal(read, files) {
		t.Errorf("ninja reads %q, want %q", read, files)
	}

	// make expands patterns, so names are tested one by one: touching a file must make the
	// target.
	for _, name := range oddNames {
		name += ".c"
		if strings.ContainsAny(name, ":|;=") {
			continue // GCC does not escape these, and make interprets them
		}
		text, err := (&depfile{}).text([]string{"made"}, []string{name})
		if err != nil {
			t.Fatal(err)
		}
		write("Makefile", "made: ; @touch made; echo built\n"+text)
		os.Remove("made")
		if got := toolOutput(t, gnuMake, "made"); got != "built\n" {
			t.Errorf("%q: make says %q", name, got)
		}
		if got := toolOutput(t, gnuMake, "made"); !strings.Contains(got, "up to date") {
			t.Errorf("%q: make says %q", name, got)
		}
		if got := toolOutput(t, gnuMake, "-W", name, "made"); got != "built\n" {
			t.Errorf("%q is newer: make says %q", name, got)
		}
	}
}

func toolOutput(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}
