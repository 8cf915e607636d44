package walk

import (
	"bytes"
	"debug/elf"
	"slices"

	elfobj "github.com/symtool/symtool/internal/object/elf"
	"github.com/symtool/symtool/walk/dump"
)

// maxImage limits the files that are taken from a dump's memory: they are kept with their module's
// symbols. The vdso, for which this is meant, has two pages.
const maxImage = 4 << 20

// imageHead is how much of a file must contain its program headers.
const imageHead = 4096

// imageOf returns the file of a module if all of it is in the dump's memory as it is in the file,
// with the section headers, which come last. That holds for the vdso, which the kernel maps into
// processes unchanged. It is nil otherwise, or if the build-id is another file's. It does not refer
// to the dump.
func imageOf(d *dump.Dump, m *dump.Module) []byte {
	lim := elfobj.DefaultLimits()
	lim.Image = true
	head := openImage(d.Memory.Bytes(m.Addr, imageHead), m.Path, lim)
	if head == nil || head.TableEnd == 0 || head.TableEnd > maxImage || !isFlat(head) {
		return nil
	}
	data := d.Memory.Bytes(m.Addr, int(head.TableEnd))
	f := openImage(data, m.Path, elfobj.DefaultLimits())
	if f == nil || !f.HasSections() || len(f.Problems) > 0 {
		return nil
	}
	if id := f.BuildID(); len(m.BuildID) > 0 && !bytes.Equal(id, m.BuildID) {
		return nil
	}
	return slices.Clone(data)
}

// InDump reports whether a module's file is in the dump itself, as the vdso's mostly is, so that
// nothing else is needed for its symbols.
func InDump(d *dump.Dump, m *dump.Module) bool { return imageOf(d, m) != nil }

func openImage(data []byte, path string, lim elfobj.Limits) *elfobj.File {
	if !bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		return nil
	}
	f, err := elfobj.NewFile(bytes.NewReader(data), int64(len(data)), path, lim)
	if err != nil {
		return nil
	}
	return f
}

// isFlat reports whether the offsets of a file are those of its memory, and the process could not
// write there. Behind writable data the kernel puts zeros up to the end of the page, over whatever
// the file has there.
func isFlat(f *elfobj.File) bool {
	base, loads := f.HeaderAddr(), 0
	for _, p := range f.Segments {
		if p.Type != elf.PT_LOAD {
			continue
		}
		if loads++; p.Addr-base != p.Offset || p.Flags&elf.PF_W != 0 {
			return false
		}
	}
	return loads > 0
}
