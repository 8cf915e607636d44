package callframe

import (
	"fmt"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// addIndex adds ARM's index tables (a kernel has several) or the exception directory of a Windows binary.
func addIndex(in *unwind.Input, files []object.Companion) (problems []bin.Problem) {
	if problems = addCompact(in, files[0]); in.Compact {
		return problems
	}
	if problems = addPdata(in, files[0]); in.Pdata || in.Arch != arch.ARM {
		return problems
	}
	for _, file := range files {
		if file.Moved != 0 {
			continue // its tables refer to where the code was
		}
		for _, s := range indexesOf(file.File) {
			data, err := s.Data()
			if err != nil {
				problems = append(problems, bin.Problem{Lost: s.Name, Err: err})
				continue
			}
			in.Index = append(in.Index, unwind.Section{Name: s.Name, Addr: s.Addr, Data: data, File: file.Path})
		}
		if len(in.Index) > 0 {
			in.Tables, in.CodeEnd = dataOf(file.File), codeOf(files[0].File)
			break
		}
	}
	return problems
}

// dataOf returns a function that finds the section in memory that contains an address.
func dataOf(f *object.File) func(addr uint64) (unwind.Section, bool) {
	in := f.SectionsBy(func(s *object.Section) bool { return s.Alloc && s.HasData() })
	return func(addr uint64) (unwind.Section, bool) {
		if s := in.At(addr); s != nil {
			if data, err := s.Data(); err == nil {
				return unwind.Section{Name: s.Name, Addr: s.Addr, Data: data, File: f.Path}, true
			}
		}
		return unwind.Section{}, false
	}
}

// codeOf returns a function that finds the end of the code section that contains an address.
func codeOf(f *object.File) func(addr uint64) (uint64, bool) {
	in := f.SectionsBy((*object.Section).IsCode)
	return func(addr uint64) (uint64, bool) {
		if s := in.At(addr); s != nil {
			return s.Addr + s.FileSize, true
		}
		return 0, false
	}
}

// indexesOf returns ARM's index tables.
func indexesOf(f *object.File) []*object.Section {
	if s, err := f.Located(".ARM.exidx"); s != nil && err == nil {
		return []*object.Section{s}
	}
	return f.SectionsNamed(".ARM.exidx")
}

// goSymtab is a section that only Go's linker writes. Its .pdata has one rule per function.
const goSymtab = ".symtab"

// addPdata adds the exception directory of a Windows binary, if f has one. Debug files have none.
func addPdata(in *unwind.Input, f object.Companion) []bin.Problem {
	s, err := f.Located(".pdata")
	if s == nil && err == nil {
		return nil
	}
	var data []byte
	if err == nil {
		data, err = s.Data()
	}
	if err != nil {
		return []bin.Problem{{Lost: "STACK CFI", Err: err}}
	}
	in.Pdata = true
	in.PdataLast = f.Section(goSymtab) != nil
	in.Index = []unwind.Section{{Name: s.Name, Addr: s.Addr, Data: data, File: f.Path}}
	in.Tables = dataOf(f.File)
	for _, p := range execcode.Parts(f.File) {
		in.Code = append(in.Code, unwind.Range{Lo: p.Start, Hi: p.End})
	}
	in.Padding = execcode.PaddingOf(f.File)
	return nil
}

// addCompact adds the __unwind_info of a macOS binary, and what is needed to analyse its instructions: kernels,
// and programs compiled without tables, have nothing but instructions. A dSYM has neither.
func addCompact(in *unwind.Input, f object.Companion) (problems []bin.Problem) {
	if f.Format != "Mach-O" || f.Kind == object.Relocatable || !f.HasCode() {
		return nil
	}
	in.Compact = true
	if s := f.Section("__unwind_info"); s != nil && s.HasData() {
		data, err := s.Data()
		if err != nil {
			problems = append(problems, bin.Problem{Lost: "STACK CFI", Err: err})
		}
		in.Index = []unwind.Section{{Name: s.Name, Addr: s.Addr, Data: data, File: f.Path}}
	}
	var err error
	in.Tables = dataOf(f.File)
	in.Padding = execcode.PaddingOf(f.File)
	for _, p := range execcode.Parts(f.File) {
		in.Code = append(in.Code, unwind.Range{Lo: p.Start, Hi: p.End})
		if p.Kind == execcode.Linkage {
			in.Stubs = append(in.Stubs, unwind.Range{Lo: p.Start, Hi: p.End})
		}
	}
	if in.Starts, err = f.FunctionStarts(); err != nil {
		problems = append(problems, bin.Problem{Lost: "STACK CFI of functions that begin there", Err: err})
	}
	if in.AllStarts = len(in.Starts) > 0; !in.AllStarts {
		in.Starts = startsOf(f.File)
	} else if err == nil {
		if err := checkStarts(f.File, in.Starts); err != nil {
			problems = append(problems, bin.Problem{Lost: "STACK CFI of some functions", Err: err})
		}
	}
	return problems
}

// strangeSymbols bounds the function symbols at addresses where no function starts to one in so many: linkers
// forget a few.
const strangeSymbols = 64

// checkStarts returns an error if too many symbols of functions are missing from starts.
func checkStarts(f *object.File, starts []uint64) error {
	all, strange, first := 0, 0, uint64(0)
	_ = f.Symbols(object.Symtab, func(s *object.Symbol) {
		if !s.IsFunction() || s.Section == nil || !s.Section.IsCode() || !s.Section.Holds(s.Addr) {
			return
		}
		all++
		if _, found := slices.BinarySearch(starts, s.Addr&^f.ISABit); !found {
			if strange++; strange == 1 {
				first = s.Addr
			}
		}
	})
	if strange*strangeSymbols <= all {
		return nil
	}
	return &bin.Error{File: f.Path, Msg: fmt.Sprintf(
		"function starts: %d of %d symbols of functions are where none starts, the first at %#x", strange, all, first)}
}

// startsOf returns the sorted addresses of the function symbols.
func startsOf(f *object.File) (all []uint64) {
	// Damage is reported when the symbols are read for their names.
	_ = f.Symbols(object.Symtab, func(s *object.Symbol) {
		if s.IsFunction() {
			all = append(all, s.Addr)
		}
	})
	slices.Sort(all)
	return slices.Compact(all)
}
