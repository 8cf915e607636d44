package lint

import (
	"bytes"
	"debug/elf"
	"fmt"
	"slices"
	"testing"
)

// What is data: enough bytes that begin no instruction, close enough to each other.
func TestDataIn(t *testing.T) {
	nops := func(n int) []byte { return bytes.Repeat([]byte{0x90}, n) }
	bad := []byte{0x06} // push %es, which 64-bit mode does not have
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
		dataIn(c.code, dataStep(elf.EM_X86_64), func(from, to int) { list = append(list, fmt.Sprintf("%d-%d", from, to)) })
		if got := fmt.Sprint(list); got != c.want {
			t.Errorf("%d: %s, want %s", i, got, c.want)
		}
	}
	if dataStep(elf.EM_AARCH64) != nil || dataStep(elf.EM_386) == nil {
		t.Error("CPUs whose data can be told from code")
	}
}
