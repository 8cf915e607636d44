// Package lint checks whether a symbol file is good enough: whether it follows the format, agrees
// with itself and with the binary, and covers the code with call frame information and lines.
//
// Run checks a file. Package lint/report writes the findings, lint/config reads the settings of a
// project, and lint/filter applies them.
//
// A file is read once, record by record. What later rules need is kept in tables of a few bytes a
// record: functions, public symbols and blocks of STACK CFI, but not lines and inlined calls.
package lint

import "github.com/symtool/symtool/lint/finding"

// The input and output of a run; see package lint/finding.
type (
	Rule     = finding.Rule
	Severity = finding.Severity
	Finding  = finding.Finding
	Report   = finding.Report
)

// The severities.
const (
	Note    = finding.Note
	Warning = finding.Warning
	Error   = finding.Error
)
