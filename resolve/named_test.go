package resolve

import (
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

const namedText = `MODULE Linux x86_64 D3096ED481217FD4C16B29CD9BC208BA0 a
FILE 0 a.c
FUNC 2000 8 0 twice
FUNC 1000 20 0 caller
1000 8 5 0
FUNC 3000 8 0 twice
PUBLIC 4000 0 caller
PUBLIC m 5000 0 label
`

// Code is found by its name, in order of address, in a symbol file and in a Module.
func TestNamed(t *testing.T) {
	result, err := symfmt.Read(t.Context(), strings.NewReader(namedText), symfmt.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Symbols{openString(t, namedText), FromModule(result.Module, ModuleOptions{})} {
		for name, want := range map[string][]Code{
			"twice":  {{0x2000, 8}, {0x3000, 8}},
			"caller": {{0x1000, 0x20}, {Start: 0x4000}},
			"label":  {{Start: 0x5000}},
			"":       nil,
			"twic":   nil,
		} {
			if got := s.(NamedSymbols).Named(name); !slices.Equal(got, want) {
				t.Errorf("%T: %q is at %v, want %v", s, name, got, want)
			}
		}
	}
}
