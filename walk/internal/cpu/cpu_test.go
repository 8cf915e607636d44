package cpu

import (
	"slices"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// noPart lists the parts that a CPU lacks, with the reasons.
var noPart = map[string]string{
	"mips: frame pointers":   "they are at the low end of a frame of any size",
	"mips64: frame pointers": "they are at the low end of a frame of any size",
}

// Every CPU is walked, and has every part that the walker needs.
func TestCPUsComplete(t *testing.T) {
	for _, a := range arch.All {
		c := All[a]
		if c == nil {
			t.Errorf("%s: add its value to All: it is not walked", a.Name)
			continue
		}
		for part, has := range map[string]bool{
			"alignment of instructions": c.Align > 0 && c.Align <= 4,
			"where calls are":           c.Call > 0,
			"forms of calls":            c.calls != nil,
			"signal frames":             len(c.Frames) > 0,
			"order of instructions":     c.Order != nil,
			"result of system calls":    c.Result != "",
			"thread pointer":            c.TLS.Pointer != "",
			"techniques":                len(c.Techniques) > 0,
			"frame pointers":            slices.Contains(a.General, a.FP) && (len(c.Layouts) > 0 || c.BackChain > 0),
			"general registers":         slices.Contains(a.General, a.PC) && slices.Contains(a.General, a.SP),
			"registers that are shown":  len(a.Shown.Regs) > 0,
		} {
			if why, none := noPart[a.Name+": "+part]; has == none {
				t.Errorf("%s: %s: there %v, but none for a reason: %q", a.Name, part, has, why)
			}
		}
		if (c.RA >= 0) != (a.RA != "") || len(c.Saved) != len(a.CalleeSaved)+len(a.Constant) || len(c.Kept) != len(a.General)+len(a.Constant) {
			t.Errorf("%s: link register %d, %d saved, %d kept", a.Name, c.RA, len(c.Saved), len(c.Kept))
		}
	}
}

// The offsets are those that lld computes for the program's own variables (getTlsTpOffset).
func TestTLSBlock(t *testing.T) {
	for _, c := range []struct {
		cpu               *CPU
		addr, size, align uint64
		want              int64 // offset from the pointer
	}{
		{cpuX86_64, 0x3000, 0x14, 8, -0x18},
		{cpuX86_64, 0x3004, 0x14, 16, -0x1c}, // the block begins 4 bytes after a multiple of 16
		{cpuX86, 0x3000, 4, 4, -4},
		{cpuS390X, 0x3000, 0x14, 8, -0x18},
		{cpuARM, 0x3000, 0x14, 4, 8},
		{cpuARM, 0x3000, 0x14, 32, 32},
		{cpuARM64, 0x3000, 0x14, 8, 16},
		{cpuARM64, 0x3000, 0x14, 64, 64},
		{cpuRISCV, 0x3000, 0x14, 64, 0},
		{cpuRISCV64, 0x3008, 0x14, 16, 8},
		{cpuPPC, 0x3000, 0x14, 8, -0x7000},
		{cpuPPC64, 0x3000, 0x14, 8, -0x7000},
		{cpuMIPS64, 0x3008, 0x14, 16, -0x6ff8},
	} {
		const tp = 0x70000000
		if got := c.cpu.TLS.Block(tp, c.addr, c.size, c.align); got != tp+uint64(c.want) {
			t.Errorf("%s, %#x bytes at %#x, aligned to %d: %#x from the pointer, want %#x", c.cpu.Arch.Name, c.size, c.addr, c.align, int64(got-tp), c.want)
		}
	}
}
