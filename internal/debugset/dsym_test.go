package debugset

import (
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// place copies an input to a path below a folder.
func place(t *testing.T, dir, path, input string) string {
	t.Helper()
	path = filepath.Join(dir, path)
	writeFile(t, path, testenv.ReadInput(t, input))
	return path
}

// A dSYM is found beside a file, beside a bundle that contains the file, and in folders, by its name
// or UUID.
func TestFindDSYM(t *testing.T) {
	for _, c := range []struct {
		name, binary, cpu, dsym, from string
		dirs                          []string
		found                         bool
	}{
		{"beside", "p", "", "p.dSYM/Contents/Resources/DWARF/other", "macho-arm64.dSYM", nil, true},
		{"flat", "p", "", "p.dSYM", "macho-arm64.dSYM", nil, true},
		{"app", "P.app/Contents/MacOS/p", "", "P.app.dSYM/Contents/Resources/DWARF/p", "macho-arm64.dSYM", nil, true},
		{"framework", "F.framework/Versions/A/F", "", "F.framework.dSYM/Contents/Resources/DWARF/F", "macho-arm64.dSYM", nil, true},
		{"by UUID", "p", "", "symbols/123.dSYM/Contents/Resources/DWARF/x", "macho-arm64.dSYM", []string{"symbols"}, true},
		{"below", "p", "", "symbols/2026-11-28/a.xcarchive/dSYMs/123.dSYM/Contents/Resources/DWARF/x", "macho-arm64.dSYM", []string{"symbols"}, true},
		{"too far below", "p", "", "symbols/1/2/3/4/123.dSYM/Contents/Resources/DWARF/x", "macho-arm64.dSYM", []string{"symbols"}, false},
		{"hidden", "p", "", "symbols/.git/123.dSYM/Contents/Resources/DWARF/x", "macho-arm64.dSYM", []string{"symbols"}, false},
		{"of an archive", "p", "", "a.xcarchive/dSYMs/123.dSYM/Contents/Resources/DWARF/x", "macho-arm64.dSYM", []string{"a.xcarchive"}, true},
		{"the bundle is named", "p", "", "z[1].dSYM/Contents/Resources/DWARF/x", "macho-arm64.dSYM", []string{"z[1].dSYM"}, true},
		{"elsewhere", "p", "", "symbols/p.dSYM/Contents/Resources/DWARF/p", "macho-arm64.dSYM", nil, false},
		{"another build", "p", "", "p.dSYM/Contents/Resources/DWARF/p", "macho-arm64-nofp.dSYM", nil, false},
	} {
		dir := t.TempDir()
		binary := place(t, dir, c.binary, "macho-arm64")
		dsym := place(t, dir, c.dsym, c.from)
		place(t, dir, "p.dSYM.txt", "README.md")
		var dirs []string
		for _, d := range c.dirs {
			dirs = append(dirs, filepath.Join(dir, d))
		}
		set, tried := find(t, binary, dirs, false)
		switch found := set.Debug; {
		case len(set.Problems) > 0:
			t.Errorf("%s: %v", c.name, set.Problems)
		case (found != nil) != c.found || found != nil && found.Path != dsym:
			t.Errorf("%s: found %v, tried %v", c.name, found, tried)
		}
		if c.name == "another build" && (len(tried) != 1 || set.Tried[0].Kind != symfmt.OtherDebug) {
			t.Errorf("%s: tried %v", c.name, tried)
		}
	}
}

// In a fat dSYM, the binary with the UUID is used.
func TestFindFatDSYM(t *testing.T) {
	lim := object.DefaultLimits()
	lim.CPU = "arm64"
	f, err := objfile.Open(testenv.Input(t, "macho-fat"), lim)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	set := Set{Binary: f}
	defer set.Close()
	finder := Finder{Limits: object.DefaultLimits()}
	if err := finder.Complete(t.Context(), &set); err != nil || set.Debug == nil || set.Debug.CPU != "arm64" || object.CheckPair(f, set.Debug) != nil {
		t.Errorf("%v, %v, %v", set.Debug, set.Tried, err)
	}
}
