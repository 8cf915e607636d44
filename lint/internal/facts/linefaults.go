package facts

import "github.com/symtool/symtool/symfmt"

// LineFaults is the set of faults of a line record's range. It is computed once for all rules about
// line records. There are millions of them.
type LineFaults uint8

// The faults. A line record is either before or past its FUNC, not both.
const (
	LineBefore   LineFaults = 1 << iota // starts before the FUNC
	LinePast                            // ends after the FUNC
	LineOrder                           // starts before the previous line record
	LineOverlap                         // shares bytes with an earlier line record
	LineEmpty                           // has no bytes
	LineNoNumber                        // has line number 0
	LineBig                             // has a size over 32 bits
	LineOrphan                          // no FUNC precedes it
)

// seeLine processes a line record of f.Func.
func (f *Facts) seeLine(r *symfmt.Record) {
	l := &r.Line
	fn := &f.Func
	if id := uint32(l.File); id+1 != f.lastFile || f.lastFile == 0 {
		f.Files.use(r, 3, id)
		f.lastFile = 0
		if f.Files.Has(id) {
			f.lastFile = id + 1
		}
	}
	var faults LineFaults
	if fn.Lines > 0 && l.RVA < f.lineFrom {
		faults |= LineOrder
	}
	fn.Lines++
	f.lineFrom = l.RVA
	if l.Num == 0 {
		faults |= LineNoNumber
	}
	if l.Size == 0 {
		faults |= LineEmpty
	} else if l.Size>>32 != 0 {
		faults |= LineBig
	}
	if at := uint64(l.RVA - fn.RVA); l.RVA < fn.RVA {
		faults |= LineBefore
	} else if fn.Size > 0 && (at > fn.Size || l.Size > fn.Size-at) { // a FUNC of size 0 is left to SYM301
		faults |= LinePast
	}
	if l.Size > 0 && f.spans.Add(l.RVA, l.Size) > 0 {
		faults |= LineOverlap
	}
	f.Line = faults
}

// orphanLine returns the faults of a line record without a FUNC.
func orphanLine(l *symfmt.Line) LineFaults {
	if l.Size>>32 != 0 {
		return LineOrphan | LineBig
	}
	return LineOrphan
}
