package callframe

import (
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
)

// Symbols of functions that are missing from the list of function starts are reported.
func TestCheckStarts(t *testing.T) {
	f := symtest.Open(t, testenv.Input(t, "macho-map"))
	starts, err := f.FunctionStarts()
	if err != nil || len(starts) < 3 {
		t.Fatal(starts, err)
	}
	if err := checkStarts(f, starts); err != nil {
		t.Error(err)
	}
	for i := range starts[1:] {
		starts[i+1] += 4
	}
	want := f.Path + ": function starts: 7 of 8 symbols of functions are where none starts, the first at 0x1000002f8"
	if err := checkStarts(f, starts); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
