package elfobj

import (
	"debug/elf"

	"github.com/symtool/symtool/internal/object"
)

// Imports implements object.Container, using the relocations of the dynamic linker. It leaves out those with an
// addend, whose words do not hold the start of a function.
func (f *File) Imports(fn func(word uint64, s *object.Symbol)) error {
	w, err := f.newSymWalk(object.Dynamic)
	if w == nil || err != nil {
		return err
	}
	types := newRelocTypes(f)
	if types == nil {
		return nil
	}
	left := f.in.Size // sections may overlap, but only up to this limit
	for _, s := range f.Sections {
		if s.Type != elf.SHT_REL && s.Type != elf.SHT_RELA || int64(s.Link) != int64(w.tab.Index) || !s.HasData() {
			continue
		}
		t := &relocTable{of: &relocations{target: s, types: types}, s: s, rela: s.Type == elf.SHT_RELA}
		if t.src, err = s.Open(); err != nil {
			return err
		}
		if left -= t.src.Size(); left < 0 {
			return s.errorf(0, "relocation sections are larger than the file")
		}
		if err := t.importedBy(w, fn); err != nil {
			return err
		}
	}
	return nil
}

// importedBy calls fn with the words of one relocation section.
func (t *relocTable) importedBy(w *symWalk, fn func(word uint64, s *object.Symbol)) error {
	t.entsize = int64(t.s.file.pick(8, 16))
	if t.rela {
		t.entsize = int64(t.s.file.pick(12, 24))
	}
	var sym object.Symbol
	return t.scan(0, t.src.Size()/t.entsize, func(_ int64, r *relocation) bool {
		off := int64(r.sym) * int64(w.entsize)
		if r.sym == 0 || r.addend != 0 || off+int64(w.entsize) > int64(len(w.data)) || !w.decode(&sym, int(off)) {
			return true
		}
		if isCode := sym.Kind == object.Function || sym.Kind == object.Untyped; isCode && len(sym.Name) > 0 {
			if w.room -= len(sym.Name); w.room < 0 {
				return false
			}
			fn(r.off, &sym)
		}
		return true
	})
}
