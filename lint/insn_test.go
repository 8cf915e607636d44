package lint

import (
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// Any bytes are followed without a panic, and to an end.
func FuzzFollow(f *testing.F) {
	f.Add([]byte("\x55\x48\x89\xe5\x5d\xc3"), []byte("STACK CFI INIT 0 6 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 1 .cfa: $rsp 16 +\n"), false)
	f.Add([]byte("\xfd\x7b\xbf\xa9\xfd\x7b\xc1\xa8\xc0\x03\x5f\xd6"), []byte("STACK CFI INIT 0 c .cfa: sp 0 + .ra: x30\nSTACK CFI 4 .cfa: sp 16 +\n"), true)
	f.Add([]byte("\xe8\x00\x00\x00\x00\xeb\xfe\x62\xf1\x7c\x48\x10"), []byte("STACK CFI INIT 0 ffffffffffffffff .cfa: $rbp 16 +\n"), false)
	f.Fuzz(func(t *testing.T, code, text []byte, isARM bool) {
		cpu, names := frameAMD64, arch.X86_64
		if isARM {
			cpu, names = frameARM64, arch.ARM64
		}
		rows := rowsOf(t, text, names)
		if rows.names == nil {
			return
		}
		follower := newFollower(cpu, rows, 0)
		for i := range rows.blocks {
			b := &rows.blocks[i]
			if at := uint64(b.rva); at < uint64(len(code)) && i < 100 {
				follower.check(b, code[at:][:min(b.size, uint64(len(code))-at)], at)
			}
		}
	})
}
