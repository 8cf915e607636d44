package elfobj

import (
	"bytes"
	"debug/elf"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/text"
)

// maxSOName is the maximum length of a name: no file system allows longer file
// names.
const maxSOName = 255

// Name implements object.Container: it returns the name that a library gives itself, DT_SONAME, without
// folders. It returns "" if there is none, or if the file lacks the contents of its dynamic section, as
// separate debug files do. Breakpad's client, rust-minidump's and the dump_syms of both name a module
// by it, executables too (TestSOName).
//
// It returns a *bin.Error if the name is present but cannot be read.
func (f *File) Name() (string, error) {
	dynamic := f.dynamic()
	if dynamic == nil || f.Type == elf.ET_REL {
		return "", nil
	}
	at, table, ok, err := f.findSOName(dynamic)
	if !ok || err != nil {
		return "", err
	}
	names, err := f.dynamicNames(dynamic, table)
	if err != nil {
		return "", err
	}
	name, err := names.cstring(at, maxSOName)
	if err != nil {
		return "", err
	}
	base := text.Base(name)
	if base == "" || base == "." || base == ".." || !text.IsPrintable(base) || base != strings.TrimSpace(base) {
		return "", names.errorf(at, "DT_SONAME is %q, want the name of a file", name)
	}
	return base, nil
}

// NameLost reports whether the file is the separate debug file of a library, whose
// dynamic section is only in the library. An executable has an interpreter, and
// hardly ever a DT_SONAME.
func (f *File) NameLost() bool {
	lost := false
	for _, s := range f.Sections {
		if s.Name == ".interp" || s.Type == elf.SHT_DYNAMIC {
			return false
		}
		lost = lost || s.Name == ".dynamic"
	}
	return lost && f.Type == elf.ET_DYN
}

// dynamic returns the dynamic section, or nil if the file lacks its contents. Program
// headers are used only if there are no sections: those in a separate debug file are
// copies of the binary's, and their offsets are meaningless there.
func (f *File) dynamic() *Section {
	if f.HasSections() {
		if s := f.sectionOfType(elf.SHT_DYNAMIC); s != nil && s.HasData() {
			return s
		}
		return nil
	}
	for _, p := range f.SegmentsOf(elf.PT_DYNAMIC) {
		return f.SectionOf(p, ".dynamic", elf.SHT_DYNAMIC)
	}
	return nil
}

// findSOName returns the offset of the name in the string table, and the address
// of the string table.
func (f *File) findSOName(dynamic *Section) (at, table uint64, ok bool, err error) {
	data, err := dynamic.Data()
	if err != nil {
		return 0, 0, false, err
	}
	defer dynamic.Release()
	c := bin.New(dynamic.Name, data, f.Order)
	word := int(f.pick(4, 8))
	for c.Len() >= 2*word {
		tag, value := elf.DynTag(c.Uint(word)), c.Uint(word)
		switch {
		case tag == elf.DT_NULL:
			return at, table, ok, nil
		case tag == elf.DT_SONAME && !ok:
			at, ok = value, true
		case tag == elf.DT_STRTAB:
			table = value
		}
	}
	return at, table, ok, nil
}

// dynamicNames returns the string table of the dynamic section.
func (f *File) dynamicNames(dynamic *Section, addr uint64) (*Section, error) {
	if i := int64(dynamic.Link); i > 0 && i < int64(len(f.Sections)) && f.Sections[i].Type == elf.SHT_STRTAB {
		return f.Sections[i], nil
	}
	p, ok := f.LoadedFrom(addr)
	if !ok {
		return nil, dynamic.errorf(0, "DT_STRTAB: no segment has bytes at %#x", addr)
	}
	return f.SectionOf(p, ".dynstr", elf.SHT_STRTAB), nil
}

// cstring reads a string of at most n bytes at an offset, without reading the rest: a
// string table may be megabytes long.
func (s *Section) cstring(off uint64, n int) (string, error) {
	switch {
	case s.piece.Damage() != nil:
		return "", s.piece.Damage()
	case s.Compression() != "":
		return "", s.errorf(off, "compressed, want plain contents: no loader reads it")
	case off >= uint64(s.Size()):
		return "", s.errorf(off, "string outside the section's %#x bytes", s.Size())
	}
	text := make([]byte, min(uint64(n)+1, uint64(s.Size())-off))
	if err := s.piece.ReadAt(text, int64(off)); err != nil {
		return "", err
	}
	end := bytes.IndexByte(text, 0)
	if end < 0 {
		return "", s.errorf(off, "string has no end within %d bytes", len(text))
	}
	return string(text[:end]), nil
}
