// Package lint checks whether a symbol file is good enough: whether it follows the format, agrees
// with itself and with the binary, and covers the code with call frame information and lines.
//
// A file is read once, record by record. What later checks need is kept by package facts in tables
// of a few bytes a record: functions, public symbols and blocks of STACK CFI, but not lines and
// inlined calls. A rule sees each record beside these facts. Rules are data with one function
// (rules.go), and the examples in their documentation are run as tests. Package lint/report writes
// the findings; lint/config reads the settings of a project.
package lint
