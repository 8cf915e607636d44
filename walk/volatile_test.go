package walk

import (
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// A frame that restores only callee-saved registers, general or floating-point, is not a
// signal frame; one that restores others is.
func TestRestoresVolatile(t *testing.T) {
	for _, c := range []struct {
		cpu              *arch.Arch
		saved, restoring string
	}{
		{arch.ARM, "r4: .cfa -8 + ^ d8: .cfa -16 + ^ s16: .cfa -24 + ^", "d7: .cfa -16 + ^"},
		{arch.ARM64, "x19: .cfa -8 + ^ v8: .cfa -16 + ^ d15: .cfa -24 + ^", "d7: .cfa -16 + ^"},
		{arch.MIPS, "$s0: .cfa -8 + ^ $f20: .cfa -16 + ^ $f21: .cfa -24 + ^", "$f2: .cfa -16 + ^"},
		{arch.MIPS64, "$gp: .cfa -8 + ^ $f24: .cfa -16 + ^", "$f20: .cfa -16 + ^"},
		{arch.PPC, "r14: .cfa -8 + ^ f14: .cfa -16 + ^ v20: .cfa -32 + ^ cr2: .cfa 4 + ^", "cr0: .cfa -8 + ^"},
		{arch.PPC64, "r31: .cfa -8 + ^ f31: .cfa -16 + ^ v31: .cfa -32 + ^ cr4: .cfa 8 + ^", "v2: .cfa -32 + ^"},
		{arch.RISCV, "s0: .cfa -8 + ^ f8: .cfa -16 + ^ f27: .cfa -24 + ^", "f10: .cfa -16 + ^"},
		{arch.RISCV64, "s11: .cfa -8 + ^ f9: .cfa -16 + ^ f18: .cfa -24 + ^", "f17: .cfa -16 + ^"},
		{arch.S390X, "r6: .cfa -8 + ^ f8: .cfa -16 + ^ f15: .cfa -24 + ^", "f0: .cfa -16 + ^"},
		{arch.X86, "$ebx: .cfa -8 + ^", "$20: .cfa -8 + ^ $18: .cfa -12 + ^"},
		{arch.X86_64, "$rbx: .cfa -8 + ^ $xmm6: .cfa -32 + ^ $xmm15: .cfa -48 + ^", "$xmm5: .cfa -32 + ^"},
	} {
		t.Run(c.cpu.Name, func(t *testing.T) {
			u := &unwinder{machine: NewWalker(nil, Config{}).machine(c.cpu)}
			for text, want := range map[string]bool{c.saved: false, c.restoring: true, c.saved + " " + c.restoring: true} {
				rules, err := u.names.ParseRules(".cfa: 0 .ra: 0 " + text)
				if err != nil {
					t.Fatal(err)
				}
				var row cfi.Row
				row.Apply(rules)
				if got := u.restoresVolatile(&row); got != want {
					t.Errorf("%s: %v, want %v", text, got, want)
				}
			}
		})
	}
	if len(arch.All) != 11 {
		t.Errorf("%d CPUs: this test has 11", len(arch.All))
	}
}
