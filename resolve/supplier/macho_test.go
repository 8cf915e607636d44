package supplier

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
)

// Each binary of a universal file is found by its id, with its part of the dSYM.
func TestUniversal(t *testing.T) {
	dir := t.TempDir()
	for name, to := range map[string]string{"macho-fat": "fat", "macho-fat.dSYM": "other.dSYM"} {
		data := testenv.ReadInput(t, name)
		if err := os.WriteFile(filepath.Join(dir, to), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	b, err := NewBinaries([]string{dir}, BinaryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, cpu := range []string{"x86_64", "arm64"} {
		lim := object.DefaultLimits()
		lim.CPU = cpu
		f, err := objfile.Open(filepath.Join(dir, "fat"), lim)
		if err != nil {
			t.Fatal(err)
		}
		id := f.ID()
		f.Close()
		found, tried, err := b.Symbols(t.Context(), resolve.Module{Path: "/Applications/fat", DebugID: id})
		if err != nil || found == nil {
			t.Errorf("%s: %v, %v, tried %v", cpu, found, err, tried)
			continue
		}
		if m := found.Identity(); m.Arch != cpu || m.ID != id {
			t.Errorf("%s: symbols of %s for %s", cpu, m.ID, m.Arch)
		}
	}
}
