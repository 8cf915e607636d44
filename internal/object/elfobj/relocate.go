package elfobj

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"
	"sort"
	"sync"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// In a relocatable file (ET_REL) the contents of a section are complete only after
// its relocations (gABI chapter 4, "Relocation") are applied, which Section.Data and
// Section.Open do. In any other file the linker has applied them, and relocations
// that --emit-relocs kept are ignored.
//
// A relocation section may be twice as long as the section that it changes, so it is
// read piece by piece, with pread, for the piece of the contents that is needed. For
// that it has to be in order of r_offset, as assemblers and "ld -r" write it; any
// other is sorted in memory, which is charged to the budget.

const (
	// maxField is the largest number of bytes that a relocation changes: a ULEB128.
	maxField = 10
	// maxAtPlace is how many relocations may apply to one byte. RISC-V uses two,
	// an addition and a subtraction; the limit bounds the work.
	maxAtPlace = 8
	// maxTables is how many relocation sections may apply to one section: one with
	// addends and one without.
	maxTables = 2
	// blockRelocs is how many relocations are read at once.
	blockRelocs = 1024
	// relocProblems is how many bad relocations of a section are reported.
	relocProblems = 16
)

// relocation is an entry of a relocation section.
type relocation struct {
	off    uint64 // r_offset: in the contents, uncompressed
	addend uint64 // r_addend, sign-extended
	sym    uint32
	typ    uint32
}

// relocations are the relocations of one section.
type relocations struct {
	target *Section
	from   []*Section // relocation sections; most have one

	once   sync.Once
	err    error
	types  *relocTypes
	values []uint64 // of symbols, by number
	tables []*relocTable

	problems []bin.Problem
	more     int // problems that are not in the list
}

// findRelocations finds each section's relocation sections.
func (f *File) findRelocations() {
	for _, r := range f.Sections {
		if r.Type != elf.SHT_REL && r.Type != elf.SHT_RELA && r.Type != shtCREL {
			continue
		}
		if uint64(r.Info) >= uint64(len(f.Sections)) {
			continue
		}
		t := f.Sections[r.Info]
		switch t.Type {
		case elf.SHT_NULL, elf.SHT_NOBITS, elf.SHT_SYMTAB, elf.SHT_STRTAB, elf.SHT_REL, elf.SHT_RELA, elf.SHT_SYMTAB_SHNDX, elf.SHT_GROUP, shtCREL:
			continue
		}
		if t.reloc == nil {
			t.reloc = &relocations{target: t}
			t.piece.Fixer = t.reloc
		}
		t.reloc.from = append(t.reloc.from, r)
	}
}

// RelocationProblems returns a problem for each relocation of the sections read so
// far that could not be applied, in order of sections and offsets, and for each
// section without a place.
func (f *File) RelocationProblems() []bin.Problem {
	out := slices.Clone(f.unplaced)
	for _, s := range f.Sections {
		if r := s.reloc; r != nil {
			out = append(out, r.reported()...)
		}
	}
	return out
}

// reported returns the problems found so far, with the number of those left out.
func (r *relocations) reported() []bin.Problem {
	out := r.problems
	if r.more > 0 {
		out = append(slices.Clone(out), bin.Problem{Err: r.target.errorf(0, "and %d more relocations that could not be applied", r.more)})
	}
	return out
}

func (r *relocations) problem(err error) {
	if len(r.problems) >= relocProblems {
		r.more++
		return
	}
	r.problems = append(r.problems, bin.Problem{Lost: "the value there", Err: err})
}

// Prepare implements object.Fixer.
func (r *relocations) Prepare() error {
	r.once.Do(func() {
		r.err = r.target.file.in.Guard(r.target.label(), r.open)
	})
	return r.err
}

func (r *relocations) open() error {
	f := r.target.file
	if r.types = newRelocTypes(f); r.types == nil {
		return r.target.errorf(0, "relocations of %v are not known", f.Machine)
	}
	if len(r.from) > maxTables {
		return r.target.errorf(0, "%d relocation sections, want at most %d", len(r.from), maxTables)
	}
	var err error
	if r.values, err = f.symbolValues(); err != nil {
		return err
	}
	for _, s := range r.from {
		t := &relocTable{of: r, s: s, rela: s.Type == elf.SHT_RELA}
		if err := t.open(); err != nil {
			return err
		}
		r.tables = append(r.tables, t)
	}
	return nil
}

// symbolValues returns the address of each symbol, 0 if it has none.
func (f *File) symbolValues() ([]uint64, error) {
	f.valuesOnce.Do(func() { f.values, f.valuesErr = f.readSymbolValues() })
	return f.values, f.valuesErr
}

func (f *File) readSymbolValues() ([]uint64, error) {
	// The names are not read: they may be in a section that has relocations itself.
	w, err := f.newSymEntries(object.Symtab)
	if w == nil || err != nil {
		return nil, err
	}
	n := len(w.data) / w.entsize
	if !f.in.Held.Take(8 * int64(n)) {
		return nil, w.tab.errorf(0, "the values of %d symbols would exceed the limit of memory", n)
	}
	values := make([]uint64, n)
	var sym Symbol
	for i := 1; i < n; i++ {
		w.fields(&sym, i*w.entsize)
		if sym.Section != nil || elf.SectionIndex(sym.Shndx) == elf.SHN_ABS {
			values[i] = sym.Value
		}
	}
	return values, nil
}

// relocTable is one relocation section.
type relocTable struct {
	of      *relocations
	s       *Section
	src     object.Source
	crel    *crelTable // of SHT_CREL, else nil
	rela    bool
	entsize int64
	n       int64
	firsts  []uint64     // r_offset of each blockRelocs-th entry
	sorted  []relocation // all of them, when the section is not in order
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

// check determines whether the entries are in order, and reports those that cannot
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

// crowd finds the place with the most relocations, which come in order.
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

// judge reports r if it cannot be applied.
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
	const size = 24 // bytes of a relocation
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

// scan calls fn with the entries first, which begins a block, to last-1, in the order
// of the section, until fn returns false.
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
	// Start with the block before the first one that begins at lo or after it.
	first := sort.Search(len(t.firsts), func(i int) bool { return t.firsts[i] >= lo })
	return t.scan(int64(max(first-1, 0))*blockRelocs, t.n, func(_ int64, r *relocation) bool {
		return r.off < hi && (r.off < lo || fn(r))
	})
}

// Apply implements object.Fixer.
func (r *relocations) Apply(data []byte, off uint64, raw object.Source) error {
	lo, hi := off, off+uint64(len(data))
	from := lo - min(lo, maxField)
	for _, t := range r.tables {
		edge := fieldEdge{raw: raw}
		var err error
		scanErr := t.each(from, hi, func(x *relocation) bool {
			k := r.types.kind(x.typ)
			if k.Op <= arch.RelocIgnored || x.off >= uint64(r.target.Size()) || uint64(x.sym) >= uint64(max(len(r.values), 1)) {
				return true
			}
			if x.off >= lo && hi-x.off >= maxField || raw == nil {
				r.change(data[x.off-lo:], k, x, t.rela)
				return true
			}
			err = edge.change(r, k, x, t.rela, data, lo)
			return err == nil
		})
		if err = cmp.Or(scanErr, err); err != nil {
			return err
		}
	}
	return nil
}

// fieldEdge applies relocations to fields that may begin before or end after the
// piece that is read. It keeps the field between several relocations that apply to it.
type fieldEdge struct {
	raw   object.Source
	off   uint64
	field []byte
	buf   [maxField]byte
}

func (e *fieldEdge) change(r *relocations, k arch.Reloc, x *relocation, rela bool, data []byte, lo uint64) error {
	if e.field == nil || e.off != x.off {
		b, err := e.raw.Bytes(int64(x.off), int64(min(maxField, uint64(r.target.Size())-x.off)), e.buf[:])
		if err != nil {
			return err
		}
		e.off, e.field = x.off, b
	}
	r.change(e.field, k, x, rela)
	width := len(e.field)
	if k.Size > 0 {
		width = min(width, int(k.Size))
	}
	field, to := e.field[:width], data
	if x.off < lo {
		field = field[min(lo-x.off, uint64(len(field))):]
	} else {
		to = data[x.off-lo:]
	}
	copy(to, field)
	return nil
}

// change applies one relocation to the field at the beginning of b.
func (r *relocations) change(b []byte, k arch.Reloc, x *relocation, rela bool) {
	if len(b) < int(k.Size) {
		return
	}
	order, size := r.target.file.Order, int(k.Size)
	value := x.addend
	if uint64(x.sym) < uint64(len(r.values)) {
		value += r.values[x.sym]
	}
	switch k.Op {
	case arch.RelocSetULEB, arch.RelocSubULEB:
		changeULEB(b, k.Op == arch.RelocSubULEB, value)
		return
	}
	old := getField(order, b, size)
	if !rela && k.Op != arch.RelocAdd && k.Op != arch.RelocSub {
		value += old
	}
	switch k.Op {
	case arch.RelocPC:
		value -= r.target.Addr + x.off
	case arch.RelocPC31:
		value = (value-r.target.Addr-x.off)&0x7fffffff | old&0x80000000
	case arch.RelocAdd:
		value = old + value
	case arch.RelocSub:
		value = old - value
	case arch.RelocSet6:
		value = old&^0x3f | value&0x3f
	case arch.RelocSub6:
		value = old&^0x3f | (old-value)&0x3f
	}
	putField(order, b, size, value)
}

// changeULEB replaces the ULEB128 at the beginning of b by one of the same length. A
// value that is too large is truncated: a subtraction that makes it fit follows.
func changeULEB(b []byte, sub bool, value uint64) {
	n, old := 0, uint64(0)
	for {
		if n == len(b) || n == maxField {
			return
		}
		old |= uint64(b[n]&0x7f) << (7 * n)
		n++
		if b[n-1]&0x80 == 0 {
			break
		}
	}
	if sub {
		value = old - value
	}
	for i := range b[:n] {
		b[i] = b[i]&0x80 | byte(value)&0x7f
		value >>= 7
	}
}

func getField(order binary.ByteOrder, b []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(order.Uint16(b))
	case 4:
		return uint64(order.Uint32(b))
	}
	return order.Uint64(b)
}

func putField(order binary.ByteOrder, b []byte, size int, v uint64) {
	switch size {
	case 1:
		b[0] = byte(v)
	case 2:
		order.PutUint16(b, uint16(v))
	case 4:
		order.PutUint32(b, uint32(v))
	default:
		order.PutUint64(b, v)
	}
}
