package elfobj

import (
	"debug/elf"

	"github.com/symtool/symtool/internal/bin"
)

// SHT_CREL: relocations of variable length, which LLVM writes on request (the
// proposal for the gABI, "CREL: a compact relocation format for ELF"; the number
// of the section type is LLVM's, as the gABI has none yet).
//
// The section begins with a ULEB128: 8 times the number of entries, plus 4 if they
// have addends, plus the number of bits by which r_offset is shifted to the right.
// Each entry encodes the difference from the previous one: a ULEB128 of any
// length, whose lowest two bits (three with addends) select the fields that
// follow, and whose other bits are added to r_offset; then one SLEB128 each for
// the symbol, the type and the addend.

// shtCREL is SHT_CREL.
const shtCREL elf.SectionType = 0x40000014

const (
	crelSymbol  = 1 << 0 // flags of an entry
	crelType    = 1 << 1
	crelAddend  = 1 << 2
	crelAddends = 1 << 2 // in the header
	crelShift   = crelAddends - 1
)

// crelTable is the contents of such a section. They are held in memory, as they take
// a fraction of the size of SHT_RELA. An entry can be read only after those before
// it, so the state at the start of each block of blockRelocs entries is saved.
type crelTable struct {
	c      bin.Cursor // at the first entry
	bits   uint       // number of flag bits of an entry
	shift  uint
	mask   uint64 // of offsets and addends
	blocks []crelState
}

// crelState is the state between two entries.
type crelState struct {
	pos int // of the next entry
	relocation
}

// openCREL reads the header and finds the blocks. For a truncated section it uses the
// entries before the end.
func (t *relocTable) openCREL() error {
	data, err := t.s.Data()
	if err != nil {
		return err
	}
	x := &crelTable{c: bin.New(t.s.label(), data, t.s.file.Order), bits: 2, mask: ^uint64(0)}
	head := x.c.ULEB()
	if x.c.Err() != nil {
		return t.s.errorf(0, "%d bytes are too few for a header of relocations", len(data))
	}
	if t.rela = head&crelAddends != 0; t.rela {
		x.bits = 3
	}
	x.shift = uint(head & crelShift)
	if t.s.file.Class != elf.ELFCLASS64 {
		x.mask = 1<<32 - 1
	}
	t.crel, t.n = x, int64(head>>3)
	return x.findBlocks(t)
}

// findBlocks walks all entries. Each takes at least one byte, so a count that is
// too large costs no more than the section's size.
func (x *crelTable) findBlocks(t *relocTable) error {
	c, s := x.c, crelState{pos: x.c.Pos()}
	for i := range t.n {
		if i%blockRelocs == 0 {
			if !t.s.file.in.Held.Take(crelStateSize) {
				return t.s.errorf(uint64(s.pos), "%d relocations would exceed the limit of memory", t.n)
			}
			x.blocks = append(x.blocks, s)
		}
		if x.next(&c, &s); c.Err() != nil {
			t.of.problem(t.s.errorf(uint64(s.pos), "relocation %d of %d has no end", i, t.n))
			t.n = i
			return nil
		}
	}
	if n := c.Len(); n > 0 {
		t.of.problem(t.s.errorf(uint64(s.pos), "%d bytes after the last of %d relocations", n, t.n))
	}
	return nil
}

// crelStateSize is the size of a crelState, charged to the budget.
const crelStateSize = 32

// next reads the entry at the cursor into s.
func (x *crelTable) next(c *bin.Cursor, s *crelState) {
	b := c.U8()
	delta := uint64(b >> x.bits)
	if b&0x80 != 0 { // more bits follow; they replace the continuation bit
		delta = delta&^(0x80>>x.bits) + c.ULEB()<<(7-x.bits)
	}
	n := *s
	n.off += delta
	if b&crelSymbol != 0 {
		n.sym += uint32(c.SLEB())
	}
	if b&crelType != 0 {
		n.typ += uint32(c.SLEB())
	}
	if b&crelAddend != 0 && x.bits == 3 {
		n.addend += uint64(c.SLEB())
	}
	if c.Err() == nil {
		n.pos = c.Pos()
		*s = n
	}
}

// scan calls fn with the entries from first, which begins a block, to last-1.
func (x *crelTable) scan(first, last int64, fn func(i int64, r *relocation) bool) {
	s := x.blocks[first/blockRelocs]
	c := x.c
	c.Seek(s.pos)
	for i := first; i < last; i++ {
		x.next(&c, &s)
		if r := x.entry(&s); !fn(i, &r) {
			return
		}
	}
}

// entry returns the relocation at s. In 32-bit files, values are modulo 2^32.
func (x *crelTable) entry(s *crelState) relocation {
	r := s.relocation
	r.off = r.off & x.mask << x.shift & x.mask
	if x.mask>>32 == 0 {
		r.addend = uint64(int64(int32(r.addend)))
	}
	return r
}

// place returns the offset of entry i.
func (x *crelTable) place(i int64) uint64 {
	s := x.blocks[i/blockRelocs]
	c := x.c
	c.Seek(s.pos)
	for range i % blockRelocs {
		x.next(&c, &s)
	}
	return uint64(s.pos)
}
