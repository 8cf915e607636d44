package check

import (
	"cmp"
	"sort"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// lateness says how to find the function of a finding that is reported at the end of a file, when
// names are no longer known.
type lateness uint8

const (
	notLate    lateness = iota
	lateByRVA           // by address, or by line if a FUNC or PUBLIC is there
	lateByLine          // by line: the finding is in a record that belongs to the FUNC before it
)

// owners finds the owners of late findings.
type owners struct {
	facts  *facts.Facts
	ended  bool                     // all functions are known
	sorted int                      // number of sorted functions
	byRVA  facts.Sorted[facts.Func] // the sorted functions, by address
}

// of returns the owner of a late finding.
func (o *owners) of(f *finding.Finding, late lateness) finding.Owner {
	if late == lateByLine {
		i, _ := funcOfLine(&o.facts.Functions, f.Line)
		return o.function(i)
	}
	if f.Line > 0 {
		if i, exact := funcOfLine(&o.facts.Functions, f.Line); exact {
			return o.function(i)
		}
		if i, exact := publicOfLine(&o.facts.Publics, f.Line); exact {
			return finding.Owner{Line: f.Line, Index: i, Public: true}
		}
	}
	return o.function(o.at(f.RVA))
}

// function returns the i-th FUNC as an owner, or the zero Owner if i is negative.
func (o *owners) function(i int) finding.Owner {
	if i < 0 {
		return finding.Owner{}
	}
	return finding.Owner{Line: int(o.facts.Functions.At(i).Line), Index: i}
}

// funcOfLine returns the index of the last FUNC at or above a line, or -1. exact reports whether
// the FUNC is at that line.
func funcOfLine(list *facts.Table[facts.Func], line int) (i int, exact bool) {
	i, exact = sort.Find(list.Len(), func(i int) int { return cmp.Compare(line, int(list.At(i).Line)) })
	if !exact {
		i--
	}
	return i, exact
}

func publicOfLine(list *facts.Table[facts.Public], line int) (i int, exact bool) {
	return sort.Find(list.Len(), func(i int) int { return cmp.Compare(line, int(list.At(i).Line)) })
}

// recent is how many of the latest functions that are not yet sorted are examined.
const recent = 16

// at returns the index of the function at an address, or -1. If several sorted functions contain
// the address, the one that begins last counts.
func (o *owners) at(rva symfmt.RVA) int {
	o.sort()
	list := &o.facts.Functions
	holds := func(i int) bool { f := list.At(i); return uint64(rva-f.RVA) < f.Size }
	for i := list.Len() - 1; i >= max(o.sorted, list.Len()-recent); i-- {
		if holds(i) {
			return i
		}
	}
	k := sort.Search(o.sorted, func(k int) bool { return o.byRVA.At(k).RVA > rva }) - 1
	if k < 0 || !holds(o.byRVA.Index(k)) {
		return -1
	}
	return o.byRVA.Index(k)
}

// sort sorts the functions. While functions are being read, each may be followed by a finding, so
// sort waits until their number has grown by an eighth.
func (o *owners) sort() {
	n := o.facts.Functions.Len()
	if n == o.sorted || !o.ended && n < o.sorted+o.sorted/8 {
		return
	}
	o.byRVA, o.sorted = o.facts.FuncsByRVA(), n
}
