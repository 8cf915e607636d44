package cpu

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

func TestCallBefore(t *testing.T) {
	le, be := binary.ByteOrder(binary.LittleEndian), binary.ByteOrder(binary.BigEndian)
	nowhere := func(uint64) bool { return false }
	for _, c := range []struct {
		name   string
		a      *arch.Arch
		order  binary.ByteOrder
		code   string
		inCode func(uint64) bool
		want   CallAnswer
	}{
		{"call rel32", arch.X86_64, le, "90 e8 01 02 03 04", nil, CallYes},
		{"call rel32 to nowhere", arch.X86_64, le, "90 e8 01 02 03 04", nowhere, CallNo},
		{"call rel32 with addr32", arch.X86_64, le, "67 e8 01 02 03 04", nil, CallYes},
		{"call of __tls_get_addr", arch.X86_64, le, "66 48 e8 01 02 03 04", nil, CallYes},
		{"call *%rax", arch.X86_64, le, "90 ff d0", nil, CallYes},
		{"call *%r11", arch.X86_64, le, "41 ff d3", nil, CallYes},
		{"notrack call *%rax", arch.X86_64, le, "3e ff d0", nil, CallYes},
		{"call *(%rax)", arch.X86_64, le, "90 ff 10", nil, CallYes},
		{"call *8(%rax)", arch.X86_64, le, "90 ff 50 08", nil, CallYes},
		{"call *0x100(%rax)", arch.X86_64, le, "90 ff 90 00 01 00 00", nil, CallYes},
		{"call *(%rsp)", arch.X86_64, le, "90 ff 14 24", nil, CallYes},
		{"call *(%r12,%rbx,8)", arch.X86_64, le, "41 ff 14 dc", nil, CallYes},
		{"call *8(%rsp,%rbx,8)", arch.X86_64, le, "ff 54 dc 08", nil, CallYes},
		{"call *0x100(%rsp)", arch.X86_64, le, "ff 94 24 00 01 00 00", nil, CallYes},
		{"call *table(,%rbx,8)", arch.X86_64, le, "ff 14 dd 00 01 00 00", nil, CallYes},
		{"call *x(%rip)", arch.X86_64, le, "ff 15 00 01 00 00", nil, CallYes},
		{"call *%gs:16", arch.X86, le, "65 ff 15 10 00 00 00", nil, CallYes},
		{"jmp *%rax", arch.X86_64, le, "90 ff e0", nil, CallNo},
		{"push (%rax)", arch.X86_64, le, "90 ff 30", nil, CallNo},
		{"jmp rel32", arch.X86_64, le, "90 e9 01 02 03 04", nil, CallNo},
		{"nop", arch.X86_64, le, "90 90 90 90", nil, CallNo},
		{"lcall *(%rax)", arch.X86_64, le, "90 ff 18", nil, CallUnknown},
		{"lcall 16:x", arch.X86, le, "9a 00 01 00 00 10 00", nil, CallUnknown},
		{"too little", arch.X86_64, le, "e8", nil, CallUnknown},
		{"unknown CPU", nil, le, "e8 00 00 00 00", nil, CallUnknown},
		{"arm64 bl", arch.ARM64, be, "01 00 00 97", nil, CallYes},
		{"arm64 blr x8", arch.ARM64, le, "00 01 3f d6", nil, CallYes},
		{"arm64 blraaz x8", arch.ARM64, le, "1f 09 3f d6", nil, CallYes},
		{"arm64 blrabz x8", arch.ARM64, le, "1f 0d 3f d6", nil, CallYes},
		{"arm64 blraa x8, x9", arch.ARM64, le, "09 09 3f d7", nil, CallYes},
		{"arm64 b", arch.ARM64, le, "01 00 00 17", nil, CallNo},
		{"arm64 br x8", arch.ARM64, le, "00 01 1f d6", nil, CallNo},
		{"arm bl", arch.ARM, le, "01 00 00 eb", nil, CallYes},
		{"arm blx", arch.ARM, le, "01 00 00 fa", nil, CallYes},
		{"arm blx r3", arch.ARM, le, "33 ff 2f e1", nil, CallYes},
		{"arm mov lr, pc; bx r3", arch.ARM, le, "0f e0 a0 e1 13 ff 2f e1", nil, CallYes},
		{"thumb bl", arch.ARM, le, "00 f0 01 f8", nil, CallYes},
		{"thumb blx r3", arch.ARM, le, "00 bf 98 47", nil, CallYes},
		{"arm b", arch.ARM, le, "01 00 00 ea", nil, CallNo},
		{"riscv jal", arch.RISCV64, le, "ef 00 40 00", nil, CallYes},
		{"riscv jalr", arch.RISCV64, le, "e7 80 07 00", nil, CallYes},
		{"riscv c.jalr", arch.RISCV64, le, "82 97", nil, CallYes},
		{"riscv c.jal", arch.RISCV, le, "01 20", nil, CallYes},
		{"riscv64 c.addiw", arch.RISCV64, le, "01 20", nil, CallUnknown},
		{"riscv j", arch.RISCV64, le, "6f 00 40 00", nil, CallNo},
		{"mips jal", arch.MIPS, be, "0c 10 00 00 00 00 00 00", nil, CallYes},
		{"mips jalr", arch.MIPS64, le, "09 f8 20 03 00 00 00 00", nil, CallYes},
		{"mips bal", arch.MIPS, be, "04 11 00 10 00 00 00 00", nil, CallYes},
		{"mips j", arch.MIPS, be, "08 10 00 00 00 00 00 00", nil, CallNo},
		{"mips r6 balc", arch.MIPS64, be, "00 00 00 00 e8 00 00 04", nil, CallYes},
		{"ppc bl", arch.PPC, be, "48 00 00 05", nil, CallYes},
		{"ppc64le bctrl", arch.PPC64, le, "21 04 80 4e", nil, CallYes},
		{"ppc b", arch.PPC, be, "48 00 00 04", nil, CallNo},
		{"s390x brasl", arch.S390X, be, "c0 e5 00 00 00 10", nil, CallYes},
		{"s390x basr", arch.S390X, be, "0d e1", nil, CallYes},
		{"s390x br", arch.S390X, be, "07 fe", nil, CallNo},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := CallBefore(c.a, c.order, code, 0x401000, c.inCode); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
