// Package lint tells whether a symbol file is good enough: whether it follows
// the format, agrees with itself and with the binary, and covers the code with
// call frame information and lines.
//
// A file is read once, record by record. What must be kept for later is kept in
// tables of a few bytes a record: functions, public symbols and blocks of STACK
// CFI, but not lines and inlined calls. Rules see each record beside these facts,
// and are data with one function (rules.go); their documentation is run as their
// tests.
package lint
