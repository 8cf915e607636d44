// Package finding defines what a check of a symbol file returns: a Report of Findings, each of a
// Rule. Package lint checks files.
package finding

import (
	"fmt"

	"github.com/symtool/symtool/symfmt"
)

// Finding is a violation of a rule.
type Finding struct {
	Rule      *Rule
	Severity  Severity
	File      string // as given
	Line      int    // from 1; 0 for the file as a whole
	Col       int    // in bytes, from 1; 0 for the whole line
	Message   string // lower case, without the position
	RVA       symfmt.RVA
	HasRVA    bool
	Function  string    // function that contains it, or ""; see Report.ReadNames
	FuncStart FuncStart // where that function begins, or zero; see Report.ReadFuncStarts

	// Late means that the finding was made at the end of the file, when names are no longer known.
	// Owner is then the function that contains it.
	Late  bool
	Owner Owner
}

// MaxFunction is the length at which findings cut a function's name.
const MaxFunction = 1 << 10

// Owner identifies a FUNC or PUBLIC record. The zero value means no record.
type Owner struct {
	Line   int // in the file, from 1
	Index  int // among the file's FUNC records, or among its PUBLIC records
	Public bool
}

// String formats the finding as one line: "a.sym:12:6: SYM203 error: ...".
func (f *Finding) String() string {
	place := f.File
	if f.Line > 0 {
		place += fmt.Sprintf(":%d", f.Line)
	}
	if f.Col > 0 {
		place += fmt.Sprintf(":%d", f.Col)
	}
	return fmt.Sprintf("%s: %s %v: %s", place, f.Rule.ID, f.Severity, f.Message)
}
