package follow

import "testing"

// The operation of a 3DNow instruction is the byte after its operands; x86asm does not know them.
func TestLength3DNow(t *testing.T) {
	for _, code := range []string{"\x0f\x0f\xc1\xbf", "\x42\x0f\x0f\x0c\x58\xbf", "\x0f\x0f\x05\x00\x00\x00\x00\xae"} {
		var s frameState
		if st := stepAMD64([]byte(code+"\x90\x90\x90\x90"), 0, &s); st.kind == stepBad || st.size != len(code) {
			t.Errorf("% x: %+v", code, st)
		}
	}
}
