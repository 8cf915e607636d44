package walk

import (
	"slices"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// noCPUPart are the parts that a CPU does not have, with the reason.
var noCPUPart = map[string]string{
	"mips: frame pointers":   "they are at the low end of a frame of any size",
	"mips64: frame pointers": "they are at the low end of a frame of any size",
}

// Every CPU is walked, and has all that the walker asks for.
func TestCPUsComplete(t *testing.T) {
	for _, a := range arch.All {
		c := cpus[a]
		if c == nil {
			t.Errorf("%s: add its value to cpus: it is not walked", a.Name)
			continue
		}
		for part, has := range map[string]bool{
			"alignment of instructions": c.align > 0 && c.align <= 4,
			"where calls are":           c.call > 0,
			"forms of calls":            c.calls != nil,
			"signal frames":             len(c.frames) > 0,
			"order of instructions":     c.order != nil,
			"result of system calls":    c.result != "",
			"techniques":                len(c.techniques) > 0,
			"frame pointers":            slices.Contains(a.General, a.FP) && (len(c.layouts) > 0 || c.backChain > 0),
			"general registers":         slices.Contains(a.General, a.PC) && slices.Contains(a.General, a.SP),
			"registers that are shown":  len(a.Shown.Regs) > 0,
		} {
			if why, none := noCPUPart[a.Name+": "+part]; has == none {
				t.Errorf("%s: %s: there %v, but none for a reason: %q", a.Name, part, has, why)
			}
		}
		if (c.ra >= 0) != (a.RA != "") || len(c.saved) != len(a.CalleeSaved) || len(c.kept) != len(a.General) {
			t.Errorf("%s: link register %d, %d saved, %d kept", a.Name, c.ra, len(c.saved), len(c.kept))
		}
	}
}
