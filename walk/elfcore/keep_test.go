package elfcore

import (
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// The C library maps a thread's stack with 8 MiB below its thread-local storage. Only the part in use is kept; all of
// it is kept if the stack pointer is elsewhere, as in a signal handler.
func TestKeepStack(t *testing.T) {
	const base, size = 0x7f0000000000, 8 << 20
	other := dump.Range{Addr: base + 2*size, Size: 1 << 16}
	loads := []dump.Range{{Addr: base, Size: size}, other}
	for _, c := range []struct {
		sp, want uint64
	}{
		{base + size - 0x3000, 0x3000 + belowStack},
		{base + size - 0x100, 0x1000}, // the page of the thread-local storage
		{base, size},
		{other.Addr + 0x800, size + other.Size - 0x800 + belowStack},
	} {
		context := dump.NewContext(arch.X86_64)
		context.Set("$rsp", c.sp)
		context.Set("$fs.base", base+size-0x900)
		k := newKeeper(&reader{d: &dump.Dump{Arch: arch.X86_64, Threads: []dump.Thread{{Context: context}}}, word: 8}, loads)
		kept := map[uint64]bool{} // by 16 bytes
		for _, w := range k.wants {
			for at := w.Addr; at < w.Addr+w.Size; at += 16 {
				kept[at] = true
			}
		}
		// The page of the stack pointer is kept, too.
		if got := uint64(len(kept)) * 16; got < c.want || got > c.want+2*keptPage {
			t.Errorf("sp %#x: %#x bytes, want %#x", c.sp, got, c.want)
		}
	}
}
