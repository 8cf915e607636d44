package symdiff

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
)

// findParts finds the unmatched functions that are parts of others: an added one
// was split off a function of the old file, a removed one is now in a function of
// the new file.
func (r *Result) findParts(changes []Change) error {
	sides := [...]*textCursor{newTextCursor(r.Old), newTextCursor(r.New)}
	var added, removed []*Change
	var changed []int // indices in changes: lines differ
	for i := range changes {
		switch c := &changes[i]; {
		case c.What&Added != 0:
			added = append(added, c)
		case c.What&Removed != 0:
			removed = append(removed, c)
		case c.What&(LinesChanged|Resized) != 0:
			changed = append(changed, i)
		}
	}
	split := partFinder{whole: sides[0], part: sides[1], other: r.funcs.old, mine: r.funcs.new, find: Split}
	merged := partFinder{whole: sides[1], part: sides[0], other: r.funcs.new, mine: r.funcs.old, find: Merged}
	for _, i := range changed {
		split.candidates = append(split.candidates, changes[i].Old)
		merged.candidates = append(merged.candidates, changes[i].New)
	}
	for _, c := range added {
		split.parts = append(split.parts, splitPart{c, c.New})
	}
	for _, c := range removed {
		merged.parts = append(merged.parts, splitPart{c, c.Old})
	}
	if err := split.run(); err != nil {
		return err
	}
	return merged.run()
}

// partFinder finds the functions of one file that unmatched functions of the
// other are parts of.
type partFinder struct {
	whole, part *textCursor
	other       []int32 // matches of the whole functions
	mine        []int32 // matches on the side of the parts
	parts       []splitPart
	candidates  []int32 // whole functions with different lines
	find        Aspect
}

// splitPart is a function that may be a part of another.
type splitPart struct {
	c *Change
	i int32
}

func (p *partFinder) run() error {
	if len(p.parts) == 0 {
		return nil
	}
	if err := p.byName(); err != nil {
		return &ReadError{err}
	}
	if err := p.bySameName(); err != nil {
		return &ReadError{err}
	}
	if err := p.byLines(); err != nil {
		return &ReadError{err}
	}
	return nil
}

// byName finds parts by a suffix such as ".cold" after the name of a function
// that is in both files.
func (p *partFinder) byName() error {
	wanted := make([][]hash, len(p.parts)) // names of possible wholes
	found := map[hash]int32{}
	for k, x := range p.parts {
		f := &p.part.o.Funcs[x.i]
		if f.Nameless == nameNone {
			continue
		}
		rec, err := p.part.first(f.At, f.end())
		if err != nil {
			return err
		}
		for _, name := range wholeNames(rec.Name) {
			h := hashBytes(name)
			wanted[k], found[h] = append(wanted[k], h), None
		}
	}
	if len(found) > 0 {
		p.lookUp(found)
	}
	left := p.parts[:0]
	for k, x := range p.parts {
		x.c.Part = None
		for _, h := range wanted[k] {
			if i := found[h]; i != None && x.c.Part == None {
				x.c.What, x.c.Part = x.c.What|p.find, i
			}
		}
		if x.c.Part == None {
			left = append(left, x)
		}
	}
	p.parts = left
	return nil
}

// bySameName finds parts that have the name of their function, as debug information
// names the parts of a function with several ranges. Their file has one more function
// of a name that is in both files. The part has code from the source file in which
// that function begins, but begins at another line. A copy of the function in another
// object would begin at the same line, and another function of the same name would be
// in another file.
func (p *partFinder) bySameName() error {
	funcs := p.part.o.Funcs
	wholes := map[hash]int32{}
	for _, x := range p.parts {
		if f := &funcs[x.i]; f.Nameless != nameNone && f.FirstLine != 0 {
			wholes[f.Name] = None
		}
	}
	for i := range funcs {
		if k, ok := wholes[funcs[i].Name]; ok && k == None && p.mine[i] != None && funcs[i].FirstLine != 0 {
			wholes[funcs[i].Name] = int32(i)
		}
	}
	left := p.parts[:0]
	for _, x := range p.parts {
		f := &funcs[x.i]
		k, ok := wholes[f.Name]
		if ok && k != None && (f.First != funcs[k].First || f.FirstLine != funcs[k].FirstLine) {
			found, err := p.part.hasFile(f, funcs[k].First)
			if err != nil {
				return err
			}
			if found {
				x.c.What, x.c.Part = x.c.What|p.find, p.mine[k]
				continue
			}
		}
		left = append(left, x)
	}
	p.parts = left
	return nil
}

// hasFile reports whether a function has code from a source file, including
// inlined calls.
func (s *textCursor) hasFile(f *funcEntry, file uint32) (bool, error) {
	s.o.Source.reset(s.rd, f.At, f.end())
	for {
		rec, err := s.rd.Next()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		switch {
		case rec.Kind == symfmt.KindLine && rec.Line.Num != 0 && s.isFile(rec.Line.File, file),
			rec.Kind == symfmt.KindInline && rec.Inline.Depth == 0 && !rec.Inline.NoFile && s.isFile(rec.Inline.CallFile, file):
			return true, nil
		}
	}
}

// isFile reports whether a FILE has the base name that file, a funcEntry's First, stands for.
func (s *textCursor) isFile(id symfmt.FileID, file uint32) bool {
	name, ok := s.o.Files.get(uint32(id))
	if !ok {
		return uint32(hashNumber(uint64(id))) == file
	}
	return uint32(hashString(text.Base(name))) == file
}

// lookUp finds the functions with the given names that are in both files.
func (p *partFinder) lookUp(names map[hash]int32) {
	for i := range p.whole.o.Funcs {
		if p.other[i] == None {
			continue
		}
		f := &p.whole.o.Funcs[i]
		if k, ok := names[f.Name]; ok && k == None && f.Nameless != nameNone {
			names[f.Name] = int32(i)
		}
	}
}

// minShare is the share of a part's lines that its whole must have.
const minShare = 0.8

// minPart is the least number of different lines in a part.
const minPart = 3

// byLines finds parts whose lines belonged to a function that has changed: the
// one that begins before them in the same source file.
func (p *partFinder) byLines() error {
	funcs := p.whole.o.Funcs
	slices.SortFunc(p.candidates, func(i, j int32) int {
		return cmp.Or(cmp.Compare(funcs[i].First, funcs[j].First), cmp.Compare(funcs[i].FirstLine, funcs[j].FirstLine), cmp.Compare(funcs[i].RVA, funcs[j].RVA))
	})
	// In order of the source, so that each whole is read only once.
	mine := p.part.o.Funcs
	slices.SortStableFunc(p.parts, func(x, y splitPart) int {
		f, g := &mine[x.i], &mine[y.i]
		return cmp.Or(cmp.Compare(f.First, g.First), cmp.Compare(f.FirstLine, g.FirstLine))
	})
	have, of := map[sourceLine]bool{}, None
	for _, x := range p.parts {
		f := &mine[x.i]
		if f.FirstLine == 0 || f.NumLines < minPart {
			continue
		}
		k, _ := slices.BinarySearchFunc(p.candidates, f, func(i int32, f *funcEntry) int {
			if c := cmp.Or(cmp.Compare(funcs[i].First, f.First), cmp.Compare(funcs[i].FirstLine, f.FirstLine)); c != 0 {
				return c
			}
			return -1
		})
		if k == 0 || funcs[p.candidates[k-1]].First != f.First {
			continue
		}
		if i := p.candidates[k-1]; i != of {
			clear(have)
			of = i
			if err := p.whole.sourceLines(&funcs[i], have); err != nil {
				return err
			}
		}
		lines := map[sourceLine]bool{}
		if err := p.part.sourceLines(f, lines); err != nil {
			return err
		}
		n := 0
		for l := range lines {
			n += int(flag(have[l]))
		}
		if len(lines) >= minPart && float64(n) >= minShare*float64(len(lines)) {
			x.c.What, x.c.Part = x.c.What|p.find, of
		}
	}
	return nil
}

// sourceLine is a line in a source file.
type sourceLine struct {
	file hash
	num  uint32
}

// sourceLines adds the lines of a function to out.
func (s *textCursor) sourceLines(f *funcEntry, out map[sourceLine]bool) error {
	s.o.Source.reset(s.rd, f.At, f.end())
	names := map[symfmt.FileID]hash{}
	for {
		rec, err := s.rd.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if rec.Kind != symfmt.KindLine || rec.Line.Num == 0 || rec.Line.Size == 0 {
			continue
		}
		h, ok := names[rec.Line.File]
		if !ok {
			h = hashString(text.Base(s.file(rec.Line.File)))
			names[rec.Line.File] = h
		}
		out[sourceLine{h, rec.Line.Num}] = true
	}
}
