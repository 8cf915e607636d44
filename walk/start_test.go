package walk

import (
	"encoding/binary"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// The entry is the address of code, even if the system gives the address of a function descriptor.
func TestEntry(t *testing.T) {
	const entry, code = 0x601000, 0x401234
	for _, c := range []struct {
		name  string
		arch  *arch.Arch
		order binary.ByteOrder
		words map[uint64]uint64
		want  uint64
	}{
		{"ppc64, a descriptor", arch.PPC64, binary.BigEndian, map[uint64]uint64{entry: code}, code},
		{"ppc64, code of the second ABI", arch.PPC64, binary.BigEndian, map[uint64]uint64{entry: 0x7c0802a6_f8010010}, entry},
		{"ppc64, no memory there", arch.PPC64, binary.BigEndian, nil, 0},
		{"ppc64le", arch.PPC64, binary.LittleEndian, map[uint64]uint64{entry: code}, entry},
		{"ppc", arch.PPC, binary.BigEndian, map[uint64]uint64{entry: code}, entry},
		{"x86-64, no memory there", arch.X86_64, binary.LittleEndian, nil, entry},
	} {
		d := &dump.Dump{Arch: c.arch, Modules: []dump.Module{{Range: dump.Range{Addr: 0x400000, Size: 0x300000}}}, Auxv: []dump.Aux{{Key: 3, Value: 7}, {Key: atEntry, Value: entry}}}
		d.Memory.Order = c.order
		for at, word := range c.words {
			data := make([]byte, 8)
			c.order.PutUint64(data, word)
			d.Memory.Regions = append(d.Memory.Regions, dump.Region{Addr: at, Data: data})
		}
		if got := entryOf(d); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
	if got := entryOf(&dump.Dump{Arch: arch.PPC64}); got != 0 {
		t.Errorf("%#x of nothing", got)
	}
}
