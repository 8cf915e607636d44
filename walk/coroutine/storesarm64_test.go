package coroutine

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// Stores of constants where a frame has its index are found, and no others.
func TestStoresARM64(t *testing.T) {
	layout := &Layout{Index: dump.Range{Addr: 24, Size: 1}}
	half := &Layout{Index: dump.Range{Addr: 24, Size: 2}}
	for _, c := range []struct {
		name, code string
		layout     *Layout
		want       string
	}{
		{"strb", "52800068 39006008", layout, "0x1004=3"}, // mov w8, #3; strb w8, [x0, #24]
		{"stur", "52800068 38018008", layout, "0x1004=3"}, // sturb w8, [x0, #24]
		{"wzr", "3900627f", layout, "0x1000=0"},           // strb wzr, [x19, #24]
		{"strh", "528000a9 79003269", half, "0x1004=5"},   // mov w9, #5; strh w9, [x19, #24]
		{"another size", "528000a9 79003269", layout, ""},
		{"another place", "52800068 39006408", layout, ""},                   // strb w8, [x0, #25]
		{"on the stack", "52800068 390063e8", layout, ""},                    // strb w8, [sp, #24]
		{"after a call", "52800068 94000000 39006008", layout, ""},           // bl
		{"after a branch", "52800068 54000040 39006008", layout, ""},         // b.eq
		{"another value", "52800068 f9400008 39006008", layout, ""},          // ldr x8, [x0]
		{"a pair", "52800068 a9402009 39006008", layout, ""},                 // ldp x9, x8, [x0]
		{"the last value", "52800068 52800088 39006008", layout, "0x1008=4"}, // mov w8, #4
		{"no index", "52800068 39006008", &Layout{}, ""},
		{"unfinished code", "52800068 39006008 00", layout, "0x1004=3"},
	} {
		var code []byte
		for word := range strings.FieldsSeq(c.code) {
			var v uint32
			fmt.Sscanf(word, "%x", &v)
			code = binary.LittleEndian.AppendUint32(code, v)[:len(code)+len(word)/2]
		}
		f := NewFollower(&dump.Dump{Arch: arch.ARM64}, func(addr uint64, n int) []byte {
			if off := addr - 0x1000; off < uint64(len(code)) {
				return code[off:min(off+uint64(n), uint64(len(code)))]
			}
			return nil
		})
		var got []string
		for _, s := range f.Stores(0x1000, uint64(len(code)), c.layout, func(uint64) {}) {
			got = append(got, fmt.Sprintf("%#x=%d", s.Addr, s.Index))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}
