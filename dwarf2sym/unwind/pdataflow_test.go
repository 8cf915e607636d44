package unwind

import (
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// Entries without codes have the rules of their instructions, and none where these do not show the frame.
func TestUncoded(t *testing.T) {
	const (
		plain    = "\x01\x00\x00\x00"                 // .xdata: no codes
		handled  = "\x09\x00\x00\x00\x00\x30\x00\x00" // has an exception handler
		moves    = "\x53\x48\x83\xec\x20" + "\x90" + "\x48\x83\xc4\x20\x5b" + "\xc3"
		aligns   = "\x48\x89\xe0" + "\x53" + "\x48\x83\xe4\xc0" + "\x48\x89\xc4" + "\xc3" // mov rax, rsp; push rbx; and rsp, -64; mov rsp, rax; ret
		returns  = "\x90" + "\x5b" + "\xc3"                                               // nop; pop rbx; ret
		leaf     = "\x31\xc0" + "\xc3"
		moved    = ".cfa: $rsp 8 + .ra: .cfa -8 + ^; 1 .cfa: $rsp 16 + $rbx: .cfa -16 + ^; 5 .cfa: $rsp 48 +; a .cfa: $rsp 16 +; b .cfa: $rsp 8 + $rbx: $rbx"
		popArm64 = "\xf0\x07\x40\xf9" + "\xff\x43\x00\x91" + "\xc0\x03\x5f\xd6" // ldr x16, [sp, #8]; add sp, sp, #16; ret
	)
	for _, c := range []struct {
		name        string
		xdata, code string
		cpu         *arch.Arch
		size        uint64 // of the block
		want        string
	}{
		{"a leaf", plain, leaf, arch.X86_64, 3, ".cfa: $rsp 8 + .ra: .cfa -8 + ^"},
		{"a frame", plain, moves, arch.X86_64, 12, moved},
		{"a frame with a handler", handled, moves, arch.X86_64, 12, moved},
		{"an aligned frame", handled, aligns, arch.X86_64, 8, ".cfa: $rsp 8 + .ra: .cfa -8 + ^; 4 .cfa: $rsp 16 + $rbx: .cfa -16 + ^"},
		{"a handler whose code does not begin as a leaf", handled, returns, arch.X86_64, 0, ""},
		{"a helper that moves its caller's stack pointer", "\x03\x00\x00\x08\xe4\xe4\xe4\xe4", popArm64, arch.ARM64, 12, ".cfa: sp 0 + .ra: x30; 8 .cfa: sp -16 +"},
	} {
		pdata := words(0x3000, 0x3000+uint32(len(c.code)), 0x2000)
		if c.cpu == arch.ARM64 {
			pdata = words(0x3000, 0x2000)
		}
		table, _, problems := readTable(pdataInput(pdata, []byte(c.xdata), []byte(c.code), c.cpu))
		got, size := rowsText(&table, 0x3000), uint64(0)
		if len(table.Blocks) > 0 {
			size = table.Blocks[0].Size
		}
		if got != c.want || size != c.size || len(problems) > 0 {
			t.Errorf("%s:\n got %d bytes %s\nwant %d %s\n%v", c.name, size, got, c.size, c.want, problems)
		}
	}
}
