package eval

import (
	"testing"

	"github.com/symtool/symtool/symfmt/vars"
)

// The bits of a bit field are counted in the byte order of its type, which may not be the CPU's.
func TestBitFields(t *testing.T) {
	const bytes = "\x91\x23\xf6\x04"
	for _, tt := range []struct {
		name   string
		typ    vars.Type
		member vars.Member
		want   string
	}{
		{"low bits", vars.Type{}, vars.Member{BitSize: 4}, "01000000"},
		{"across bytes", vars.Type{}, vars.Member{BitSize: 12, BitOffset: 4}, "39020000"},
		{"signed", vars.Type{Encoding: vars.Signed}, vars.Member{Offset: 2, BitSize: 4, BitOffset: 4}, "ffffffff"},
		{"big-endian: high bits", vars.Type{Order: vars.BigEndian}, vars.Member{BitSize: 4}, "00000009"},
		{"big-endian: across bytes", vars.Type{Order: vars.BigEndian}, vars.Member{BitSize: 12, BitOffset: 4}, "00000123"},
		{"big-endian: signed", vars.Type{Order: vars.BigEndian, Encoding: vars.Signed}, vars.Member{Offset: 2, BitSize: 4}, "ffffffff"},
	} {
		tt.typ.Kind, tt.typ.Size, tt.typ.HasSize = vars.Base, 4, true
		if tt.typ.Encoding == 0 {
			tt.typ.Encoding = vars.Unsigned
		}
		tt.member.Type = 1
		f := testFrame(&vars.Info{Types: []vars.Type{{}, tt.typ}, Exprs: []vars.Expr{{}}})
		got, ok := f.Member(&Value{Bytes: []byte(bytes)}, &tt.member)
		if hex := got.Hex(); !ok || hex != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, hex, tt.want)
		}
	}
}
