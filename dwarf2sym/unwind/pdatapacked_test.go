package unwind

import (
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// Packed codes of arm64 stand for a prologue at the start of the function and its mirror image at the end (Microsoft,
// "ARM64 exception handling", the table of "Packed unwind data").
func TestPackedPrologues(t *testing.T) {
	const (
		unit  = 1 << 23 // of 16 bytes of frame
		ints  = 1 << 16
		lr    = 1 << 21
		chain = 3 << 21
		home  = 1 << 20
	)
	for _, c := range []struct {
		name   string
		word   uint32
		length uint32
		want   string
	}{
		{"sub; stp x19, lr", 1*unit + lr + 1*ints, 0x20,
			".cfa: sp 0 + .ra: x30; 4 .cfa: sp 16 +; 8 .ra: .cfa -8 + ^ x19: .cfa -16 + ^; 18 .ra: x30 x19: x19; 1c .cfa: sp 0 +"},
		{"stp x19, x20, pre-indexed; str lr", 2*unit + lr + 2*ints, 0x20,
			".cfa: sp 0 + .ra: x30; 4 .cfa: sp 32 + x19: .cfa -32 + ^ x20: .cfa -24 + ^; 8 .ra: .cfa -16 + ^; 18 .ra: x30; 1c .cfa: sp 0 + x19: x19 x20: x20"},
		{"stp x19, x20, pre-indexed; stp x21, lr; sub", 3*unit + lr + 3*ints, 0x20,
			".cfa: sp 0 + .ra: x30; 4 .cfa: sp 32 + x19: .cfa -32 + ^ x20: .cfa -24 + ^; 8 .ra: .cfa -8 + ^ x21: .cfa -16 + ^; c .cfa: sp 48 +; 14 .cfa: sp 32 +; 18 .ra: x30 x21: x21; 1c .cfa: sp 0 + x19: x19 x20: x20"},
		{"sub; stp of arguments", 4*unit + home, 0x20,
			".cfa: sp 0 + .ra: x30; 4 .cfa: sp 64 +; 1c .cfa: sp 0 +"},
		{"stp x29, lr, pre-indexed; mov x29, sp", 2*unit + chain, 0x20,
			".cfa: sp 0 + .ra: x30; 4 .cfa: sp 32 + .ra: .cfa -24 + ^ x29: .cfa -32 + ^; 8 .cfa: x29 32 +; 1c .cfa: sp 0 + .ra: x30 x29: x29"},
	} {
		entry := words(0x3000, c.word|c.length/4<<2|1)
		table, _, problems := readTable(pdataInput(entry, nil, make([]byte, c.length), arch.ARM64))
		if got := rowsText(&table, 0x3000); got != c.want || len(problems) > 0 {
			t.Errorf("%s:\n got %s\nwant %s\n%v", c.name, got, c.want, problems)
		}
	}
}
