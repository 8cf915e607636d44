package symbolizer

import "testing"

// TestSymbolAt checks that a symbol extends for its size or, without a size, to the next
// symbol.
func TestSymbolAt(t *testing.T) {
	all := table{{name: "a", addr: 0x10, size: 4}, {name: "d", addr: 0x20, size: 8, data: true}, {name: "z", addr: 0x40}}
	for addr, want := range map[uint64]string{0xf: "", 0x10: "a", 0x13: "a", 0x14: "", 0x27: "d", 0x28: "", 0x40: "z", 0x4000: "z"} {
		got := ""
		if s := all.at(addr); s != nil {
			got = s.name
		}
		if got != want {
			t.Errorf("%#x: %q, want %q", addr, got, want)
		}
	}
}
