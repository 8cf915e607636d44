package check

import (
	"cmp"
	"io"
	"slices"
	"sort"

	"github.com/symtool/symtool/lint/facts"
	"github.com/symtool/symtool/symfmt"
)

// lateness is the way to find the function of a finding that is reported at the
// end of a file, when names are gone.
type lateness uint8

const (
	notLate    lateness = iota
	lateByRVA           // by address, or the FUNC or PUBLIC at the line
	lateByLine          // by line: it is in a record that belongs to the FUNC before it
)

// Owner is a FUNC or PUBLIC record: an index into the facts.
type Owner struct {
	Index  int
	Public bool
}

// owners finds the owners of late findings.
type owners struct {
	facts  *facts.Facts
	ended  bool                     // all functions are known
	sorted int                      // number of sorted functions
	byRVA  facts.Sorted[facts.Func] // those, by address
}

// of returns the owner of a late finding; ok is false if there is none.
func (o *owners) of(f *Finding) (own Owner, ok bool) {
	switch f.late {
	case lateByLine:
		i, _ := funcOfLine(&o.facts.Functions, f.Line)
		return Owner{Index: i}, i >= 0
	case lateByRVA:
		if f.Line > 0 {
			if i, exact := funcOfLine(&o.facts.Functions, f.Line); exact {
				return Owner{Index: i}, true
			}
			if i, exact := publicOfLine(&o.facts.Publics, f.Line); exact {
				return Owner{i, true}, true
			}
		}
		i := o.at(f.RVA)
		return Owner{Index: i}, i >= 0
	}
	return Owner{}, false
}

// funcOfLine returns the index of the last FUNC at or above a line, or -1.
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

// recent is how many functions after the sorted ones are examined.
const recent = 16

// at returns the index of the function at an address, or -1. Of several sorted functions, the one
// that begins last counts.
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

// sort sorts the functions. As a finding may follow each of them while they are
// read, it waits until there are an eighth more.
func (o *owners) sort() {
	n := o.facts.Functions.Len()
	if n == o.sorted || !o.ended && n < o.sorted+o.sorted/8 {
		return
	}
	o.byRVA, o.sorted = o.facts.FuncsByRVA(), n
}

// line returns the line of the owner's record.
func (o *owners) line(own Owner) int {
	if own.Public {
		return int(o.facts.Publics.At(own.Index).Line)
	}
	return int(o.facts.Functions.At(own.Index).Line)
}

// ReadNames reads a symbol file a second time, for the functions with findings whose names were
// gone when the findings were made.
func (r *Report) ReadNames(in io.Reader) error {
	want := map[int][]*Finding{}
	last := 0
	for i := range r.Findings {
		if f := &r.Findings[i]; f.ownerLine > 0 {
			want[f.ownerLine] = append(want[f.ownerLine], f)
			last = max(last, f.ownerLine)
		}
	}
	if last == 0 {
		return nil
	}
	rd := symfmt.NewReader(in, symfmt.ReadOptions{Tolerant: true, MaxProblems: 1})
	for {
		rec, err := rd.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if rec.Kind != symfmt.KindFunc && rec.Kind != symfmt.KindPublic {
			continue
		}
		line := rec.Pos().Line
		for _, f := range want[line] {
			f.Function = string(rec.Name[:min(len(rec.Name), MaxFunction)])
		}
		if line >= last {
			return nil
		}
	}
}

// NamesWanted reports whether ReadNames has anything to do.
func (r *Report) NamesWanted() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.ownerLine > 0 })
}
