package insn

import (
	"encoding/binary"
	"testing"
)

// A jump to a register belongs to a switch if the register was added to, and not written since. Compilers move other
// instructions between the two.
func TestSwitchARM64(t *testing.T) {
	const (
		add  = 0x8b0b094a // add x10, x10, x11, lsl #2
		jump = 0xd61f0140 // br x10
	)
	for _, c := range []struct {
		name    string
		between uint32
		want    Flow
	}{
		{"nothing", 0xd503201f, Switch},                          // nop
		{"another sum", 0x910f22d6, Switch},                      // add x22, x22, #0x3c8
		{"another page", 0xb0000009, Switch},                     // adrp x9, 0x1000
		{"a load whose offset has its bits", 0xf9542a8c, Switch}, // ldr x12, [x20, #0x2850]
		{"a store", 0xf900068a, Switch},                          // str x10, [x20, #8]
		{"a store of two", 0xa9002e8a, Switch},                   // stp x10, x11, [x20]
		{"a comparison", 0xeb0b015f, Switch},                     // cmp x10, x11
		{"a load of a vector", 0x3dc0028a, Switch},               // ldr q10, [x20]
		{"a load of two", 0xa9402a8c, Leave},                     // ldp x12, x10, [x20]
		{"a load", 0xf940028a, Leave},                            // ldr x10, [x20]
		{"a move", 0xaa0b03ea, Leave},                            // mov x10, x11
		{"writeback", 0xf840854c, Leave},                         // ldr x12, [x10], #8
		{"a comparison that swaps", 0xc8eafe8c, Leave},           // casal x10, x12, [x20]
	} {
		f, got := Enter(0, 0), Next
		for _, in := range []uint32{add, c.between, jump} {
			_, got, _ = FrameARM64(binary.LittleEndian.AppendUint32(nil, in), 0, &f)
		}
		if got != c.want {
			t.Errorf("%s: flow %d, want %d", c.name, got, c.want)
		}
	}
}
