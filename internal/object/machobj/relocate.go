package machobj

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// In an object file, numbers in debug information that depend on a symbol lack its address until their
// relocations are applied (<mach-o/reloc.h>, <mach-o/x86_64/reloc.h>, <mach-o/arm64/reloc.h>). Numbers
// whose relocation names a section are complete: assemblers write the section's address in the object.

const (
	relocSize = 8 // bytes of a relocation
	// relocProblems is the maximum number of bad relocations reported per section.
	relocProblems = 16

	relocAbsolute  = 0 // X86_64_RELOC_UNSIGNED, ARM64_RELOC_UNSIGNED, GENERIC_RELOC_VANILLA
	relocScattered = 0x80000000
)

// subtractors holds, by CPU, the relocation type of the first of a pair, whose symbol is subtracted.
var subtractors = map[*arch.Arch]uint8{arch.X86_64: 5, arch.ARM64: 1}

// relocation is an entry that changes the contents.
type relocation struct {
	off      uint32 // offset in the section
	size     uint8  // size of the number in bytes
	add, sub int32  // indices of symbols; -1 for none
}

// fixer applies the relocations of a section. It implements object.Fixer.
type fixer struct {
	file    *File
	section *section

	once     sync.Once
	err      error
	list     []relocation // by offset
	values   []uint64     // of symbols
	problems []bin.Problem
}

// relocate sets the Fixer of a section with debug information.
func (f *File) relocate(s *section) {
	p, ok := s.Contents.(*object.Piece)
	if !ok || s.relocs.size == 0 || !p.HasData() {
		return
	}
	s.fixer = &fixer{file: f, section: s}
	p.Fixer = s.fixer
}

// reported returns the problems found so far.
func (x *fixer) reported() []bin.Problem { return x.problems }

// Prepare implements object.Fixer.
func (x *fixer) Prepare() error {
	x.once.Do(func() { x.err = x.file.in.Guard(x.section.Name, x.read) })
	return x.err
}

// read reads the relocations, and the values of symbols.
func (x *fixer) read() error {
	f := x.file
	size := int64(x.section.relocs.size) * relocSize
	if !f.in.Held.Take(2 * size) {
		return f.errorf(int64(x.section.relocs.off), "relocations of %d bytes would exceed the limit of memory for a file of %d bytes", size, f.in.Size)
	}
	defer f.in.Held.Give(2 * size)
	data, err := f.read(int64(x.section.relocs.off), size)
	if err != nil {
		return err
	}
	if err := x.readValues(); err != nil {
		return err
	}
	sub := int32(-1)
	for at := 0; at < len(data); at += relocSize {
		off, bits := f.order.Uint32(data[at:]), f.order.Uint32(data[at+4:])
		symbol, kind, extern := int32(bits&0xffffff), uint8(bits>>28), bits>>27&1 != 0
		minus, pairs := subtractors[f.cpu.arch]
		switch {
		case pairs && kind == minus && off&relocScattered == 0:
			if sub = -1; extern {
				sub = symbol
			}
		case kind == relocAbsolute && off&relocScattered == 0 && bits>>24&1 == 0:
			r := relocation{off: off, size: 1 << (bits >> 25 & 3), add: -1, sub: sub}
			if extern {
				r.add = symbol
			}
			x.add(r, at)
			sub = -1
		default:
			sub = -1 // a relocation of an instruction, or of the GOT
		}
	}
	slices.SortStableFunc(x.list, func(a, b relocation) int { return cmp.Compare(a.off, b.off) })
	return nil
}

// add adds a relocation; at is the offset of its entry.
func (x *fixer) add(r relocation, at int) {
	bad := ""
	switch n := int32(len(x.values)); {
	case r.size < 4:
		bad = fmt.Sprintf("of %d bytes, want 4 or 8", r.size)
	case r.add >= n || r.sub >= n:
		bad = fmt.Sprintf("symbol %d, the file has %d", max(r.add, r.sub), n)
	case uint64(r.off)+uint64(r.size) > x.section.FileSize:
		bad = fmt.Sprintf("at %#x, the section has %d bytes", r.off, x.section.FileSize)
	case r.add < 0 && r.sub < 0:
		return
	default:
		x.list = append(x.list, r)
		return
	}
	if len(x.problems) < relocProblems {
		err := x.file.errorf(int64(x.section.relocs.off)+int64(at), "relocation of %s: %s", x.section.Name, bad)
		x.problems = append(x.problems, bin.Problem{Lost: "the value there", Err: err})
	}
}

// readValues reads the values of all symbols.
func (x *fixer) readValues() error {
	f := x.file
	_, table, err := f.readSymbols()
	if err != nil || table == nil {
		return err
	}
	x.values = make([]uint64, f.symtab.count)
	for i := range x.values {
		if s := f.symbolAt(table, i); s.kind&stabMask == 0 && s.kind&typeMask != 0 {
			x.values[i] = s.value
		}
	}
	return nil
}

// Apply implements object.Fixer.
func (x *fixer) Apply(data []byte, off uint64, raw object.Source) error {
	const widest = 8
	from := uint64(0)
	if off > widest {
		from = off - widest
	}
	i, _ := slices.BinarySearchFunc(x.list, from, func(r relocation, at uint64) int { return cmp.Compare(uint64(r.off), at) })
	for ; i < len(x.list) && uint64(x.list[i].off) < off+uint64(len(data)); i++ {
		if err := x.apply(x.list[i], data, off, raw); err != nil {
			return err
		}
	}
	return nil
}

// apply changes one number, which may lie only partly in data.
func (x *fixer) apply(r relocation, data []byte, off uint64, raw object.Source) error {
	at := uint64(r.off)
	if at+uint64(r.size) <= off {
		return nil
	}
	field := make([]byte, r.size)
	if at >= off && at+uint64(r.size) <= off+uint64(len(data)) {
		field = data[at-off:][:r.size]
	} else {
		whole, err := raw.Bytes(int64(at), int64(r.size), nil)
		if err != nil {
			return err
		}
		copy(field, whole)
	}
	by := uint64(0)
	if r.add >= 0 {
		by += x.values[r.add]
	}
	if r.sub >= 0 {
		by -= x.values[r.sub]
	}
	if order := x.file.order; r.size == 4 {
		order.PutUint32(field, order.Uint32(field)+uint32(by))
	} else {
		order.PutUint64(field, order.Uint64(field)+by)
	}
	for i, b := range field {
		if k := at + uint64(i) - off; k < uint64(len(data)) {
			data[k] = b
		}
	}
	return nil
}
