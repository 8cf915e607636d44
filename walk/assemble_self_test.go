package walk

import (
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// The assembler itself: labels before and behind their place, both byte orders,
// symbols, registers that are not known.
func TestAssembler(t *testing.T) {
	for _, cpu := range []*arch.Arch{arch.X86, arch.X86_64, arch.PPC64} {
		a := assemble(t, cpu, dump.Linux)
		a.module("app", 0x400000, 0x1000, "FUNC 100 10 0 f\n")
		a.at(0x8000).mark("low").words(1, "high").at(0x9000).mark("high").wordPlus("low", -4).bytes(1, 2, 3).zeros(1)
		a.regs(cpu.PC, 0x400101, cpu.SP, "high")
		d := a.build()
		size := uint64(cpu.PtrSize)
		for addr, want := range map[uint64]uint64{0x8000: 1, 0x8000 + size: 0x9000, 0x9000: 0x7ffc} {
			if v, ok := d.Memory.Word(addr, cpu.PtrSize); !ok || v != want {
				t.Errorf("%s: at %#x %#x %v, want %#x", cpu.Name, addr, v, ok, want)
			}
		}
		if n := uint64(len(d.Memory.Regions[1].Data)); n != 2*size+3 || d.Threads[0].Stack != (dump.Range{Addr: 0x9000, Size: n}) {
			t.Errorf("%s: %d bytes, stack %+v", cpu.Name, n, d.Threads[0].Stack)
		}
		s := a.walk(Config{Techniques: []Technique{}})
		a.want(s, EndNothing, "400101 context context f; "+cpu.SP+"=high "+cpu.FP+"=?")
	}
}
