package insn

import "testing"

func TestCallSteps(t *testing.T) {
	for _, c := range []struct {
		name, code string
		step       Step
		size       int
		kind       Kind
		target     uint64
	}{
		{"call", "\xe8\x10\x00\x00\x00", AMD64, 5, Direct, 0x1015},
		{"call back", "\xe8\xf0\xff\xff\xff", X86, 5, Direct, 0xff5},
		{"call of __tls_get_addr", "\x66\x48\xe8\x00\x00\x00\x00", AMD64, 7, Direct, 0x1007},
		{"call of 16 bits", "\x66\xe8\x00\x00", X86, 4, None, 0},
		{"call of a register", "\x41\xff\xd7", AMD64, 3, Indirect, 0},
		{"notrack call of memory", "\x3e\xff\x94\xc8\x00\x01\x00\x00", AMD64, 8, Indirect, 0},
		{"far call", "\x9a\x00\x00\x00\x00\x07\x00", X86, 7, Indirect, 0},
		{"far call", "\x9a\x00\x00\x00\x00\x07\x00", AMD64, 0, None, 0},
		{"jump", "\xff\xe0", AMD64, 2, None, 0},
		{"no such instruction", "\xff\xff", AMD64, 0, None, 0},
		{"cut off", "\xe8\x10\x00", AMD64, 0, None, 0},
		{"mov of an address", "\x48\xa1\x01\x02\x03\x04\x05\x06\x07\x08", AMD64, 10, None, 0},
		{"mov of a short address", "\x67\xa1\x01\x02", X86, 4, None, 0},
		{"16-bit ModRM", "\x67\x8b\x86\x01\x02", X86, 5, None, 0},
		{"vzeroupper", "\xc5\xf8\x77", AMD64, 3, None, 0},
		{"EVEX", "\x62\xf3\x7d\x48\x25\xc0\xff", AMD64, 7, None, 0},
		{"les", "\xc4\x00", X86, 2, None, 0},
		{"bound", "\x62\x00", X86, 2, None, 0},
		{"16 bytes", "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\xe8\x00\x00\x00\x00", AMD64, 0, None, 0},
		{"bl", "\x02\x00\x00\x94", ARM64, 4, Direct, 0x1008},
		{"blr", "\x20\x00\x3f\xd6", ARM64, 4, Indirect, 0},
		{"blraaz", "\x3f\x08\x3f\xd6", ARM64, 4, Indirect, 0},
		{"br", "\x20\x00\x1f\xd6", ARM64, 4, None, 0},
		{"A32 bl", "\x02\x00\x00\xeb", ARM, 4, Direct, 0x1010},
		{"A32 blx", "\xfe\xff\xff\xfb", ARM, 4, Direct, 0x1002},
		{"A32 blx of a register", "\x33\xff\x2f\xe1", ARM, 4, Indirect, 0},
		{"T32 bl", "\x00\xf0\x02\xf8", Thumb, 4, Direct, 0x1008},
		{"T32 bl back", "\xff\xf7\xfe\xff", Thumb, 4, Direct, 0x1000},
		{"T32 blx", "\x00\xf0\x02\xe8", Thumb, 4, Direct, 0x1008},
		{"T32 blx of a register", "\x98\x47", Thumb, 2, Indirect, 0},
		{"T32 b.w", "\x00\xf0\x02\xb8", Thumb, 4, None, 0},
	} {
		size, kind, target := c.step([]byte(c.code), 0x1000)
		if size != c.size || kind != c.kind || target != c.target {
			t.Errorf("%s %x: %d %d 0x%x, want %d %d 0x%x", c.name, c.code, size, kind, target, c.size, c.kind, c.target)
		}
	}
}

// On no CPU is an instruction longer than the available bytes.
func FuzzCallSteps(f *testing.F) {
	f.Add([]byte("\x66\x48\xe8\x00\x00\x00\x00\x0f"))
	f.Add([]byte("\x00\xf0\x02\xe8\xc4\xe2\x70"))
	f.Fuzz(func(t *testing.T, code []byte) {
		for i, step := range []Step{AMD64, X86, ARM64, ARM, Thumb} {
			if n, _, _ := step(code, 0x1000); n < 0 || n > 15 || n > len(code) {
				t.Errorf("%d: %d of %x", i, n, code)
			}
		}
	})
}
