package varread

import (
	"cmp"

	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/intern"
)

// dieKey identifies a DIE by its offset.
type dieKey struct {
	d   *units.Data
	off uint64
}

// section returns the index of the DIE's section among the sections of its file.
func (k dieKey) section() int {
	if k.d.OldTypes {
		return 1
	}
	return 0
}

// compare orders DIEs by their positions in the files.
func (k dieKey) compare(o dieKey) int {
	return cmp.Or(cmp.Compare(k.d.Tag, o.d.Tag), cmp.Compare(k.section(), o.section()), cmp.Compare(k.off, o.off))
}

// dieNumbers maps DIEs to numbers. Nearly all DIEs are in the section of the first one.
type dieNumbers struct {
	d       *units.Data // of the first DIE
	offsets intern.Offsets
	others  map[dieKey]uint32
}

func (n *dieNumbers) get(k dieKey) (uint32, bool) {
	if k.d == n.d {
		return n.offsets.Get(k.off)
	}
	number, ok := n.others[k]
	return number, ok
}

func (n *dieNumbers) put(k dieKey, number uint32) {
	if n.d == nil {
		n.d = k.d
	}
	if k.d == n.d {
		n.offsets.Put(k.off, number)
		return
	}
	if n.others == nil {
		n.others = map[dieKey]uint32{}
	}
	n.others[k] = number
}

func (n *dieNumbers) clear() {
	n.d = nil
	n.offsets.Clear()
	clear(n.others)
}
