// Package lint checks whether a symbol file is good enough: whether it follows the format, agrees
// with itself and with the binary, and covers the code with call frame information and lines.
//
// Run checks a file. Package lint/report writes the findings, lint/config reads the settings of a
// project, and lint/filter applies them.
//
// A file is read once, record by record. Package lint/facts keeps what later checks need in tables
// of a few bytes a record: functions, public symbols and blocks of STACK CFI, but not lines and
// inlined calls. A rule sees each record together with these facts. Rules are data with one
// function, written against package lint/check; each family has a package of its own, and the
// examples in their documentation are run as tests.
package lint

import "github.com/symtool/symtool/lint/check"

// The input and output of a run; see package lint/check.
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
