package units

import (
	"fmt"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/bin"
)

// The work on a section that is read from front to back is bounded by its size, but the
// work on what it refers to is not: a damaged file may name one long line program in each
// of its units, or one range list or one string in each DIE. It may describe all code in
// each of its functions, or declare DIEs of one byte with a million attributes, whose
// values are in the declaration (DW_FORM_implicit_const) or take no bytes
// (DW_FORM_flag_present). Such work is counted, in bytes that are read again or kept and
// in steps over attributes, and the sum over all units has a limit. It does not depend on
// the order of the units, so the result is the same for any number of workers: beyond the
// limit everything is discarded.
//
// Real files need at most 2 times the size of their debug sections
// (TestEffortOfRealFiles).
const (
	EffortBase  = 8 << 20
	EffortRatio = 16 // bytes of work for a byte of debug sections
)

// Allow sets the limit for d and the files that it refers to: base, plus an amount in
// proportion to their size.
func (d *Data) Allow(base uint64) {
	e := &dwarf.Effort{}
	var total int64
	for _, d := range []*Data{d, d.Sup, d.Types.old} {
		if d != nil {
			total += d.size()
			d.Effort = e
		}
	}
	e.Limit = base + EffortRatio*uint64(total)
}

// size returns the size of all sections.
func (d *Data) size() int64 {
	total := d.Info.Size()
	for _, s := range []dwarf.Source{d.Line, d.LateAbbrev} {
		if s != nil {
			total += s.Size()
		}
	}
	for _, s := range [][]byte{d.Abbrev, d.Str, d.LineStr, d.StrOffsets, d.Addr, d.Rnglists, d.Ranges, d.Loclists, d.Loc} {
		total += int64(len(s))
	}
	return total
}

// TooMuchWork returns the problem for a file that exceeds its limit.
func (d *Data) TooMuchWork() bin.Problem {
	return bin.Problem{Lost: "all functions", Err: &bin.Error{File: d.File, Section: ".debug_info", Msg: fmt.Sprintf(
		"its units share tables, lists, strings and attributes so often that they stand for more than %d bytes", d.Effort.Limit)}}
}
