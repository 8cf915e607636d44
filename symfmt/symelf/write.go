package symelf

import (
	"bufio"
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// Order is a byte order.
type Order uint8

// The byte orders.
const (
	// Auto selects the order in which MODULE's id matches INFO CODE_ID if the CPU
	// has both orders, otherwise the CPU's usual one: big-endian for ppc and s390x,
	// little-endian for all others, including mips and ppc64.
	Auto Order = iota
	Little
	Big
)

// Options control what a file contains.
type Options struct {
	// Base is the address of RVA 0, a multiple of 4096. The file has type ET_DYN
	// if it is 0, otherwise ET_EXEC.
	Base uint64

	// NoDWARF leaves out lines and inlined functions: .debug_* sections.
	NoDWARF bool

	// NoCFI leaves out .eh_frame.
	NoCFI bool

	Order Order
}

// Write writes m as an ELF file. The error comes from w, or says why m has no
// ELF form: its CPU is unknown, or a section is larger than 4 GB.
func Write(w io.Writer, m *symfmt.Module, o Options) error {
	b, err := newWriter(m, o)
	if err != nil {
		return err
	}
	if err := b.build(); err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	if err := b.file.writeTo(out); err != nil {
		return err
	}
	return out.Flush()
}

// writer makes one file.
type writer struct {
	m     *symfmt.Module
	o     Options
	arch  *arch.Arch
	order byteOrder
	space space
	code  []region // all
	text  []region // regions with a section

	file    file
	strings stringTable
	funcs   []uint32 // in canonical order
	publics []uint32
	frames  *frameBuilder
}

func newWriter(m *symfmt.Module, o Options) (*writer, error) {
	a := arch.ByName(m.Arch)
	if a == nil {
		return nil, fmt.Errorf("MODULE's CPU %q has no known ELF machine", m.Arch)
	}
	b := &writer{m: m, o: o, arch: a, order: orderOf(m, a, o)}
	b.space = space{base: o.Base, last: math.MaxUint64}
	if a.PtrSize == 4 {
		b.space.last = math.MaxUint32
	}
	if o.Base%pageSize != 0 || o.Base > b.space.last-(pageSize-1) {
		return nil, fmt.Errorf("base address %#x is not at a page of the CPU %s", o.Base, a.Name)
	}
	b.space.last-- // so that the end of all code is an address, too
	b.code = regions(m, b.space)
	b.text = b.code[:min(len(b.code), mostRegions)]
	b.space.far = b.space.isFar(b.code)
	flags := a.ELFFlags
	if a == arch.PPC64 && b.order.Uint16([]byte{0, 1}) == 1 {
		flags = 0
	}
	b.file = file{class: a.Class, machine: a.Machine, kind: elf.ET_DYN, order: b.order, flags: flags}
	if o.Base != 0 {
		b.file.kind = elf.ET_EXEC
	}
	return b, nil
}

// newBuffer returns an empty section.
func (b *writer) newBuffer() buffer { return buffer{order: b.order, ptr: b.arch.PtrSize} }

func (b *writer) build() error {
	b.sort()
	if !b.o.NoCFI {
		b.frames = newFrameBuilder(b.m, b.arch, b.order, b.space)
		b.frames.build()
	}
	alloc := b.allocated()
	b.codeSections()
	if err := b.symbolTable(); err != nil {
		return err
	}
	return b.placeAllocated(alloc)
}

// sort puts FUNCs and PUBLICs in canonical order, as far as the order matters
// here.
func (b *writer) sort() {
	b.funcs = orderBy(len(b.m.Funcs), func(i, j uint32) int {
		x, y := &b.m.Funcs[i], &b.m.Funcs[j]
		return cmp.Or(cmp.Compare(x.RVA, y.RVA), cmp.Compare(x.Size, y.Size))
	})
	b.publics = orderBy(len(b.m.Publics), func(i, j uint32) int {
		return cmp.Compare(b.m.Publics[i].RVA, b.m.Publics[j].RVA)
	})
}

// orderBy returns the numbers below n, sorted stably.
func orderBy(n int, compare func(i, j uint32) int) []uint32 {
	order := make([]uint32, n)
	sorted := true
	for i := range order {
		order[i] = uint32(i)
		sorted = sorted && (i == 0 || compare(uint32(i-1), uint32(i)) <= 0)
	}
	if !sorted {
		slices.SortStableFunc(order, compare)
	}
	return order
}

// codeSections adds a section for each region of code.
func (b *writer) codeSections() {
	for i, r := range b.text {
		name := ".text"
		if i > 0 {
			name = fmt.Sprintf(".text.%d", i)
		}
		b.file.add(&section{
			name: name, kind: elf.SHT_NOBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR,
			addr: b.space.base + r.start, size: r.end - r.start, align: 1,
		})
	}
}

// allocated holds the sections that have an address and are not code.
type allocated struct{ note, header, frame *section }

func (b *writer) allocated() (a allocated) {
	if id := buildID(b.m, b.order); id != nil {
		w := b.newBuffer()
		w.u32(4)
		w.u32(uint32(len(id)))
		w.u32(3) // NT_GNU_BUILD_ID
		w.bytes([]byte("GNU\x00"))
		w.bytes(id)
		w.align(4)
		a.note = &section{name: ".note.gnu.build-id", kind: elf.SHT_NOTE, flags: elf.SHF_ALLOC, align: 4, data: [][]byte{w.b}}
		b.file.add(a.note)
	}
	if b.frames == nil || len(b.frames.fdes) == 0 {
		return a
	}
	if n := b.frames.headerSize(); n > 0 {
		a.header = &section{name: ".eh_frame_hdr", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, align: 4, data: [][]byte{make([]byte, n)}}
		b.file.add(a.header)
	}
	a.frame = &section{name: ".eh_frame", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, align: uint64(b.arch.PtrSize), data: [][]byte{b.frames.w.b}}
	b.file.add(a.frame)
	return a
}

// symbolTable adds .symtab and .strtab, preceded by DWARF.
func (b *writer) symbolTable() error {
	b.strings.add("")
	_, _, _, size := b.file.sizes()
	first := uint32(len(b.file.sections)-len(b.text)) + 1
	t := symbols{w: b.newBuffer(), strings: &b.strings, space: b.space, code: b.text, first: first}
	t.null(size)
	for _, i := range b.funcs {
		if f := &b.m.Funcs[i]; b.space.holds(f.RVA, f.Size) {
			t.add(f.RVA, f.Size, f.Name)
		}
	}
	for _, i := range b.publics {
		if p := &b.m.Publics[i]; b.space.holds(p.RVA, 0) {
			t.add(p.RVA, 0, p.Name)
		}
	}
	names := len(b.strings.b)
	if !b.o.NoDWARF {
		b.debugSections()
	}
	// .debug_str begins with the names of .symtab: strtab is that part.
	strtab := b.strings.b[:names:names]
	n := b.file.add(&section{name: ".symtab", kind: elf.SHT_SYMTAB, align: uint64(b.arch.PtrSize), entry: uint64(size),
		link: uint32(len(b.file.sections)) + 2, info: 1, data: [][]byte{t.w.b}})
	b.file.sections[n-1].link = n + 1
	b.file.add(&section{name: ".strtab", kind: elf.SHT_STRTAB, align: 1, data: [][]byte{strtab}})
	for _, s := range b.file.sections {
		if s.kind != elf.SHT_NOBITS && s.bytes() > math.MaxUint32 {
			return errTooLarge(s.name, s.bytes())
		}
	}
	return nil
}

// debugSections adds DWARF.
func (b *writer) debugSections() {
	kept := described(b.m.Funcs, b.funcs, b.space)
	if len(kept) == 0 {
		return
	}
	d := newDebugInfo(b.m, b.space, &b.strings, b.newBuffer())
	d.build(kept)
	add := func(name string, data []byte, flags elf.SectionFlag) {
		entry := uint64(0)
		if flags&elf.SHF_STRINGS != 0 {
			entry = 1
		}
		b.file.add(&section{name: name, kind: elf.SHT_PROGBITS, flags: flags, align: 1, entry: entry, data: [][]byte{data}})
	}
	const text = elf.SHF_MERGE | elf.SHF_STRINGS
	add(".debug_aranges", d.aranges.b, 0)
	add(".debug_info", d.info.b, 0)
	add(".debug_abbrev", abbreviations(), 0)
	if len(d.line.b) > 0 {
		add(".debug_line", d.line.b, 0)
	}
	add(".debug_str", b.strings.b, text)
	add(".debug_line_str", d.lineStr.b, text)
	add(".debug_rnglists", d.ranges.b, 0)
}

// placeAllocated assigns addresses to all sections but code, and makes the segments.
func (b *writer) placeAllocated(a allocated) error {
	ehdr, phdr, _, _ := b.file.sizes()
	own := len(b.code) == 0 || b.code[0].start >= pageSize // headers get a page of their own
	n := len(b.text)
	if own {
		n++
	}
	loads := 0
	for _, s := range []*section{a.note, a.header, a.frame} {
		if s != nil {
			loads = 1
		}
	}
	n += loads
	if a.note != nil {
		n++
	}
	if a.header != nil {
		n++
	}
	headers := uint64(ehdr + phdr*n)
	b.file.place(headers)
	if own {
		b.segment(elf.PT_LOAD, elf.PF_R, segment{addr: b.space.base, fileSize: headers, size: headers, align: pageSize})
	}
	for _, r := range b.text {
		at := b.space.base + r.start
		b.segment(elf.PT_LOAD, elf.PF_R|elf.PF_X, segment{offset: at % pageSize, addr: at, size: r.end - r.start, align: pageSize})
	}
	if loads == 0 {
		return nil
	}
	if err := b.placeData(a); err != nil {
		return err
	}
	slices.SortStableFunc(b.file.segments, func(x, y segment) int { return cmp.Compare(x.addr, y.addr) })
	if s := a.note; s != nil {
		b.segment(elf.PT_NOTE, elf.PF_R, segment{offset: s.offset, addr: s.addr, fileSize: s.bytes(), size: s.bytes(), align: 4})
	}
	if s := a.header; s != nil {
		b.segment(elf.PT_GNU_EH_FRAME, elf.PF_R, segment{offset: s.offset, addr: s.addr, fileSize: s.bytes(), size: s.bytes(), align: 4})
	}
	return nil
}

func (b *writer) segment(kind elf.ProgType, flags elf.ProgFlag, s segment) {
	s.kind, s.flags = kind, flags
	b.file.segments = append(b.file.segments, s)
}

// placeData gives the build id and .eh_frame their addresses.
func (b *writer) placeData(a allocated) error {
	var first, last *section
	for _, s := range []*section{a.note, a.header, a.frame} {
		if s == nil {
			continue
		}
		if first == nil {
			first = s
		}
		last = s
	}
	start, end := first.offset, last.offset+last.bytes()
	at, err := b.space.roomFor(b.code, start%pageSize+end-start)
	if err != nil {
		return err
	}
	addr := b.space.base + at + start%pageSize
	for _, s := range []*section{a.note, a.header, a.frame} {
		if s != nil {
			s.addr = addr + s.offset - start
		}
	}
	b.segment(elf.PT_LOAD, elf.PF_R, segment{offset: start, addr: addr, fileSize: end - start, size: end - start, align: pageSize})
	if a.frame != nil {
		b.frames.place(a.frame.addr, b.space.base)
	}
	if a.header != nil {
		a.header.data[0] = b.frames.header(a.header.addr, a.frame.addr, b.space.base)
	}
	return nil
}
