package walk

import (
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// threadPointer is the register with a thread's pointer to its thread-local storage, on CPUs where
// dumps have it and the block of the program ends there (variant II of "ELF Handling For
// Thread-Local Storage", section 3).
var threadPointer = map[*arch.Arch]string{arch.X86_64: "$fs.base"}

// auxPHDR, auxPHENT and auxPHNUM are the entries of the auxiliary vector that say where the program's
// headers are in memory (include/uapi/linux/auxvec.h).
const (
	auxPHDR  = 3
	auxPHENT = 4
	auxPHNUM = 5
)

// ptTLS is the type of the program header of thread-local storage.
const ptTLS = 7

// maxHeaders is more program headers than a program has.
const maxHeaders = 4096

// tlsAddress returns the address of a thread-local variable of a module in a thread, by its offset
// in the module's block. It is known for the program itself, whose block has a fixed place.
func tlsAddress(d *dump.Dump, thread, module int, offset uint64) (uint64, bool) {
	c := d.Registers(thread)
	if c == nil || module < 0 || module != d.Main {
		return 0, false
	}
	name, ok := threadPointer[c.Arch]
	if !ok {
		return 0, false
	}
	tp, ok := c.Get(name)
	if !ok || tp == 0 {
		return 0, false
	}
	size, align, ok := tlsSegment(d)
	if !ok || offset >= size {
		return 0, false
	}
	return tp - (size+align-1)/align*align + offset, true
}

// tlsSegment returns the size in memory and the alignment of the program's PT_TLS.
func tlsSegment(d *dump.Dump) (size, align uint64, ok bool) {
	aux := map[uint64]uint64{}
	for _, a := range d.Auxv {
		aux[a.Key] = a.Value
	}
	const entry = 56 // of ELFCLASS64
	if aux[auxPHDR] == 0 || aux[auxPHENT] != entry || aux[auxPHNUM] > maxHeaders {
		return 0, 0, false
	}
	for i := range aux[auxPHNUM] {
		b := d.Memory.Bytes(aux[auxPHDR]+i*entry, entry)
		if len(b) < entry {
			return 0, 0, false
		}
		if d.Memory.Order.Uint32(b) != ptTLS {
			continue
		}
		size, align = d.Memory.Order.Uint64(b[40:]), max(1, d.Memory.Order.Uint64(b[48:]))
		return size, align, align&(align-1) == 0 && size < 1<<40
	}
	return 0, 0, false
}
