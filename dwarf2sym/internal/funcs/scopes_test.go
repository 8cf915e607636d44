package funcs

import (
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/testenv"
)

// A scan that passes over functions and types finds the same scopes around each DIE as a scan of the whole unit,
// and does pass over something in most units.
func TestBriefScopes(t *testing.T) {
	passed := 0
	paths, err := filepath.Glob(filepath.Join(testenv.Input(t), "*.elf"))
	if err != nil || len(paths) == 0 {
		t.Fatal(len(paths), err)
	}
	for _, path := range paths {
		d := openUnits(t, path)
		if d == nil {
			continue
		}
		for i := range d.Units {
			passed += compareScopes(t, filepath.Base(path), d, &d.Units[i].Header)
		}
	}
	if passed < 100 {
		t.Errorf("%d functions and types were passed over", passed)
	}
}

// compareScopes compares the scopes of a unit, and returns the number of functions and types that were passed over.
func compareScopes(t *testing.T, name string, d *units.Data, h *dwarf.Header) int {
	t.Helper()
	data, err := d.Info.Bytes(int64(h.Off), int64(h.Size), make([]byte, h.Size))
	if err != nil {
		return 0
	}
	w := New(d, &codemap.Map{}, &Options{})
	if !w.Begin(d, h, data) || !w.u.Scoped() {
		return 0
	}
	whole := New(d, &codemap.Map{}, &Options{})
	whole.namesOnly = true
	if whole.u.Open(d, h, data, w.u.Abbrevs, whole.Meter) != nil {
		return 0
	}
	whole.scan()
	for _, s := range whole.scopes {
		for _, off := range []uint64{s.Start, s.Start + 1, s.End - 1} {
			want := string(whole.appendScopes(nil, &whole.u, off))
			if got := string(w.appendScopes(nil, &w.u, off)); got != want {
				t.Errorf("%s: the DIE at %#x is in %q, want %q", name, off, got, want)
			}
		}
	}
	return len(w.bodies)
}
