package machobj

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
)

// openObject opens a file like objfile.
func openObject(path string, lim object.Limits) (*object.File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := NewFile(object.Memory(data), int64(len(data)), path, lim)
	return f.Object(), err
}

// place copies an input to a path below a folder.
func place(t *testing.T, dir, path, input string) string {
	t.Helper()
	path = filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, testenv.ReadInput(t, input), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Bundles are also found below a symbolic link to a folder.
func TestBundlesBelowLink(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "symbols/p.dSYM/Contents/Resources/DWARF/p", "macho-arm64.dSYM")
	link := filepath.Join(dir, "link")
	if err := os.Symlink("symbols", link); err != nil {
		t.Skip(err)
	}
	t.Chdir(dir)
	for _, from := range []string{link, "link", "."} {
		if all := bundlesBelow(from); len(all) != 1 || filepath.Base(all[0]) != "p.dSYM" {
			t.Errorf("%s: %q", from, all)
		}
	}
}

// If a dSYM has several files, a UUID selects one. Without it, the one named after the bundle is used, or none.
func TestInBundleOf(t *testing.T) {
	dir := t.TempDir()
	const inside = "all.dSYM/Contents/Resources/DWARF"
	bundle := filepath.Join(dir, "all.dSYM")
	var want []string
	for _, name := range []string{"macho-arm64", "macho-names"} {
		want = append(want, place(t, dir, filepath.Join(inside, name), name+".dSYM"))
	}
	for i, name := range []string{"macho-arm64", "macho-names"} {
		f, err := openObject(testenv.Input(t, name), object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if got := InBundleOf(bundle, f.BuildID()); got != want[i] {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := InBundleOf(bundle, nil); got != bundle {
		t.Errorf("without UUID: %s", got)
	}
	other := make([]byte, 16)
	if got := InBundleOf(bundle, other); got != bundle {
		t.Errorf("another UUID: %s", got)
	}
	for _, c := range []struct {
		id   []byte
		want string
	}{
		{nil, bundle + ": a dSYM of macho-arm64, macho-names: name one of the files in Contents/Resources/DWARF"},
		{other, bundle + ": a dSYM of macho-arm64, macho-names: none has the UUID 00000000000000000000000000000000"},
	} {
		if err := CheckChosen(bundle, c.id); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	own := place(t, dir, filepath.Join(inside, "all"), "macho-arm64-nofp.dSYM")
	if got := InBundleOf(bundle, nil); got != own {
		t.Errorf("named after the bundle: %s", got)
	}
}

func TestInBundle(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ bundle, inside string }{
		{"p.dSYM", "Contents/Resources/DWARF/p"},
		{"P.app.dSYM", "Contents/Resources/DWARF/P"},
		{"P.app", "Contents/MacOS/P"},
		{"F.framework", "F"},
		{"k.kext", "Contents/MacOS/k"},
	} {
		want := place(t, dir, filepath.Join(c.bundle, c.inside), "macho-arm64")
		if c.bundle == "P.app.dSYM" {
			place(t, dir, filepath.Join(c.bundle, "Contents/Resources/DWARF/A"), "macho-arm64")
			place(t, dir, filepath.Join(c.bundle, "Contents/Resources/DWARF/invalid"), "README.md")
		}
		if got := InBundle(filepath.Join(dir, c.bundle)); got != want {
			t.Errorf("%s: %s, want %s", c.bundle, strings.TrimPrefix(got, dir), c.inside)
		}
	}
	if got := InBundle(dir); got != dir {
		t.Errorf("a folder is %s", got)
	}
}
