package text

import "testing"

// TestPlain tries each byte at each position, alone and beside bytes that carry into their
// neighbours.
func TestPlain(t *testing.T) {
	for c := range 256 {
		for _, fill := range []byte{' ', 'a', '~'} {
			for n := range 20 {
				for at := range n {
					for _, after := range []byte{fill, 0xff, 0x7f, 0} {
						name := make([]byte, n)
						for i := range name {
							if name[i] = fill; i > at {
								name[i] = after
							}
						}
						name[at] = byte(c)
						want := 0
						for want < n && ' ' <= name[want] && name[want] <= '~' {
							want++
						}
						if got := PlainString(string(name)); got != want {
							t.Fatalf("%q: %d, want %d", name, got, want)
						}
					}
				}
			}
		}
	}
}
