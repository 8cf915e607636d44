package supplier

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// A library that a dump names without a folder is found in the folders of libraries, by its id; without AtPaths, and
// with a path that leads elsewhere, these are not searched.
func TestLibraryDirs(t *testing.T) {
	elf, err := objfile.Open(testenv.Input(t, "soname.elf"), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer elf.Close()
	outer := t.TempDir()
	empty, other, right := filepath.Join(outer, "empty"), filepath.Join(outer, "other"), filepath.Join(outer, "right")
	for dir, input := range map[string]string{empty: "", other: "gcc-dwarf5.elf", right: "soname.elf"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if input == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, "libnest.so.1"), testenv.ReadInput(t, input), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	all := []string{empty, other, right}
	for _, c := range []struct {
		path  string
		o     BinaryOptions
		found bool
		tried string
	}{
		{"libnest.so.1", BinaryOptions{AtPaths: true, LibraryDirs: all}, true, other + "/libnest.so.1: build-id "},
		{"libnest.so.1", BinaryOptions{AtPaths: true, LibraryDirs: all[:2]}, false, other + "/libnest.so.1: build-id "},
		{"libnest.so.1", BinaryOptions{AtPaths: true, LibraryDirs: all[:1]}, false, empty + "/libnest.so.1: no such file or directory"},
		{"libnest.so.1", BinaryOptions{LibraryDirs: all}, false, ""},
		{"right/libnest.so.1", BinaryOptions{AtPaths: true, LibraryDirs: []string{outer}}, false, ""},
		{"../right/libnest.so.1", BinaryOptions{AtPaths: true, LibraryDirs: []string{other}}, false, ""},
		{"..", BinaryOptions{AtPaths: true, LibraryDirs: all}, false, ""},
	} {
		b, err := NewBinaries(nil, c.o)
		if err != nil {
			t.Fatal(err)
		}
		f, tried, err := b.Binary(t.Context(), resolve.Module{Name: filepath.Base(c.path), Path: c.path, BuildID: elf.BuildID(), DebugID: elf.ID()})
		if f != nil {
			f.Close()
		}
		if lines := strings.Join(symfmt.TriedLines(tried), "\n"); f != nil != c.found || err != nil || !strings.Contains(lines, c.tried) {
			t.Errorf("%+v: found %v, %v, tried %s", c, f != nil, err, lines)
		}
	}
}

// A path of Windows is not looked for on this system: not in folders of libraries, and not below roots, where a file with
// the module's id is found wherever it is.
func TestWindowsPath(t *testing.T) {
	elf, err := objfile.Open(testenv.Input(t, "soname.elf"), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer elf.Close()
	for _, name := range []string{`C:\bin\a.dll`, `c:/bin/a.dll`, `\\server\bin\a.dll`, `\??\C:\bin\a.dll`} {
		libraries, root := t.TempDir(), t.TempDir()
		for _, dir := range []string{libraries, root} {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, testenv.ReadInput(t, "soname.elf"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		m := resolve.Module{Name: path.Base(name), Path: name, BuildID: elf.BuildID(), DebugID: elf.ID()}
		for _, c := range []struct {
			roots []string
			found bool
		}{{nil, false}, {[]string{root}, true}} {
			b, err := NewBinaries(c.roots, BinaryOptions{AtPaths: true, LibraryDirs: []string{libraries}})
			if err != nil {
				t.Fatal(err)
			}
			f, tried, err := b.Binary(t.Context(), m)
			if f != nil {
				f.Close()
			}
			lines := strings.Join(symfmt.TriedLines(tried), "\n")
			if f != nil != c.found || err != nil || strings.Contains(lines, libraries) {
				t.Errorf("%s in %q: found %v, %v, tried %s", name, c.roots, f != nil, err, lines)
			}
			if b.byPath(&search{m: m}) != nil {
				t.Errorf("%s in %q: found by its path", name, c.roots)
			}
		}
	}
}
