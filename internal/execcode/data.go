package execcode

import (
	"cmp"
	"debug/elf"
	"slices"

	elfobj "github.com/symtool/symtool/internal/object/elf"
)

// Data returns the ranges of a file's code that symbols declare to be data, by
// address, joined: objects with a size, and on ARM, arm64 and RISC-V what follows the
// mapping symbol $d (ELF for the Arm Architecture, section 5.5.5; RISC-V ELF psABI,
// "Mapping Symbol"). A stripped file has neither, so that its tables and constants
// count as code. The error is that of a damaged symbol table.
func Data(f *elfobj.File) ([]elfobj.Range, error) {
	var all []elfobj.Range
	var marks []mark
	var bad error
	for _, table := range [...]elfobj.SymTable{elfobj.SymTab, elfobj.DynSym} {
		err := f.Symbols(table, func(s *elfobj.Symbol) {
			switch {
			case s.Shndx == uint16(elf.SHN_UNDEF) || s.Shndx == uint16(elf.SHN_ABS):
			case s.Type == elf.STT_OBJECT && s.Size > 0 && s.Value+s.Size > s.Value && f.Executable(s.Value):
				all = append(all, elfobj.Range{Start: s.Value, End: s.Value + s.Size})
			case isMark(s.Name) && f.Executable(s.Value):
				marks = append(marks, mark{s.Value, s.Name[1] == 'd'})
			}
		})
		if bad == nil {
			bad = err
		}
	}
	return join(append(all, marked(f, marks)...)), bad
}

// mark is a mapping symbol.
type mark struct {
	addr uint64
	data bool
}

// isMark reports whether a name is $a, $t, $x or $d, with anything behind a dot or,
// as in $xrv64i, behind the x.
func isMark(name []byte) bool {
	if len(name) < 2 || name[0] != '$' {
		return false
	}
	switch name[1] {
	case 'x':
		return true
	case 'a', 't', 'd':
		return len(name) == 2 || name[2] == '.'
	}
	return false
}

// marked returns the data from each $d up to the next mapping symbol, or to the end of
// its executable range.
func marked(f *elfobj.File, marks []mark) (all []elfobj.Range) {
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.addr, b.addr) })
	exec := f.ExecRanges()
	for i, m := range marks {
		for exec[0].End <= m.addr {
			exec = exec[1:]
		}
		if !m.data {
			continue
		}
		end := exec[0].End
		if i+1 < len(marks) {
			end = min(end, marks[i+1].addr)
		}
		all = append(all, elfobj.Range{Start: m.addr, End: end})
	}
	return all
}

// join sorts ranges, and joins those that touch or overlap.
func join(all []elfobj.Range) []elfobj.Range {
	slices.SortFunc(all, func(a, b elfobj.Range) int { return cmp.Compare(a.Start, b.Start) })
	n := 0
	for _, r := range all {
		switch {
		case r.Start >= r.End:
		case n > 0 && r.Start <= all[n-1].End:
			all[n-1].End = max(all[n-1].End, r.End)
		default:
			all[n] = r
			n++
		}
	}
	return all[:n]
}
