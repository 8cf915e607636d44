package elfobj

import (
	"cmp"
	"debug/elf"
	"slices"
	"sort"
	"sync"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// relocTable is one relocation section.
type relocTable struct {
	of      *relocations
	s       *Section
	src     object.Source
	crel    *crelTable // for SHT_CREL, otherwise nil
	rela    bool
	entsize int64
	n       int64
	firsts  []uint64     // r_offset of each blockRelocs-th entry
	sorted  []relocation // all entries, if the section is not in order
}

// open checks the whole section.
func (t *relocTable) open() error {
	f, s := t.s.file, t.s
	t.entsize = int64(f.pick(8, 16))
	if t.rela {
		t.entsize = int64(f.pick(12, 24))
	}
	if s.Type != shtCREL && s.Entsize != 0 && s.Entsize != uint64(t.entsize) {
		return s.errorf(0, "entries of %d bytes, want %d", s.Entsize, t.entsize)
	}
	if tab := f.sectionOfType(elf.SHT_SYMTAB); tab != nil && uint64(s.Link) != uint64(tab.Index) {
		return s.errorf(0, "symbol table is section %d, want %d", s.Link, tab.Index)
	}
	if !s.HasData() {
		return nil
	}
	if s.Type == shtCREL {
		if err := t.openCREL(); err != nil {
			return err
		}
		return t.check()
	}
	var err error
	if t.src, err = s.Open(); err != nil {
		return err
	}
	t.n = t.src.Size() / t.entsize
	if rest := t.src.Size() % t.entsize; rest != 0 {
		t.of.problem(s.errorf(uint64(t.n*t.entsize), "relocation of %d bytes, want %d", rest, t.entsize))
	}
	return t.check()
}

// check finds out whether the entries are in order, and reports those that cannot
// be applied.
func (t *relocTable) check() error {
	ordered, last := true, uint64(0)
	var crowd crowd
	err := t.scan(0, t.n, func(i int64, r *relocation) bool {
		if i%blockRelocs == 0 {
			t.firsts = append(t.firsts, r.off)
		}
		ordered = ordered && r.off >= last
		last = r.off
		crowd.add(r.off)
		t.judge(i, r)
		return true
	})
	if err == nil && !ordered {
		if err = t.sort(); err != nil {
			return err
		}
		crowd = t.sortedCrowd()
	}
	if err == nil && crowd.most > maxAtPlace {
		err = t.s.errorf(0, "%d relocations for the byte at %#x of %s, want at most %d", crowd.most, crowd.where, t.of.target.label(), maxAtPlace)
	}
	return err
}

// crowd finds the place with the most relocations. They are added in order of offset.
type crowd struct {
	at    uint64
	n     int
	where uint64
	most  int
}

func (c *crowd) add(off uint64) {
	if off != c.at {
		c.at, c.n = off, 0
	}
	if c.n++; c.n > c.most {
		c.where, c.most = off, c.n
	}
}

func (t *relocTable) sortedCrowd() (c crowd) {
	for i := range t.sorted {
		c.add(t.sorted[i].off)
	}
	return c
}

// judge reports r as a problem if it cannot be applied.
func (t *relocTable) judge(i int64, r *relocation) {
	target := t.of.target
	k := t.of.types.kind(r.typ)
	switch {
	case k.Op == arch.RelocUnknown:
		t.of.problem(target.errorf(r.off, "relocation of type %d of %v, which is not known", r.typ, t.s.file.Machine))
	case k.Op == arch.RelocIgnored:
	case r.off >= uint64(target.Size()) || uint64(k.Size) > uint64(target.Size())-r.off:
		t.of.problem(t.s.errorf(t.place(i), "relocation at %#x of %s, which has %d bytes", r.off, target.label(), target.Size()))
	case uint64(r.sym) >= uint64(max(len(t.of.values), 1)):
		t.of.problem(target.errorf(r.off, "relocation with symbol %d of %d", r.sym, len(t.of.values)))
	}
}

// place returns the offset of an entry in its section.
func (t *relocTable) place(i int64) uint64 {
	if t.crel != nil {
		return t.crel.place(i)
	}
	return uint64(i * t.entsize)
}

// sort reads all entries into memory and sorts them.
func (t *relocTable) sort() error {
	const size = 24 // bytes per relocation
	if !t.s.file.in.Held.Take(size * t.n) {
		return t.s.errorf(0, "%d relocations that are not in order would exceed the limit of memory", t.n)
	}
	t.sorted = make([]relocation, 0, t.n)
	err := t.scan(0, t.n, func(_ int64, r *relocation) bool {
		t.sorted = append(t.sorted, *r)
		return true
	})
	slices.SortStableFunc(t.sorted, func(a, b relocation) int { return cmp.Compare(a.off, b.off) })
	return err
}

// scan calls fn with the entries from first, which begins a block, to last-1, in the
// order of the section, until fn returns false.
func (t *relocTable) scan(first, last int64, fn func(i int64, r *relocation) bool) error {
	if first >= last {
		return nil
	}
	if t.crel != nil {
		t.crel.scan(first, last, fn)
		return nil
	}
	buf := relocBuffers.Get().(*[]byte)
	defer relocBuffers.Put(buf)
	var r relocation
	for i := first; i < last; {
		n := min(blockRelocs, last-i)
		data, err := t.src.Bytes(i*t.entsize, n*t.entsize, *buf)
		if err != nil {
			return err
		}
		for ; len(data) > 0; data = data[t.entsize:] {
			t.decode(data, &r)
			if !fn(i, &r) {
				return nil
			}
			i++
		}
	}
	return nil
}

var relocBuffers = sync.Pool{New: func() any {
	b := make([]byte, blockRelocs*24)
	return &b
}}

// decode reads the entry at the beginning of b.
func (t *relocTable) decode(b []byte, r *relocation) {
	f := t.s.file
	if f.Class != elf.ELFCLASS64 {
		info := f.Order.Uint32(b[4:])
		*r = relocation{off: uint64(f.Order.Uint32(b)), sym: info >> 8, typ: info & 0xff}
		if t.rela {
			r.addend = uint64(int64(int32(f.Order.Uint32(b[8:]))))
		}
		return
	}
	r.off = f.Order.Uint64(b)
	if t.of.types.mips64 {
		// r_sym, r_ssym, r_type3, r_type2 and r_type are fields, not parts of one
		// number. A second symbol is treated as an unknown type.
		r.sym, r.typ = f.Order.Uint32(b[8:]), uint32(b[15])|uint32(b[14])<<8|uint32(b[13])<<16|uint32(b[12])<<24
	} else {
		info := f.Order.Uint64(b[8:])
		r.sym, r.typ = uint32(info>>32), uint32(info)
	}
	r.addend = 0
	if t.rela {
		r.addend = f.Order.Uint64(b[16:])
	}
}

// each calls fn with the entries with lo <= r_offset < hi, in order of r_offset,
// until fn returns false.
func (t *relocTable) each(lo, hi uint64, fn func(r *relocation) bool) error {
	if t.sorted != nil {
		first := sort.Search(len(t.sorted), func(i int) bool { return t.sorted[i].off >= lo })
		for i := first; i < len(t.sorted) && t.sorted[i].off < hi && fn(&t.sorted[i]); i++ {
		}
		return nil
	}
	// Start with the block before the first one that begins at lo or later.
	first := sort.Search(len(t.firsts), func(i int) bool { return t.firsts[i] >= lo })
	return t.scan(int64(max(first-1, 0))*blockRelocs, t.n, func(_ int64, r *relocation) bool {
		return r.off < hi && (r.off < lo || fn(r))
	})
}
