package walk

import (
	"fmt"

	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/cpu"
)

// auxPHDR, auxPHENT and auxPHNUM are the entries of the auxiliary vector that give the location of
// the program's headers in memory (include/uapi/linux/auxvec.h).
const (
	auxPHDR  = 3
	auxPHENT = 4
	auxPHNUM = 5
)

// ptTLS is the type of the program header of thread-local storage.
const ptTLS = 7

// maxHeaders is larger than the number of program headers of any program.
const maxHeaders = 4096

// tlsAddress returns the address, for a thread, of a module's thread-local variable, given its offset
// in the module's block, or the reason why it is unknown. It is known only for the program itself,
// whose block is at a fixed distance from the thread pointer.
func tlsAddress(d *dump.Dump, thread, module int, offset uint64) (addr uint64, why string) {
	c := d.Registers(thread)
	if c == nil || module < 0 || module != d.Main || cpu.All[c.Arch] == nil {
		return 0, "the module's thread-local storage of the thread is not known"
	}
	tls := &cpu.All[c.Arch].TLS
	tp, ok := threadPointer(c, tls)
	if !ok && d.System.OS != dump.Windows && thread < len(d.Threads) {
		tp = d.Threads[thread].TEB
		ok = tp != 0
	}
	if !ok {
		return 0, fmt.Sprintf("the dump does not have the thread's pointer, %s", tls.Pointer)
	}
	block, ok := tlsSegment(d, c.Arch.PtrSize)
	if !ok || offset >= block.size {
		return 0, "the program's block of thread-local storage is not known"
	}
	return tls.Block(tp, block.addr, block.size, block.align) + offset, ""
}

func threadPointer(c *dump.Context, tls *cpu.TLS) (tp uint64, ok bool) {
	tp, ok = c.Get(tls.Pointer)
	if tls.Low != "" {
		low, known := c.Get(tls.Low)
		tp, ok = tp<<32|low, ok && known
	}
	return tp, ok && tp != 0
}

// tlsBlock describes the block in memory according to a program's PT_TLS.
type tlsBlock struct{ addr, size, align uint64 }

// tlsSegment returns the program's PT_TLS, from the headers in memory.
func tlsSegment(d *dump.Dump, ptrSize int) (tlsBlock, bool) {
	aux := map[uint64]uint64{}
	for _, a := range d.Auxv {
		aux[a.Key] = a.Value
	}
	entry, order := uint64(56), d.Memory.Order // for ELFCLASS64
	if ptrSize == 4 {
		entry = 32
	}
	if aux[auxPHDR] == 0 || aux[auxPHENT] != entry || aux[auxPHNUM] > maxHeaders {
		return tlsBlock{}, false
	}
	for i := range aux[auxPHNUM] {
		b := d.Memory.Bytes(aux[auxPHDR]+i*entry, int(entry))
		if uint64(len(b)) < entry {
			return tlsBlock{}, false
		}
		if order.Uint32(b) != ptTLS {
			continue
		}
		t := tlsBlock{}
		if ptrSize == 4 {
			t = tlsBlock{uint64(order.Uint32(b[8:])), uint64(order.Uint32(b[20:])), uint64(order.Uint32(b[28:]))}
		} else {
			t = tlsBlock{order.Uint64(b[16:]), order.Uint64(b[40:]), order.Uint64(b[48:])}
		}
		t.align = max(1, t.align)
		return t, t.align&(t.align-1) == 0 && t.size < 1<<40
	}
	return tlsBlock{}, false
}
