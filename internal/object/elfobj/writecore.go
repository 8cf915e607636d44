package elfobj

import (
	"debug/elf"
	"encoding/binary"
)

// CoreHead writes the headers of a core: those before its contents and, with
// 65,535 segments or more, the section header after the contents that holds the
// number of segments (gABI chapter 5, PN_XNUM).
type CoreHead struct {
	f        *File // determines the class and the byte order
	machine  elf.Machine
	segments int
}

// CoreHeader returns the headers of a core with the given number of segments.
func CoreHeader(class elf.Class, order binary.ByteOrder, machine elf.Machine, segments int) CoreHead {
	return CoreHead{&File{Class: class, Order: order}, machine, segments}
}

// Size returns the size in bytes of the headers before the contents.
func (h CoreHead) Size() uint64 {
	return ehdrForm.size(h.f) + uint64(h.segments)*phdrForm.size(h.f)
}

func (h CoreHead) extended() bool { return h.segments >= pnXNum }

// Bytes returns the headers before the contents, which end at offset end of the
// file. len(segments) must be the number passed to CoreHeader.
func (h CoreHead) Bytes(segments []Segment, end uint64) []byte {
	e := elf.Header64{
		Type: uint16(elf.ET_CORE), Machine: uint16(h.machine), Version: uint32(elf.EV_CURRENT),
		Phoff: ehdrForm.size(h.f), Ehsize: uint16(ehdrForm.size(h.f)), Phentsize: uint16(phdrForm.size(h.f)),
		Phnum: uint16(min(h.segments, pnXNum)),
	}
	copy(e.Ident[:], elf.ELFMAG)
	e.Ident[elf.EI_CLASS], e.Ident[elf.EI_DATA], e.Ident[elf.EI_VERSION] = byte(h.f.Class), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	if h.f.Order == binary.ByteOrder(binary.BigEndian) {
		e.Ident[elf.EI_DATA] = byte(elf.ELFDATA2MSB)
	}
	if h.extended() {
		e.Shoff, e.Shnum, e.Shentsize = end, 1, uint16(shdrForm.size(h.f))
	}
	b := ehdrForm.append(h.f, nil, &e)
	for _, s := range segments {
		b = phdrForm.append(h.f, b, &elf.Prog64{Type: uint32(s.Type), Flags: uint32(s.Flags), Off: s.Offset, Vaddr: s.Addr,
			Filesz: s.FileSize, Memsz: s.MemSize, Align: s.Align})
	}
	return b
}

// Trailer returns the bytes after the contents.
func (h CoreHead) Trailer() []byte {
	if !h.extended() {
		return nil
	}
	return shdrForm.append(h.f, nil, &elf.Section64{Size: 1, Info: uint32(h.segments)})
}

// AppendNote appends a note in the form that EachNote reads, padded to 4 bytes.
func AppendNote(b []byte, order binary.ByteOrder, name string, kind uint32, desc []byte) []byte {
	var head [12]byte
	order.PutUint32(head[0:], uint32(len(name)+1))
	order.PutUint32(head[4:], uint32(len(desc)))
	order.PutUint32(head[8:], kind)
	pad := func() {
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
	}
	b = append(append(append(b, head[:]...), name...), 0)
	pad()
	b = append(b, desc...)
	pad()
	return b
}
