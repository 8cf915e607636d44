package unwind

import (
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// Epilogues have their own rows even if the codes do not say where they are: before registers that are saved late,
// and if they continue in the next entry.
func TestEpilogs(t *testing.T) {
	const (
		early = "\x53" + // push rbx
			"\x48\x83\xec\x20" + // sub rsp, 32
			"\x85\xc9\x74\x06" + // test ecx, ecx; je
			"\x48\x83\xc4\x20\x5b\xc3" + // add rsp, 32; pop rbx; ret
			"\x48\x89\x7c\x24\x30" + // mov [rsp+48], rdi
			"\x48\x8b\x7c\x24\x30" + // mov rdi, [rsp+48]
			"\x48\x83\xc4\x20\x5b\xc3"
		earlyInfo = "\x01\x14\x04\x00" + "\x14\x74\x06\x00" + "\x05\x32" + "\x01\x30"
		split     = "\x53\x48\x83\xec\x20" + "\x90" + "\x48\x83\xc4\x20\x5b" + "\xc3" + "\x90"
		splitInfo = "\x01\x05\x02\x00" + "\x05\x32" + "\x01\x30"
		grows     = "\x49\x3b\x66\x10" + "\x76\x0f" + // cmp rsp, [r14+16]; jbe
			"\x55" + "\x48\x89\xe5" + "\x48\x83\xec\x20" + // push rbp; mov rbp, rsp; sub rsp, 32
			"\x48\x83\xc4\x20\x5d\x90\xc3" + // add rsp, 32; pop rbp; nop; ret
			"\xe8\x00\x00\x00\x00" + "\xeb\xe4" // call; jmp
		growsInfo = "\x01\x0a\x02\x05" + "\x0a\x03" + "\x07\x50"
		goes      = "\x55\x48\x89\xe5\x48\x83\xec\x08"           // push rbp; mov rbp, rsp; sub rsp, 8
		goInfo    = "\x01\x04\x02\x05" + "\x04\x03" + "\x01\x50" // does not describe the last instruction
		goRows    = ".cfa: $rsp 8 + .ra: .cfa -8 + ^; 1 .cfa: $rsp 16 + $rbp: .cfa -16 + ^; 4 .cfa: $rbp 16 +"
		chained   = "\x21\x00\x00\x00" + "\x00\x30\x00\x00\x06\x30\x00\x00\x00\x20\x00\x00" // to the first entry
	)
	for _, c := range []struct {
		name        string
		pdata       []byte
		xdata, code string
		want        string
	}{
		{"a late save", words(0x3000, 0x301f, 0x2000), earlyInfo, early,
			".cfa: $rsp 8 + .ra: .cfa -8 + ^; 1 .cfa: $rsp 16 + $rbx: .cfa -16 + ^; 5 .cfa: $rsp 48 +; " +
				"d .cfa: $rsp 16 +; e .cfa: $rsp 8 + $rbx: $rbx; f .cfa: $rsp 48 + $rbx: .cfa -16 + ^; " +
				"14 $rdi: .cfa 0 + ^; 1d .cfa: $rsp 16 +; 1e .cfa: $rsp 8 + $rbx: $rbx"},
		{"two entries", words(0x3000, 0x3006, 0x2000, 0x3006, 0x300b, 0x2008, 0x300b, 0x300d, 0x2008), splitInfo + chained, split,
			".cfa: $rsp 8 + .ra: .cfa -8 + ^; 1 .cfa: $rsp 16 + $rbx: .cfa -16 + ^; 5 .cfa: $rsp 48 +; " +
				".cfa: $rsp 48 + .ra: .cfa -8 + ^ $rbx: .cfa -16 + ^; a .cfa: $rsp 16 +; " +
				".cfa: $rsp 8 + .ra: .cfa -8 + ^; c .cfa: $rsp 48 + $rbx: .cfa -16 + ^"},
		{"a test of the stack's size", words(0x3000, 0x301c, 0x2000), growsInfo, grows,
			".cfa: $rsp 8 + .ra: .cfa -8 + ^; 7 .cfa: $rsp 16 + $rbp: .cfa -16 + ^; a .cfa: $rbp 16 +; " +
				"12 .cfa: $rsp 16 +; 13 .cfa: $rsp 8 + $rbp: $rbp"},
		{"vzeroupper", words(0x3000, 0x300f, 0x2000), splitInfo, "\x53\x48\x83\xec\x20" + "\x48\x83\xc4\x20\x5b" + "\xc5\xf8\x77\xc3" + "\x90",
			".cfa: $rsp 8 + .ra: .cfa -8 + ^; 1 .cfa: $rsp 16 + $rbx: .cfa -16 + ^; 5 .cfa: $rsp 48 +; " +
				"9 .cfa: $rsp 16 +; a .cfa: $rsp 8 + $rbx: $rbx; e .cfa: $rsp 48 + $rbx: .cfa -16 + ^"},
		{"arguments by a register", words(0x3000, 0x3018, 0x2000), "\x01\x04\x02\x05\x04\x03\x01\x50",
			"\x55\x48\x89\xe5" + "\x48\x89\xec\x5d" + "\x48\x83\xf9\x01\x7f\x01\xc3" + // push rbp; mov rbp, rsp; mov rsp, rbp; pop rbp; cmp rcx, 1; jg; ret
				"\x41\x5a\x48\x8d\x24\xcc\x41\x52\xc3", // pop r10; lea rsp, [rsp+rcx*8]; push r10; ret
			".cfa: $rsp 8 + .ra: .cfa -8 + ^; 1 .cfa: $rsp 16 + $rbp: .cfa -16 + ^; 4 .cfa: $rbp 16 +; 7 .cfa: $rsp 16 +; 8 .cfa: $rsp 8 + $rbp: $rbp; " +
				"11 .cfa: $rsp 0 +"},
		// Go's codes do not say how many bytes its functions take off the stack after setting the frame register.
		{"add rsp, imm8", words(0x3000, 0x300e, 0x2000), goInfo, goes + "\x48\x83\xc4\x08\x5d\xc3",
			goRows + "; c .cfa: $rsp 16 +; d .cfa: $rsp 8 + $rbp: $rbp"},
		{"add rsp, imm32", words(0x3000, 0x3011, 0x2000), goInfo, goes + "\x48\x81\xc4\x08\x00\x00\x00\x5d\xc3",
			goRows + "; f .cfa: $rsp 16 +; 10 .cfa: $rsp 8 + $rbp: $rbp"},
		{"sub rsp, -128", words(0x3000, 0x300e, 0x2000), goInfo, goes + "\x48\x83\xec\x80\x5d\xc3",
			goRows + "; c .cfa: $rsp 16 +; d .cfa: $rsp 8 + $rbp: $rbp"},
		{"two pushed registers", words(0x3000, 0x3010, 0x2000), "\x01\x05\x03\x05" + "\x05\x03" + "\x02\x50" + "\x01\x30\x00\x00", // push rbx; push rbp; mov rbp, rsp
			"\x53\x55\x48\x89\xe5\x48\x83\xec\x10" + "\x48\x83\xc4\x10\x5d\x5b\xc3",
			".cfa: $rsp 8 + .ra: .cfa -8 + ^; 1 .cfa: $rsp 16 + $rbx: .cfa -16 + ^; 2 .cfa: $rsp 24 + $rbp: .cfa -24 + ^; 5 .cfa: $rbp 24 +; " +
				"d .cfa: $rsp 24 +; e .cfa: $rsp 16 + $rbp: $rbp; f .cfa: $rsp 8 + $rbx: $rbx"},
		{"a pop of a register that was not pushed", words(0x3000, 0x300f, 0x2000), goInfo, goes + "\x48\x83\xc4\x08\x58\x5d\xc3",
			goRows + "; c .cfa: $rsp 24 +; d .cfa: $rsp 16 +; e .cfa: $rsp 8 + $rbp: $rbp"},
		{"no pop before the return", words(0x3000, 0x300d, 0x2000), goInfo, goes + "\x48\x83\xc4\x08\xc3",
			goRows + "; c .cfa: $rsp 8 + $rbp: $rbp"},
		{"no pop before a jump", words(0x3000, 0x3011, 0x2000), goInfo, goes + "\x48\x83\xc4\x08\xe9\x00\x10\x00\x00", goRows},
		{"another pop before a jump", words(0x3000, 0x300e, 0x2000), goInfo, goes + "\x58\xe9\x00\x10\x00\x00", goRows},
		{"the frame's pop before a jump", words(0x3000, 0x3012, 0x2000), goInfo, goes + "\x48\x83\xc4\x08\x5d\xe9\x00\x10\x00\x00",
			goRows + "; c .cfa: $rsp 16 +; d .cfa: $rsp 8 + $rbp: $rbp"},
		{"arguments of a call are freed", words(0x3000, 0x300f, 0x2000), goInfo, goes + "\x48\x83\xc4\x08\x90\x90\x0f\x0b", goRows},
	} {
		table, _, problems := readTable(pdataInput(c.pdata, []byte(c.xdata), []byte(c.code), arch.X86_64))
		if got := rowsText(&table, 0x3000); got != c.want || len(problems) > 0 {
			t.Errorf("%s:\n got %s\nwant %s\n%v", c.name, got, c.want, problems)
		}
	}
}
