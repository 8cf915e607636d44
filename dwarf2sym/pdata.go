package dwarf2sym

import (
	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/execcode"
)

// goSymtab is a section that only Go's linker writes. Its .pdata has one rule per function.
const goSymtab = ".symtab"

// addPdata adds the exception directory of a Windows binary, if f has one. Debug files have none.
func addPdata(in *unwind.Input, f companion) []bin.Problem {
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
	in.Tables = cfiDataOf(f.File)
	for _, p := range execcode.Parts(f.File) {
		in.Code = append(in.Code, unwind.Range{Lo: p.Start, Hi: p.End})
	}
	in.Padding = execcode.PaddingOf(f.File)
	return nil
}
