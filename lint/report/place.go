package report

import (
	"fmt"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint"
)

// place is where a document shows a finding.
type place struct {
	file string
	line int // from 1; 0 for the file as a whole
}

// place returns where the function begins that a finding is about, if that is known, and otherwise the place in the
// symbol file. source reports which of the two it is.
func (r *Results) place(f *lint.Finding) (p place, source bool) {
	name := f.Source.File
	if r.Source != nil && name != "" {
		name = r.Source(name)
	}
	if name == "" {
		return place{f.File, f.Line}, false
	}
	return place{name, f.Source.Line}, true
}

// symbols names a place in a symbol file, in messages that point at a source file.
func symbols(f *lint.Finding) string {
	if f.Line == 0 {
		return text.Printable(f.File)
	}
	return fmt.Sprintf("%s:%d", text.Printable(f.File), f.Line)
}
