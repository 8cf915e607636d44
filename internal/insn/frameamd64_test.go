package insn

import "testing"

// A jump to a register belongs to a switch if the register was added to, and not written since.
func TestSwitchAMD64(t *testing.T) {
	const (
		add  = "\x48\x01\xc8" // add %rcx, %rax
		jump = "\xff\xe0"     // jmp *%rax
	)
	for _, c := range []struct {
		name, between string
		want          Flow
	}{
		{"nothing", "", Switch},
		{"a store", "\x48\x89\x7d\xd0", Switch},                                            // mov %rdi, -0x30(%rbp)
		{"a load to another register", "\x48\x8b\x7d\xd0", Switch},                         // mov -0x30(%rbp), %rdi
		{"a store of a number", "\xc6\x00\x01", Switch},                                    // movb $1, (%rax)
		{"vectors", "\x0f\x57\xc0\x0f\x11\x00", Switch},                                    // xorps %xmm0, %xmm0; movups %xmm0, (%rax)
		{"a number", "\xb9\x01\x00\x00\x00", Switch},                                       // mov $1, %ecx
		{"an extension", "\x0f\xb6\x09", Switch},                                           // movzbl (%rcx), %ecx
		{"a comparison", "\x48\x39\xc8\x48\x85\xc0", Switch},                               // cmp %rcx, %rax; test %rax, %rax
		{"r8 is not rax", "\x49\x89\xc8\x4c\x8b\x00\x41\xb8" + "\x00\x00\x00\x00", Switch}, // mov %rcx, %r8; mov (%rax), %r8; mov $0, %r8d
		{"another sum", "\x48\x01\xca\x48\x03\x11", Switch},                                // add %rcx, %rdx; add (%rcx), %rdx
		{"a load", "\x48\x8b\x00", Leave},                                                  // mov (%rax), %rax
		{"a move", "\x48\x89\xc8", Leave},                                                  // mov %rcx, %rax
		{"its number", "\xb8\x01\x00\x00\x00", Leave},                                      // mov $1, %eax
		{"its extension", "\x0f\xb6\x00", Leave},                                           // movzbl (%rax), %eax
		{"zero", "\x31\xc0", Leave},                                                        // xor %eax, %eax
		{"any other", "\x48\xff\xc1", Leave},                                               // inc %rcx
	} {
		f, got := Enter(8, 0), Next
		for code := []byte(add + c.between + jump); len(code) > 0; {
			var size int
			if size, got, _ = FrameAMD64(code, 0, &f); size == 0 {
				t.Fatalf("%s: % x does not decode", c.name, code)
			}
			code = code[size:]
		}
		if got != c.want {
			t.Errorf("%s: flow %d, want %d", c.name, got, c.want)
		}
	}
}

// AMD's XOP instructions begin with the opcode of pop.
func TestXOP(t *testing.T) {
	for code, want := range map[string]int64{
		"\x8f\xe9\x78\xc1\xc0":     8, // vphaddbw %xmm0, %xmm0
		"\x8f\xe8\x78\xa3\xc1\x10": 8, // vpperm %xmm1, %xmm1, %xmm0, %xmm0
		"\x8f\x00":                 0, // pop (%rax)
	} {
		f := Enter(8, 0)
		if size, flow, _ := FrameAMD64([]byte(code+"\x90\x90"), 0, &f); size != len(code) || flow != Next || f.SP != want {
			t.Errorf("% x: size %d, flow %d, CFA at %d, want %d", code, size, flow, f.SP, want)
		}
	}
}
