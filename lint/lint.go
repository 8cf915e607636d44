// Package lint checks whether a symbol file is good enough: whether it follows the format, agrees
// with itself and with the binary, and covers the code with call frame information and lines.
//
// Run checks a file. Package lint/report writes the findings, lint/config reads the settings of a
// project, and lint/filter applies them.
//
// A file is read once, record by record. What later checks need is kept by package lint/facts in
// tables of a few bytes a record: functions, public symbols and blocks of STACK CFI, but not lines
// and inlined calls. A rule sees each record beside these facts. Rules are data with one function,
// written against package lint/check; those of a family are in a package of their own, and the
// examples in their documentation are run as tests.
package lint

import "github.com/symtool/symtool/lint/check"

// What a run takes and returns; see package lint/check.
type (
	Rule     = check.Rule
	Severity = check.Severity
	Finding  = check.Finding
	Report   = check.Report
)

// The severities.
const (
	Note    = check.Note
	Warning = check.Warning
	Error   = check.Error
)
