package elfobj

import (
	"cmp"
	"debug/elf"
	"slices"
	"sync"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// In a relocatable file (ET_REL) the contents of a section are complete only after
// its relocations (gABI chapter 4, "Relocation") are applied, which Section.Data and
// Section.Open do. In any other file the linker has applied them, and relocations
// that --emit-relocs kept are ignored.
//
// A relocation section may be twice as long as the section that it changes, so it is
// read piece by piece, with pread, for the piece of the contents that is needed.
// That requires it to be ordered by r_offset, as assemblers and "ld -r" write it;
// any other is sorted in memory, which is charged to the budget.

const (
	// maxField is the largest number of bytes that a relocation changes: a ULEB128.
	maxField = 10
	// maxAtPlace is the maximum number of relocations that may apply to one
	// byte. RISC-V uses two, an addition and a subtraction; the limit bounds the
	// work.
	maxAtPlace = 8
	// maxTables is the maximum number of relocation sections that may apply to one
	// section: one with addends and one without.
	maxTables = 2
	// blockRelocs is the number of relocations read at once.
	blockRelocs = 1024
	// relocProblems is the maximum number of bad relocations of a section that are reported.
	relocProblems = 16
)

// relocation is an entry of a relocation section.
type relocation struct {
	off    uint64 // r_offset: in the uncompressed contents
	addend uint64 // r_addend, sign-extended
	sym    uint32
	typ    uint32
}

// relocations are the relocations of one section.
type relocations struct {
	target *Section
	from   []*Section // relocation sections; most have one

	once   sync.Once
	err    error
	types  *relocTypes
	values []uint64 // of symbols, by number
	tables []*relocTable

	problems []bin.Problem
	more     int // number of problems that are not in the list
}

// findRelocations finds the relocation sections of each section.
func (f *File) findRelocations() {
	for _, r := range f.Sections {
		if r.Type != elf.SHT_REL && r.Type != elf.SHT_RELA && r.Type != shtCREL {
			continue
		}
		if uint64(r.Info) >= uint64(len(f.Sections)) {
			continue
		}
		t := f.Sections[r.Info]
		switch t.Type {
		case elf.SHT_NULL, elf.SHT_NOBITS, elf.SHT_SYMTAB, elf.SHT_STRTAB, elf.SHT_REL, elf.SHT_RELA, elf.SHT_SYMTAB_SHNDX, elf.SHT_GROUP, shtCREL:
			continue
		}
		if t.reloc == nil {
			t.reloc = &relocations{target: t}
			t.piece.Fixer = t.reloc
		}
		t.reloc.from = append(t.reloc.from, r)
	}
}

// Problems implements object.Container: it returns a problem for each relocation in the sections read so
// far that could not be applied, in order of sections and offsets, and one for each section that could
// not be placed.
func (f *File) Problems() []bin.Problem {
	out := slices.Clone(f.unplaced)
	for _, s := range f.Sections {
		if r := s.reloc; r != nil {
			out = append(out, r.reported()...)
		}
	}
	return out
}

// reported returns the problems found so far; the last one gives the number of those left out.
func (r *relocations) reported() []bin.Problem {
	out := r.problems
	if r.more > 0 {
		out = append(slices.Clone(out), bin.Problem{Err: r.target.errorf(0, "and %d more relocations that could not be applied", r.more)})
	}
	return out
}

func (r *relocations) problem(err error) {
	if len(r.problems) >= relocProblems {
		r.more++
		return
	}
	r.problems = append(r.problems, bin.Problem{Lost: "the value there", Err: err})
}

// Prepare implements object.Fixer.
func (r *relocations) Prepare() error {
	r.once.Do(func() {
		r.err = r.target.file.in.Guard(r.target.label(), r.open)
	})
	return r.err
}

func (r *relocations) open() error {
	f := r.target.file
	if r.types = newRelocTypes(f); r.types == nil {
		return r.target.errorf(0, "relocations of %v are not known", f.Machine)
	}
	if len(r.from) > maxTables {
		return r.target.errorf(0, "%d relocation sections, want at most %d", len(r.from), maxTables)
	}
	var err error
	if r.values, err = f.symbolValues(); err != nil {
		return err
	}
	for _, s := range r.from {
		t := &relocTable{of: r, s: s, rela: s.Type == elf.SHT_RELA}
		if err := t.open(); err != nil {
			return err
		}
		r.tables = append(r.tables, t)
	}
	return nil
}

// symbolValues returns the address of each symbol, or 0 for those without one.
func (f *File) symbolValues() ([]uint64, error) {
	f.valuesOnce.Do(func() { f.values, f.valuesErr = f.readSymbolValues() })
	return f.values, f.valuesErr
}

func (f *File) readSymbolValues() ([]uint64, error) {
	// The names are not read: they may be in a section that has relocations itself.
	w, err := f.newSymEntries(object.Symtab)
	if w == nil || err != nil {
		return nil, err
	}
	n := len(w.data) / w.entsize
	if !f.in.Held.Take(8 * int64(n)) {
		return nil, w.tab.errorf(0, "the values of %d symbols would exceed the limit of memory", n)
	}
	values := make([]uint64, n)
	var sym object.Symbol
	for i := 1; i < n; i++ {
		w.fields(&sym, i*w.entsize)
		if sym.Section != nil || sym.Absolute {
			values[i] = sym.Addr
		}
	}
	return values, nil
}

// Apply implements object.Fixer.
func (r *relocations) Apply(data []byte, off uint64, raw object.Source) error {
	lo, hi := off, off+uint64(len(data))
	from := lo - min(lo, maxField)
	for _, t := range r.tables {
		edge := fieldEdge{raw: raw}
		var err error
		scanErr := t.each(from, hi, func(x *relocation) bool {
			k := r.types.kind(x.typ)
			if k.Op <= arch.RelocIgnored || x.off >= uint64(r.target.Size()) || uint64(x.sym) >= uint64(max(len(r.values), 1)) {
				return true
			}
			if x.off >= lo && hi-x.off >= maxField || raw == nil {
				r.change(data[x.off-lo:], k, x, t.rela)
				return true
			}
			err = edge.change(r, k, x, t.rela, data, lo)
			return err == nil
		})
		if err = cmp.Or(scanErr, err); err != nil {
			return err
		}
	}
	return nil
}
