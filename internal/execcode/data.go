package execcode

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/internal/object"
)

// Data returns the ranges of a file's code that are declared to be data, joined and sorted by
// address: symbols of objects with a size; on ARM, arm64 and RISC-V what follows the mapping
// symbol $d (ELF for the Arm Architecture, section 5.5.5; RISC-V ELF psABI, "Mapping Symbol"); and
// tables that a Mach-O file lists. A stripped file of another system has none of these, so its
// tables and constants count as code. Data returns an error if a table is damaged.
func Data(f *object.File) ([]object.Range, error) {
	var all []object.Range
	var marks []mark
	var bad error
	for _, table := range [...]object.Table{object.Symtab, object.Dynamic} {
		err := f.Symbols(table, func(s *object.Symbol) {
			switch {
			case s.Undefined || s.Absolute:
			case s.Kind == object.Data && s.Size > 0 && s.Addr+s.Size > s.Addr && f.Executable(s.Addr):
				all = append(all, object.Range{Start: s.Addr, End: s.Addr + s.Size})
			case isMark(s.Name) && f.Executable(s.Addr):
				marks = append(marks, mark{s.Addr, s.Name[1] == 'd'})
			}
		})
		if bad == nil {
			bad = err
		}
	}
	tables, err := f.DataInCode()
	all = append(append(all, tables...), marked(f, marks)...)
	return object.Ranges.Join(all), cmp.Or(bad, err)
}

// mark is a mapping symbol.
type mark struct {
	addr uint64
	data bool
}

// isMark reports whether a name is $a, $t, $x or $d, with anything after a dot or,
// as in $xrv64i, after the x.
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
func marked(f *object.File, marks []mark) (all []object.Range) {
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
		all = append(all, object.Range{Start: m.addr, End: end})
	}
	return all
}
