package elfobj

import (
	"debug/elf"
	"encoding/binary"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// The call frame instructions (DWARF 5, 7.24) that Go's frames need.
const (
	dwCFANop       = 0x00
	dwCFAAdvance4  = 0x04 // advance_loc4
	dwCFAUndefined = 0x07
	dwCFASame      = 0x08 // same_value
	dwCFADefCFA    = 0x0c
	dwCFAOffsetSF  = 0x11 // offset_extended_sf
	dwCFACFAOffset = 0x13 // def_cfa_offset_sf
)

// cie returns the CIE of all frames, as Go's linker writes it (src/cmd/link/internal/ld/dwarf.go), except for the
// factor of offsets: a call leaves the return address on the stack or in a register.
func (t *goTable) cie() []byte {
	sp := uint64(0)
	for _, r := range t.arch.Regs {
		if r.Name == t.arch.SP {
			sp = r.DWARF
		}
	}
	b := t.uints(nil, 4, 0, 0xffffffff)
	b = append(b, 3, 0, 1, 1) // version; no augmentation; factors for code and data
	b = appendULEB(b, t.arch.ReturnAddress)
	b = appendULEB(append(b, dwCFADefCFA), sp)
	if t.arch.RA != "" {
		b = append(b, 0, dwCFASame)
		b = appendULEB(b, t.arch.ReturnAddress)
	} else {
		b = append(b, byte(t.arch.PtrSize), dwCFAOffsetSF)
		b = bin.AppendSLEB(appendULEB(b, t.arch.ReturnAddress), -int64(t.arch.PtrSize))
	}
	for len(b)%8 != 4 {
		b = append(b, dwCFANop)
	}
	t.order.PutUint32(b, uint32(len(b)-4))
	return b
}

// row adds the rules for a distance of the stack pointer below the return address.
func (t *goTable) row(depth int64, link, top bool) {
	b := t.frames
	switch {
	case !link:
		depth += int64(t.arch.PtrSize)
	case top:
	case depth > 0:
		b = appendULEB(append(b, dwCFAOffsetSF), t.arch.ReturnAddress)
		b = bin.AppendSLEB(b, -depth)
	default:
		b = appendULEB(append(b, dwCFASame), t.arch.ReturnAddress)
	}
	t.frames = bin.AppendSLEB(append(b, dwCFACFAOffset), depth)
}

// symbolSize returns the size of a symbol in bytes.
func (t *goTable) symbolSize() int { return int(t.f.pick(elf.Sym32Size, elf.Sym64Size)) }

// symbol adds a symbol.
func (t *goTable) symbol(name uint32, addr, size uint64) {
	const info = byte(elf.STB_LOCAL)<<4 | byte(elf.STT_FUNC)
	if t.f.Class == elf.ELFCLASS64 {
		t.symbols = t.uints(t.uints(append(t.uints(t.symbols, 4, uint64(name)), info, 0), 2, 1), 8, addr, size)
		return
	}
	t.symbols = t.uints(append(t.uints(t.symbols, 4, uint64(name), addr, size), info, 0), 2, 1)
}

// file returns the ELF file made from the table.
func (t *goTable) file() (*object.File, error) {
	f := t.f
	head := int(ehdrForm.size(f))
	sections := []elf.Section64{{}, {Type: uint32(elf.SHT_NOBITS), Flags: uint64(elf.SHF_ALLOC | elf.SHF_EXECINSTR), Addr: t.code.Addr, Size: t.code.FileSize, Addralign: 1}}
	var body, names []byte
	names = append(names, "\x00.text\x00"...)
	sections[1].Name = 1
	add := func(name string, s elf.Section64, data []byte) {
		s.Name, s.Off, s.Size, s.Addralign = uint32(len(names)), uint64(head+len(body)), uint64(len(data)), 1
		names = append(append(names, name...), 0)
		body = append(body, data...)
		sections = append(sections, s)
	}
	add(".strtab", elf.Section64{Type: uint32(elf.SHT_STRTAB)}, t.names)
	if t.symbols != nil {
		add(".symtab", elf.Section64{Type: uint32(elf.SHT_SYMTAB), Link: 2, Entsize: uint64(t.symbolSize())}, t.symbols)
	}
	if t.frames != nil {
		add(".debug_frame", elf.Section64{Type: uint32(elf.SHT_PROGBITS)}, t.frames)
	}
	names = append(names, ".shstrtab\x00"...)
	add("", elf.Section64{Type: uint32(elf.SHT_STRTAB)}, names)
	sections[len(sections)-1].Name = uint32(len(names) - len(".shstrtab\x00"))
	e := elf.Header64{Type: uint16(f.Type), Machine: uint16(f.Machine), Version: uint32(elf.EV_CURRENT), Flags: f.Flags,
		Shoff: uint64(head + len(body)), Ehsize: uint16(head), Shentsize: uint16(shdrForm.size(f)),
		Shnum: uint16(len(sections)), Shstrndx: uint16(len(sections) - 1)}
	copy(e.Ident[:], elf.ELFMAG)
	e.Ident[elf.EI_CLASS], e.Ident[elf.EI_DATA], e.Ident[elf.EI_VERSION] = byte(f.Class), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	if f.Order == binary.ByteOrder(binary.BigEndian) {
		e.Ident[elf.EI_DATA] = byte(elf.ELFDATA2MSB)
	}
	data := append(ehdrForm.append(f, make([]byte, 0, head+len(body)+1024), &e), body...)
	for i := range sections {
		data = shdrForm.append(f, data, &sections[i])
	}
	if !f.in.Held.Take(int64(len(data))) {
		return nil, t.s.errorf(0, "functions of %d bytes would exceed the limit of %d bytes in memory for a file of %d bytes", len(data), f.in.Limits.HeldBytes(f.Size), f.Size)
	}
	return f.openEmbedded(data, object.GoTable)
}

// openEmbedded opens a file contained in a section.
func (f *File) openEmbedded(data []byte, section string) (*object.File, error) {
	lim := f.in.Limits
	lim.HeldRatio, lim.DiskRatio, lim.Core = 1, 1, false
	inner, err := NewFile(object.Memory(data), int64(len(data)), f.Path+"("+section+")", lim)
	if err != nil {
		return nil, err
	}
	if err := checkKind(f, inner); err != nil {
		return nil, err
	}
	return inner.Object(), nil
}

// uints appends numbers of the given size in bytes.
func (t *goTable) uints(b []byte, size int, values ...uint64) []byte {
	var word [8]byte
	for _, v := range values {
		switch size {
		case 2:
			t.order.PutUint16(word[:], uint16(v))
		case 4:
			t.order.PutUint32(word[:], uint32(v))
		default:
			t.order.PutUint64(word[:], v)
		}
		b = append(b, word[:size]...)
	}
	return b
}

func appendULEB(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }
