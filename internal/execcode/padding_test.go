package execcode

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	elfobj "github.com/symtool/symtool/internal/object/elf"
)

var (
	little binary.ByteOrder = binary.LittleEndian
	big    binary.ByteOrder = binary.BigEndian
)

// What gas and lld fill gaps with, and instructions that are not padding. The bytes are
// those that objdump shows for ".p2align 6" behind one instruction.
func TestPadding(t *testing.T) {
	for _, c := range []struct {
		machine elf.Machine
		order   binary.ByteOrder
		flags   uint32
		code    string
		want    int
	}{
		{elf.EM_X86_64, little, 0, "90 c3", 1},
		{elf.EM_X86_64, little, 0, "cc cc", 1},
		{elf.EM_X86_64, little, 0, "66 90", 2},
		{elf.EM_X86_64, little, 0, "0f 1f 00", 3},
		{elf.EM_X86_64, little, 0, "0f 1f 40 00", 4},
		{elf.EM_X86_64, little, 0, "0f 1f 44 00 00", 5},
		{elf.EM_X86_64, little, 0, "66 0f 1f 44 00 00", 6},
		{elf.EM_X86_64, little, 0, "0f 1f 80 00 00 00 00", 7},
		{elf.EM_X86_64, little, 0, "0f 1f 84 00 00 00 00 00", 8},
		{elf.EM_X86_64, little, 0, "66 66 2e 0f 1f 84 00 00 00 00 00", 11},
		{elf.EM_X86_64, little, 0, "0f 1f 84 00 00 00 00", 0}, // cut off
		{elf.EM_X86_64, little, 0, "0f 1f", 0},
		{elf.EM_X86_64, little, 0, "66 66", 0},
		{elf.EM_X86_64, little, 0, "00 00 c3", 2},
		{elf.EM_X86_64, little, 0, "00 c3", 0},
		{elf.EM_X86_64, little, 0, "00", 1},
		{elf.EM_X86_64, little, 0, "f3 0f 1e fa", 0}, // endbr64
		{elf.EM_386, little, 0, "8d b4 26 00 00 00 00", 7},
		{elf.EM_386, little, 0, "2e 8d b4 26 00 00 00 00", 8},
		{elf.EM_386, little, 0, "8d 76 00", 3},
		{elf.EM_386, little, 0, "8d 76 04", 0},
		{elf.EM_AARCH64, little, 0, "1f 20 03 d5", 4},
		{elf.EM_AARCH64, little, 0, "00 00 20 d4", 4},
		{elf.EM_AARCH64, little, 0, "5f 24 03 d5", 0}, // bti c
		{elf.EM_AARCH64, little, 0, "1f 20", 0},
		{elf.EM_ARM, little, 0, "00 f0 20 e3", 4},
		{elf.EM_ARM, little, 0, "00 00 a0 e1", 4},
		{elf.EM_ARM, little, 0, "af f3 00 80", 4},
		{elf.EM_ARM, little, 0, "00 bf", 2},
		{elf.EM_ARM, big, 0, "e3 20 f0 00", 4},
		{elf.EM_ARM, big, efARMBE8, "00 f0 20 e3", 4},
		{elf.EM_ARM, big, efARMBE8, "e3 20 f0 00", 0},
		{elf.EM_PPC, big, 0, "60 00 00 00", 4},
		{elf.EM_PPC64, little, 0, "00 00 42 60", 4},
		{elf.EM_PPC64, big, 0, "f8410028 e98284c0 7d8903a6 e84284c8 28220000 4ce20420 4800a124", 28},
		{elf.EM_PPC64, big, 0, "f8410028 3d620001 e98b8000 7d8903a6 4e800420 60000000", 20},
		{elf.EM_PPC64, little, 0, "180041f8 ffff823d 00008ce9 a603897d 2004804e", 20},
		{elf.EM_PPC64, big, 0, "f8410028 e98284c0 4e800420", 0}, // jumps to what it was called with
		{elf.EM_PPC64, big, 0, "f8410028 e98284c0 7d8903a6", 0},
		{elf.EM_RISCV, little, 0, "13 00 00 00", 4},
		{elf.EM_RISCV, little, 0, "01 00", 2},
		{elf.EM_RISCV, little, 0, "82 80", 0},
		{elf.EM_S390, big, 0, "07 07", 2},
		{elf.EM_S390, big, 0, "07 00", 2},
		{elf.EM_S390, big, 0, "a7 04 00 00", 4},
		{elf.EM_S390, big, 0, "c0 04 00 00 00 00", 6},
		{elf.EM_S390, big, 0, "07 fe", 0}, // br %r14
		{elf.EM_MIPS, big, 0, "00 00 00 00", 4},
		{elf.EM_MIPS, big, 0, "03 e0 00 08", 0},
		{elf.EM_SPARC, big, 0, "00 00 00 00", 4},
		{elf.EM_SPARC, big, 0, "01 00 00 00", 0},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		f := &elfobj.File{Machine: c.machine, Order: c.order, Flags: c.flags}
		if got := PaddingOf(f)(code); got != c.want {
			t.Errorf("%v %v %s: %d, want %d", c.machine, c.order, c.code, got, c.want)
		}
	}
}

func TestTrailing(t *testing.T) {
	for _, c := range []struct {
		code   string
		length int
		want   int
	}{
		{"c3 90 90 90", 4, 3},
		{"c3 66 66 2e 0f 1f 84 00 00 00 00 00 0f 1f 40 00", 16, 15},
		{"c3 0f 1f 40 00", 4, 3}, // the nop reaches beyond
		{"c3", 1, 0},
		{"31 c0 c3", 3, 0},
		{"90 90", 2, 2},
		{"c3" + strings.Repeat("cc", 1000), 1001, 1000},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := trailing(code, c.length, X86); got != c.want {
			t.Errorf("%s: %d, want %d", c.code, got, c.want)
		}
	}
}
