package report

import (
	"fmt"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/finding"
)

// position is the position at which a document shows a finding.
type position struct {
	file string
	line int // from 1; 0 for the file as a whole
}

// place returns the position where the function of a finding begins, if that is known, and otherwise the finding's
// position in the symbol file. source reports whether it is in a source file.
func (r *Results) place(f *finding.Finding) (p position, source bool) {
	name := f.FuncStart.File
	if r.Source != nil && name != "" {
		name = r.Source(name)
	}
	if name == "" {
		return position{f.File, f.Line}, false
	}
	return position{name, f.FuncStart.Line}, true
}

// symbols names a position in a symbol file, for messages that point at a source file.
func symbols(f *finding.Finding) string {
	if f.Line == 0 {
		return text.Printable(f.File)
	}
	return fmt.Sprintf("%s:%d", text.Printable(f.File), f.Line)
}
