package execcode

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

var (
	little binary.ByteOrder = binary.LittleEndian
	big    binary.ByteOrder = binary.BigEndian
)

// The test has the padding that gas and lld write, and instructions that are not padding.
// The bytes are those that objdump shows for ".p2align 6" after one instruction.
func TestPadding(t *testing.T) {
	for _, c := range []struct {
		cpu   *arch.Arch
		order binary.ByteOrder // of the code
		code  string
		want  int
	}{
		{arch.X86_64, little, "90 c3", 1},
		{arch.X86_64, little, "cc cc", 1},
		{arch.X86_64, little, "0f 0b 0f 0b", 0},
		{arch.X86_64, little, "0f", 0},
		{arch.X86_64, little, "66 90", 2},
		{arch.X86_64, little, "0f 1f 00", 3},
		{arch.X86_64, little, "0f 1f 40 00", 4},
		{arch.X86_64, little, "0f 1f 44 00 00", 5},
		{arch.X86_64, little, "66 0f 1f 44 00 00", 6},
		{arch.X86_64, little, "0f 1f 80 00 00 00 00", 7},
		{arch.X86_64, little, "0f 1f 84 00 00 00 00 00", 8},
		{arch.X86_64, little, "66 66 2e 0f 1f 84 00 00 00 00 00", 11},
		{arch.X86_64, little, "0f 1f 84 00 00 00 00", 0}, // cut off
		{arch.X86_64, little, "0f 1f", 0},
		{arch.X86_64, little, "66 66", 0},
		{arch.X86_64, little, "00 00 c3", 2},
		{arch.X86_64, little, "00 c3", 0},
		{arch.X86_64, little, "00", 1},
		{arch.X86_64, little, "f3 0f 1e fa", 0}, // endbr64
		{arch.X86, little, "8d b4 26 00 00 00 00", 7},
		{arch.X86, little, "2e 8d b4 26 00 00 00 00", 8},
		{arch.X86, little, "8d 76 00", 3},
		{arch.X86, little, "8d 76 04", 0},
		{arch.ARM64, little, "1f 20 03 d5", 4},
		{arch.ARM64, little, "00 00 20 d4", 4},
		{arch.ARM64, little, "5f 24 03 d5", 0}, // bti c
		{arch.ARM64, little, "1f 20", 0},
		{arch.ARM, little, "00 f0 20 e3", 4},
		{arch.ARM, little, "00 00 a0 e1", 4},
		{arch.ARM, little, "af f3 00 80", 4},
		{arch.ARM, little, "00 bf", 2},
		{arch.ARM, big, "e3 20 f0 00", 4},
		{arch.ARM, little, "00 f0 20 e3", 4},
		{arch.ARM, little, "e3 20 f0 00", 0},
		{arch.ARM, little, "d4 d4 d4 d4", 4},
		{arch.PPC, big, "60 00 00 00", 4},
		{arch.PPC, big, "7f e0 00 08", 4},
		{arch.PPC64, little, "00 00 42 60", 4},
		{arch.PPC64, big, "f8410028 e98284c0 7d8903a6 e84284c8 28220000 4ce20420 4800a124", 28},
		{arch.PPC64, big, "f8410028 3d620001 e98b8000 7d8903a6 4e800420 60000000", 20},
		{arch.PPC64, little, "180041f8 ffff823d 00008ce9 a603897d 2004804e", 20},
		{arch.PPC64, big, "f8410028 e98284c0 4e800420", 0}, // a stub that jumps on
		{arch.PPC64, big, "f8410028 e98284c0 7d8903a6", 0},
		{arch.PPC64, little, "08 00 e0 7f", 4},
		{arch.PPC64, little, "c0f00100 00000000 a602087c 05009f42", 8}, // before __glink_PLTresolve
		{arch.PPC64, big, "00000000 00011550 7d8802a6 429f0005", 8},
		{arch.PPC64, little, "d8760200 00000000 02004c3c d8764238", 8}, // before functions
		{arch.PPC64, little, "d8760200 00000000 f8ff4ce8 1462427c", 8},
		{arch.PPC64, little, "d8760200 01000000 f8ff4ce8 1462427c", 0},
		{arch.PPC64, little, "d8760200 00000000 a602087c f8ffe1fb", 0},
		{arch.PPC64, little, "d8760200 00000000 f8ff4ce8", 0},
		{arch.RISCV64, little, "13 00 00 00", 4},
		{arch.RISCV64, little, "01 00", 2},
		{arch.RISCV64, little, "82 80", 0},
		{arch.S390X, big, "07 07", 2},
		{arch.S390X, big, "07 00", 2},
		{arch.S390X, big, "a7 04 00 00", 4},
		{arch.S390X, big, "c0 04 00 00 00 00", 6},
		{arch.S390X, big, "07 fe", 0}, // br %r14
		{arch.MIPS, big, "00 00 00 00", 4},
		{arch.MIPS, big, "04 17 00 01", 4},
		{arch.MIPS, big, "03 e0 00 08", 0},
		{nil, big, "00 00 00 00", 4},
		{nil, big, "01 00 00 00", 0},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		f := &object.File{Arch: c.cpu, CodeOrder: c.order}
		if got := PaddingOf(f)(code); got != c.want {
			t.Errorf("%v %v %s: %d, want %d", c.cpu, c.order, c.code, got, c.want)
		}
	}
}

// TestPaddingComplete names the CPUs whose nops are missing.
func TestPaddingComplete(t *testing.T) {
	for _, a := range arch.All {
		if (len(a.Nops) > 0) == (decoders[a] != nil) {
			t.Errorf("%s: Nops (symfmt/arch) %x, decoder (padding.go) %v, want one of the two", a.Name, a.Nops, decoders[a] != nil)
		}
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			for _, n := range a.Nops {
				if got := PaddingOf(&object.File{Arch: a, CodeOrder: order})(n.Bytes(order)); got == 0 {
					t.Errorf("%s: nop %#x is not padding", a.Name, n.Code)
				}
			}
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
		{"c3 0f 1f 40 00", 4, 3}, // the nop extends beyond the range
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
