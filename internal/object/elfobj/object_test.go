package elfobj

import (
	"debug/elf"
	"testing"
)

func TestLabels(t *testing.T) {
	for _, c := range []struct {
		name string
		m    elf.Machine
		want bool
	}{
		{"$a", elf.EM_ARM, true}, {"$t.3", elf.EM_ARM, true}, {"$d.realdata", elf.EM_ARM, true}, {"$x", elf.EM_ARM, false},
		{"$table", elf.EM_ARM, false}, {"$x", elf.EM_AARCH64, true}, {"$d.1", elf.EM_AARCH64, true}, {"$a", elf.EM_AARCH64, false},
		{"$xrv64gc", elf.EM_RISCV, true}, {"$d", elf.EM_RISCV, true}, {"$a", elf.EM_X86_64, false}, {".L12", elf.EM_X86_64, true},
		{"$", elf.EM_ARM, false}, {"$s4main", elf.EM_AARCH64, false},
	} {
		if got := (&File{Machine: c.m}).isLabel([]byte(c.name)); got != c.want {
			t.Errorf("%s on %v: %v", c.name, c.m, got)
		}
	}
}
