package dwarf2sym

import (
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/vars"
)

// The name of a table of methods contains two types, each of which may have commas.
func TestTypeOfTable(t *testing.T) {
	byName := map[string]vars.TypeID{"*main.dog": 1, "main.Pair[string,int]": 2, "main.two": 0, strings.Repeat("x", maxTableName): 3}
	for symbol, want := range map[string]vars.TypeID{
		"go:itab.*main.dog,main.animal": 1, "go.itab.*main.dog,error": 1, "go:itab.main.Pair[string,int],main.Getter[string,int]": 2,
		"go:itab.main.two,error": 0, "go:itab.main.unknown,error": 0, "go:itab.*main.dog": 0, "type:*main.dog,error": 0, "": 0,
		"go:itab." + strings.Repeat("x", maxTableName) + ",error": 0,
	} {
		if got := typeOfTable([]byte(symbol), byName); got != want {
			t.Errorf("%.60s: %d, want %d", symbol, got, want)
		}
	}
}
