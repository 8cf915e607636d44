package finding

import (
	"iter"

	"github.com/symtool/symtool/symfmt"
)

// Pass is the check of one file by a rule of a program's own: what the rule may know about the file, and the functions
// with which it reports findings.
type Pass struct {
	File   string        // as given to lint.Run
	Binary symfmt.Binary // the binary that the symbols describe, or nil

	// Module returns the MODULE record, or nil before it has been read.
	Module func() *Module
	// Functions iterates over the FUNC records in file order, without the one whose records are being read.
	Functions func() iter.Seq[Function]

	// Report reports a finding about field i of the current record, counted as in symfmt.Record.FieldPos, or about the
	// whole record if i is -1.
	Report func(r *symfmt.Record, i int, format string, args ...any)
	// ReportLine reports a finding about a line of the file, or about the whole file if line is 0.
	ReportLine func(line int, format string, args ...any)
	// ReportAt reports a finding at the end of the file, about a line and the address that its record has.
	ReportAt func(line int, rva symfmt.RVA, format string, args ...any)
}

// Function is a FUNC record with its line records.
type Function struct {
	RVA     symfmt.RVA
	Size    uint64
	Line    int    // of the FUNC record in the file, from 1
	Lines   int    // number of line records
	Covered uint64 // bytes that have a line
}
