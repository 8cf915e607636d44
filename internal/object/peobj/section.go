package peobj

import (
	"bytes"
	"debug/pe"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// section is a section header with access to the section's contents.
type section struct {
	object.Section

	rva    uint32
	offset uint32 // in the file
	raw    uint32 // bytes of the section that are in the file
	flags  uint32
}

// newSection decodes a section header.
func (f *File) newSection(index int, h []byte) *section {
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(h[at:]) }
	s := &section{rva: u32(12), offset: u32(20), raw: u32(16), flags: u32(36)}
	memory := u32(8)
	if memory == 0 {
		memory = s.raw // old linkers write 0
	}
	s.raw = min(s.raw, memory)
	name, err := f.sectionName(h[:8])
	if err != nil {
		f.problems = append(f.problems, bin.Problem{Lost: fmt.Sprintf("name of section %d", index+1), Err: err})
	}
	s.Section = object.Section{
		Name: name, Addr: f.imageBase + uint64(s.rva), FileSize: uint64(memory), MemSize: uint64(memory),
		Exec: s.flags&(pe.IMAGE_SCN_MEM_EXECUTE|pe.IMAGE_SCN_CNT_CODE) != 0,
	}
	// Drivers also discard code, once it is no longer needed after initialization.
	s.Alloc = s.Exec || s.flags&pe.IMAGE_SCN_MEM_DISCARDABLE == 0
	s.Contents = f.contents(s)
	if s.HasData() {
		s.FileSize = uint64(s.raw)
	}
	return s
}

// contents returns a section's bytes. In debug files of "objcopy --only-keep-debug", code has a size
// but no offset.
func (f *File) contents(s *section) object.Contents {
	if s.offset == 0 || s.raw == 0 || s.flags&pe.IMAGE_SCN_CNT_UNINITIALIZED_DATA != 0 {
		return object.AbsentPiece(f.in, s.Name, "has no bytes in this file")
	}
	p := object.NewPiece(f.in, s.Name, uint64(s.offset), uint64(s.raw))
	if strings.HasPrefix(s.Name, ".zdebug_") { // written by Go's linker
		p.ReadGNUHeader()
	}
	return p
}

// sectionName returns a section's name. The field contains 8 bytes of name, or /N or //BASE64 for a
// name at an offset of the string table after the COFF symbols.
func (f *File) sectionName(field []byte) (string, error) {
	name := string(bytes.TrimRight(field, "\x00"))
	if !strings.HasPrefix(name, "/") {
		return name, nil
	}
	var at uint64
	if digits, ok := strings.CutPrefix(name, "//"); ok {
		b, err := base64.RawStdEncoding.DecodeString(strings.Repeat("A", (8-len(digits))%8) + digits)
		if err != nil {
			return name, f.in.Errorf(0, "section name %q: want // and 6 digits of base 64", name)
		}
		for _, c := range b {
			at = at<<8 | uint64(c)
		}
	} else {
		var err error
		if at, err = strconv.ParseUint(name[1:], 10, 32); err != nil {
			return name, f.in.Errorf(0, "section name %q: want / and an offset in the string table", name)
		}
	}
	long, err := f.stringAt(at)
	if err != nil {
		return name, err
	}
	return long, nil
}

// maxSectionName is the maximum length of a section name.
const maxSectionName = 256

// stringAt returns a string of the string table after the COFF symbols.
func (f *File) stringAt(at uint64) (string, error) {
	table := f.stringTable()
	if table == 0 || at < 4 || at > uint64(f.in.Size) || table > f.in.Size-int64(at) {
		return "", f.in.Errorf(uint64(table), "name at %#x: beyond the string table", at)
	}
	start := table + int64(at)
	data, err := f.in.Read(start, min(maxSectionName, f.in.Size-start))
	if err != nil {
		return "", err
	}
	n := bytes.IndexByte(data, 0)
	if n < 0 {
		return "", f.in.Errorf(uint64(start), "name at %#x has no end in %d bytes", at, len(data))
	}
	return string(data[:n]), nil
}

// stringTable returns the offset of the string table, or 0 if there are no COFF symbols.
func (f *File) stringTable() int64 {
	h := &f.header
	if h.PointerToSymbolTable == 0 {
		return 0
	}
	return int64(h.PointerToSymbolTable) + coffSymbolSize*int64(h.NumberOfSymbols)
}
