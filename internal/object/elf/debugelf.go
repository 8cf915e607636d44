package elfobj

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"math"
	"reflect"
	"slices"

	"github.com/symtool/symtool/internal/bin"
)

// form is a structure of which debug/elf has one for each class: N for ELF32
// and W for ELF64, as which it is handed around. It holds the index in W of
// each field of N.
type form[N, W any] []int

var (
	ehdrForm = newForm[elf.Header32, elf.Header64]()
	phdrForm = newForm[elf.Prog32, elf.Prog64]()
	shdrForm = newForm[elf.Section32, elf.Section64]()
	chdrForm = newForm[elf.Chdr32, elf.Chdr64]()
)

func newForm[N, W any]() (m form[N, W]) {
	n, w := reflect.TypeFor[N](), reflect.TypeFor[W]()
	for i := range n.NumField() {
		field, _ := w.FieldByName(n.Field(i).Name)
		m = append(m, field.Index[0])
	}
	return m
}

func (form[N, W]) size(f *File) uint64 {
	return f.pick(uint64(reflect.TypeFor[N]().Size()), uint64(reflect.TypeFor[W]().Size()))
}

// decode reads the structure at the beginning of data, which is not shorter. It does not
// allocate what it reads: there may be 100,000 headers.
func (m form[N, W]) decode(f *File, data []byte, w *W) {
	if f.Class == elf.ELFCLASS64 {
		binary.Decode(data, f.Order, w)
		return
	}
	var n N
	binary.Decode(data, f.Order, &n)
	from, to := reflect.ValueOf(&n).Elem(), reflect.ValueOf(w).Elem()
	for i, at := range m {
		copyField(to.Field(at), from.Field(i))
	}
}

func (m form[N, W]) append(f *File, buf []byte, w *W) []byte {
	if f.Class == elf.ELFCLASS64 {
		buf, _ = binary.Append(buf, f.Order, w)
		return buf
	}
	var n N
	from, to := reflect.ValueOf(w).Elem(), reflect.ValueOf(&n).Elem()
	for i, at := range m {
		copyField(to.Field(i), from.Field(at))
	}
	buf, _ = binary.Append(buf, f.Order, &n)
	return buf
}

func copyField(to, from reflect.Value) {
	if from.CanUint() {
		to.SetUint(from.Uint()) // of another width
	} else {
		to.Set(from)
	}
}

// view is the file as debug/elf gets it: it begins with an ELF header and
// tables that were checked, whatever the file has there. debug/elf reads no
// contents but the compression headers, of which nothing is used here.
type view struct {
	head []byte
	file io.ReaderAt
}

func (v *view) ReadAt(p []byte, off int64) (n int, err error) {
	if off < int64(len(v.head)) {
		n = copy(p, v.head[off:])
	}
	if n < len(p) {
		var rest int
		rest, err = v.file.ReadAt(p[n:], off+int64(n))
		n += rest
	}
	return n, err
}

// open has debug/elf read the file. One ELF header cannot describe more than 65,535
// segments, which cores may have: the rest is read in further passes.
func (t *tables) open() error {
	f, h := t.f, t.ehdr
	h.Ident[elf.EI_VERSION], h.Version = byte(elf.EV_CURRENT), uint32(elf.EV_CURRENT)
	h.Phentsize, h.Shentsize = uint16(phdrForm.size(f)), uint16(shdrForm.size(f))
	h.Phoff = ehdrForm.size(f)
	h.Shoff = h.Phoff + t.phnum*phdrForm.size(f)
	strtab := h.Shoff + t.shnum*shdrForm.size(f)
	if most := f.pick(math.MaxUint32, math.MaxInt64); strtab+uint64(len(t.names)) >= most {
		return f.errorf(0, "header tables of %d bytes, want less than %d", strtab, most)
	}
	h.Shstrndx = uint16(min(t.shstrndx, uint32(elf.SHN_XINDEX)))
	switch h.Shnum = uint16(t.shnum); {
	case t.shnum == 0:
		h.Shoff = 0
	case t.shnum > math.MaxUint16:
		h.Shnum = 0 // the number is in section 0
	}
	v := &view{make([]byte, h.Phoff, strtab+uint64(len(t.names))+1), f.r}
	v.head = t.appendPhdrs(v.head)
	v.head = t.appendShdrs(v.head, strtab)
	v.head = append(append(v.head, t.names...), 0)
	for left := t.phnum; ; h.Shoff, h.Shnum, h.Shstrndx = 0, 0, 0 {
		h.Phnum = uint16(min(left, math.MaxUint16))
		ehdrForm.append(f, v.head[:0], &h)
		file, err := elf.NewFile(v)
		if err != nil {
			return &bin.Error{File: f.Path, Msg: "ELF header", Err: bareError(err)}
		}
		t.take(file)
		if left -= uint64(h.Phnum); left == 0 {
			return nil
		}
		h.Phoff += uint64(h.Phnum) * uint64(h.Phentsize)
	}
}

func (t *tables) appendPhdrs(buf []byte) []byte {
	var p elf.Prog64
	for i := range t.phnum {
		phdrForm.decode(t.f, t.phdrs[i*uint64(t.ehdr.Phentsize):], &p)
		p.Off, p.Filesz = min(p.Off, math.MaxInt64), min(p.Filesz, math.MaxInt64)
		buf = phdrForm.append(t.f, buf, &p)
	}
	return buf
}

// appendShdrs appends the section headers; the name table is at strtab.
func (t *tables) appendShdrs(buf []byte, strtab uint64) []byte {
	var shown elf.Section64
	for i := range t.shnum {
		s := t.section(i)
		shown = t.shown(i, s, strtab)
		// debug/elf returns the alignment of the contents for a compressed section.
		if shown != s || shown.Flags&uint64(elf.SHF_COMPRESSED) != 0 {
			t.written[int(i)] = s
		}
		shown.Name = t.name(int(i), s.Name)
		buf = shdrForm.append(t.f, buf, &shown)
	}
	return buf
}

// shown returns section header s as debug/elf sees it, so that it rejects
// nothing, inflates nothing and finds all it needs.
func (t *tables) shown(i uint64, s elf.Section64, strtab uint64) elf.Section64 {
	size, chdr := uint64(t.f.Size), chdrForm.size(t.f)
	switch {
	case i == 0 && t.shnum > math.MaxUint16:
		return elf.Section64{Size: t.shnum, Link: t.shstrndx}
	case i == uint64(t.shstrndx) && i != 0:
		return elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: strtab, Size: uint64(len(t.names)) + 1}
	case s.Off > math.MaxInt64 || s.Size > math.MaxInt64:
		return elf.Section64{}
	case s.Size < chdr || s.Off > size || chdr > size-s.Off:
		s.Flags &^= uint64(elf.SHF_COMPRESSED)
	}
	return s
}

// take takes over the headers that debug/elf read, but those of sections in written
// from there.
func (t *tables) take(file *elf.File) {
	f := t.f
	f.OSABI, f.Type, f.Machine, f.Entry, f.Flags = file.OSABI, file.Type, file.Machine, file.Entry, t.ehdr.Flags
	f.Segments = slices.Grow(f.Segments, len(file.Progs))
	f.Sections = slices.Grow(f.Sections, len(file.Sections))
	for _, p := range file.Progs {
		f.Segments = append(f.Segments, Segment{p.Type, p.Flags, p.Off, p.Vaddr, p.Filesz, p.Memsz, p.Align})
	}
	for i, s := range file.Sections {
		h := s.SectionHeader
		if w, ok := t.written[i]; ok {
			h = asWritten(w, s.Name)
		}
		f.Sections = append(f.Sections, newSection(f, i, h))
	}
}

// asWritten gives the fields of a section header as debug/elf does.
func asWritten(s elf.Section64, name string) elf.SectionHeader {
	return elf.SectionHeader{
		Name: name, Type: elf.SectionType(s.Type), Flags: elf.SectionFlag(s.Flags), Addr: s.Addr,
		Offset: s.Off, FileSize: s.Size, Link: s.Link, Info: s.Info, Addralign: s.Addralign, Entsize: s.Entsize,
	}
}
