package elfobj

import (
	"debug/elf"
	"testing"
)

func TestLabels(t *testing.T) {
	const c32, c64 = elf.ELFCLASS32, elf.ELFCLASS64
	const emCSKY elf.Machine = 252
	for _, c := range []struct {
		name  string
		m     elf.Machine
		class elf.Class
		label bool
	}{
		{"$a", elf.EM_ARM, c32, true}, {"$t.3", elf.EM_ARM, c32, true}, {"$d.realdata", elf.EM_ARM, c32, true},
		{"$x", elf.EM_ARM, c32, false}, {"$table", elf.EM_ARM, c32, false}, {"$", elf.EM_ARM, c32, false},
		{"$x", elf.EM_AARCH64, c64, true}, {"$d.1", elf.EM_AARCH64, c32, true}, {"$a", elf.EM_AARCH64, c64, false},
		{"$s4main", elf.EM_AARCH64, c64, false}, {"$xrv64gc", elf.EM_RISCV, c64, true}, {"$d", elf.EM_RISCV, c32, true},
		{"$drv64gc", elf.EM_RISCV, c64, false}, {"$a", elf.EM_X86_64, c64, false}, {".L12", elf.EM_X86_64, c64, true},
		{"$t", emCSKY, c32, true}, {"$table", emCSKY, c32, false}, {".L1", emCSKY, c32, true},
	} {
		f := &File{Machine: c.m, Class: c.class}
		if got := isLabel([]byte(c.name), f.mapping()); got != c.label {
			t.Errorf("%s on %v: got %v, want %v", c.name, c.m, got, c.label)
		}
	}
}
