package dwarf2sym

import (
	"context"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
)

// decodedDIEs returns, by tag, how often the most frequently decoded DIE was decoded while the units of a file were
// read.
func decodedDIEs(t *testing.T, path string, o Options) map[uint16]int {
	t.Helper()
	f := symtest.Open(t, path)
	r := &reader{opts: &o, file: f, jobs: 1, code: codemap.Of(f), files: filesOf(f)}
	d := r.openDebugData()
	if d == nil {
		t.Fatal(path, r.problems)
	}
	type place struct {
		off uint64
		tag uint16
	}
	times, most := map[place]int{}, map[uint16]int{}
	d.Decoded = func(off uint64, tag uint16) {
		p := place{off, tag}
		times[p]++
		most[tag] = max(most[tag], times[p])
	}
	if err := r.readUnits(context.Background(), d); err != nil {
		t.Fatal(path, err)
	}
	return most
}

// Functions and inlined functions are decoded once for their code, and once more if their variables are read. DIEs
// with other tags are decoded again for each reference to them; in these files nothing refers to concrete instances of
// functions.
func TestDIEsDecoded(t *testing.T) {
	for _, name := range []string{"gcc-O0", "gcc-dwarf4-gnu", "gcc-dwarf5", "clang-dwarf4", "clang-dwarf5"} {
		path := testenv.Input(t, name+".elf")
		plain := decodedDIEs(t, path, Options{})
		withVars := decodedDIEs(t, path, Options{Vars: VarOptions{Params: true, Locals: true, FullTypes: true}})
		for _, c := range []struct {
			tag             uint16
			plain, withVars int
		}{{dw.TagInlinedSubroutine, 1, 2}, {dw.TagCallSite, 0, 1}, {dw.TagVariable, 0, 2}} {
			if plain[c.tag] > c.plain || withVars[c.tag] > c.withVars {
				t.Errorf("%s: DIEs with tag %#x are decoded %d times, with variables %d times; want at most %d and %d",
					name, c.tag, plain[c.tag], withVars[c.tag], c.plain, c.withVars)
			}
		}
		if withVars[dw.TagInlinedSubroutine] == 0 || withVars[dw.TagVariable] == 0 {
			t.Errorf("%s: nothing was decoded", name)
		}
	}
}
