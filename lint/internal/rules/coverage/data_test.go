package coverage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/symfmt/arch"
)

// Data is recognised by enough bytes that begin no instruction and are close enough to each other.
func TestDataIn(t *testing.T) {
	nops := func(n int) []byte { return bytes.Repeat([]byte{0x90}, n) }
	bad := []byte{0x06} // push %es, which is invalid in 64-bit mode
	for i, c := range []struct {
		code []byte
		want string
	}{
		{nops(100), "[]"},
		{slices.Concat(nops(8), bad, bad, bad, nops(8)), "[]"},
		{slices.Concat(nops(8), bad, bad, bad, bad, nops(8)), "[8-12]"},
		{slices.Concat(nops(8), bad, nops(255), bad, bad, bad, nops(8)), "[8-267]"},
		{slices.Concat(nops(8), bad, nops(256), bad, bad, bad, nops(8)), "[]"},
		{slices.Concat(bad, bad, bad, bad, nops(300), bad, bad, bad, bad), "[0-4 304-308]"},
		{nil, "[]"},
	} {
		list := []string{}
		dataIn(c.code, insn.AMD64, 1, func(from, to int) { list = append(list, fmt.Sprintf("%d-%d", from, to)) })
		if got := fmt.Sprint(list); got != c.want {
			t.Errorf("%d: %s, want %s", i, got, c.want)
		}
	}
	for cpu, want := range map[*arch.Arch]int{arch.X86_64: 1, arch.X86: 1, arch.ARM64: 4, arch.MIPS: 0} {
		if step, unit := dataStep(cpu); unit != want || (step != nil) != (want > 0) {
			t.Errorf("%v: unit %d, want %d", cpu.Name, unit, want)
		}
	}
}

// On arm64, data is recognised by words: reserved and unallocated ones, except SME's.
func TestDataInARM64(t *testing.T) {
	words := func(w uint32, n int) (b []byte) {
		for range n {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		return b
	}
	const nop, udf, unallocated1, unallocated3, sme = 0xd503201f, 0x00000001, 0x02000000, 0x06000000, 0xc0900000
	for _, c := range []struct {
		code []byte
		want string
	}{
		{words(nop, 50), "[]"},
		{words(sme, 50), "[]"},
		{slices.Concat(words(nop, 2), words(udf, 3), words(nop, 2)), "[]"},
		{slices.Concat(words(nop, 2), words(udf, 2), words(nop, 20), words(unallocated1, 1), words(unallocated3, 1), words(nop, 2)), "[8-104]"},
		{append(words(udf, 4), 0, 0), "[0-16]"},
	} {
		list := []string{}
		step, unit := dataStep(arch.ARM64)
		dataIn(c.code, step, unit, func(from, to int) { list = append(list, fmt.Sprintf("%d-%d", from, to)) })
		if got := fmt.Sprint(list); got != c.want {
			t.Errorf("%x: %s, want %s", c.code, got, c.want)
		}
	}
}
