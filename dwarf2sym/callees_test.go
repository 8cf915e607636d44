package dwarf2sym

import "testing"

// A symbol's version is left out, and those of older versions count for nothing.
func TestUnversioned(t *testing.T) {
	for symbol, want := range map[string]string{"f": "f", "f@@V2": "f", "f@V1": "", "": "", "@@V2": ""} {
		name, ok := unversioned([]byte(symbol))
		if ok != (want != "") || ok && string(name) != want {
			t.Errorf("%q: got %q, %v", symbol, name, ok)
		}
	}
}
