package walk

import (
	"bytes"
	"slices"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/walk/dump"
)

// maxImage limits the size of files that are taken from a dump's memory, because they are kept with
// their module's symbols. The vdso, for which this is meant, has two pages.
const maxImage = 4 << 20

// imageHead is the length in bytes of the part at the start of a file that must contain its program
// headers.
const imageHead = 4096

// imageOf returns the file of a module if the dump's memory contains all of it, unchanged, up to
// the section headers, which come last. That holds for the vdso, which the kernel maps into
// processes unchanged. Otherwise, or if the build-id is another file's, it returns nil. The result
// does not refer to the dump.
func imageOf(d *dump.Dump, m *dump.Module) []byte {
	lim := object.DefaultLimits()
	lim.Image = true
	head := openImage(d.Memory.Bytes(m.Addr, imageHead), m.Path, lim)
	if head == nil || head.TableEnd == 0 || head.TableEnd > maxImage || !head.IsFlat() {
		return nil
	}
	data := d.Memory.Bytes(m.Addr, int(head.TableEnd))
	f := openImage(data, m.Path, object.DefaultLimits())
	if f == nil || !f.HasSections() || len(f.Damaged) > 0 {
		return nil
	}
	if id := f.BuildID(); len(m.BuildID) > 0 && !bytes.Equal(id, m.BuildID) {
		return nil
	}
	return slices.Clone(data)
}

// InDump reports whether the dump itself contains a module's file, as it usually does for the vdso,
// so that the module's symbols need nothing else.
func InDump(d *dump.Dump, m *dump.Module) bool { return imageOf(d, m) != nil }

func openImage(data []byte, path string, lim object.Limits) *elfobj.File {
	f, err := elfobj.NewFile(bytes.NewReader(data), int64(len(data)), path, lim)
	if err != nil {
		return nil
	}
	return f
}
