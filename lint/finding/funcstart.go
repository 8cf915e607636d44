package finding

import (
	"cmp"
	"io"
	"slices"
	"sort"

	"github.com/symtool/symtool/symfmt"
)

// FuncStart is where a function begins in its source file.
type FuncStart struct {
	File string // as in the FILE record
	Line int    // from 1
}

// ReadFuncStarts reads a symbol file a second time, and sets the FuncStart of each finding to the beginning of its function.
// Findings in code without lines have none.
func (r *Report) ReadFuncStarts(in io.Reader) error {
	s := newFuncStarts(r.Findings)
	if len(r.Findings) == 0 {
		return nil
	}
	rd := symfmt.NewReader(in, symfmt.ReadOptions{Tolerant: true, MaxProblems: 1})
	for {
		rec, err := rd.Next()
		if err == io.EOF {
			s.endFunction()
			return nil
		}
		if err != nil {
			return err
		}
		s.record(rec)
	}
}

// funcStarts finds the functions of findings, by the line of a record or by address.
type funcStarts struct {
	files     map[uint32]string
	byLine    map[int][]*Finding
	byRVA     []*Finding // findings with an address, sorted by it
	next      []int      // by index in byRVA: itself while it waits, else a later index; also one for the end
	within    []*Finding // findings in the current function, by address
	about     []*Finding // findings about a record of the current function
	file      symfmt.FileID
	line      uint32 // line number of the function's first line record; 0 if there was none
	ownerless bool   // there is no current function
}

func newFuncStarts(findings []Finding) *funcStarts {
	s := &funcStarts{files: map[uint32]string{}, byLine: map[int][]*Finding{}, ownerless: true}
	for i := range findings {
		f := &findings[i]
		if line := cmp.Or(f.Owner.Line, f.Line); line > 0 {
			s.byLine[line] = append(s.byLine[line], f)
		}
		if f.HasRVA {
			s.byRVA = append(s.byRVA, f)
		}
	}
	slices.SortStableFunc(s.byRVA, func(a, b *Finding) int { return cmp.Compare(a.RVA, b.RVA) })
	s.next = make([]int, len(s.byRVA)+1)
	for i := range s.next {
		s.next[i] = i
	}
	return s
}

func (s *funcStarts) record(rec *symfmt.Record) {
	switch rec.Kind {
	case symfmt.KindFile:
		s.files[rec.ID] = string(rec.Name)
		return
	case symfmt.KindFunc:
		s.endFunction()
		s.ownerless = false
		s.take(rec)
	case symfmt.KindLine, symfmt.KindInline:
		if s.ownerless || rec.Owner != symfmt.OwnerRead {
			return
		}
		if rec.Kind == symfmt.KindLine && s.line == 0 {
			s.file, s.line = rec.Line.File, rec.Line.Num
		}
	default:
		return
	}
	s.about = append(s.about, s.byLine[rec.Pos().Line]...)
}

// take moves the waiting findings with addresses in fn to s.within. Each finding is taken once, so that overlapping
// functions do not make this quadratic.
func (s *funcStarts) take(fn *symfmt.Record) {
	i := s.waiting(sort.Search(len(s.byRVA), func(i int) bool { return s.byRVA[i].RVA >= fn.RVA }))
	for i < len(s.byRVA) && uint64(s.byRVA[i].RVA-fn.RVA) < fn.Size {
		s.within = append(s.within, s.byRVA[i])
		s.next[i] = i + 1
		i = s.waiting(i + 1)
	}
}

// waiting returns the index of the first finding in byRVA, from i on, that no function has taken. It shortens the
// chains that it follows.
func (s *funcStarts) waiting(i int) int {
	for s.next[i] != i {
		s.next[i] = s.next[s.next[i]]
		i = s.next[i]
	}
	return i
}

// endFunction sets the FuncStart of the findings in the current function. Where functions overlap, the record that a
// finding is about decides, rather than its address.
func (s *funcStarts) endFunction() {
	if name := s.files[uint32(s.file)]; name != "" && s.line > 0 {
		at := FuncStart{name, int(s.line)}
		for _, f := range s.within {
			if f.FuncStart == (FuncStart{}) {
				f.FuncStart = at
			}
		}
		for _, f := range s.about {
			f.FuncStart = at
		}
	}
	s.within, s.about, s.line, s.ownerless = s.within[:0], s.about[:0], 0, true
}
