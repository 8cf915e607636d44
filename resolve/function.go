package resolve

import (
	"fmt"
	"slices"

	"github.com/symtool/symtool/internal/flatten"
	"github.com/symtool/symtool/symfmt"
)

// function is a FUNC with its records. Its code is divided into segments where
// a line or an inlined function begins or ends, so that one search finds
// everything known about an address. It is kept packed (packed.go).
type function struct {
	name      string
	starts    []uint32 // of the segments, from the function's start; ascending, the first is 0
	segments  []uint32 // segmentWords each
	calls     []uint32 // callWords each
	multiple  bool
	paramSize uint64
}

// A segment is a piece of code with one line and one chain of inlined
// functions. Its words are the line, the index of the file's name, and the
// index + 1 of the innermost call.
const segmentWords = 3

// A call is an inlined function. Its words are the index of its name, the
// index of the name of the call's file, the line of the call, and the index +
// 1 of the call that it was inlined into, or 0 for the FUNC itself.
const callWords = 4

// names returns the indices of the names of FILE and INLINE_ORIGIN records,
// which it reads if necessary. Index 0 is the empty name.
type names interface {
	file(symfmt.FileID) (uint32, error)

	// origin also returns the index of the origin's file, in a file of the old form.
	origin(symfmt.OriginID) (name, file uint32, err error)
}

// maxInlined limits the functions inlined at the same address. Compilers stay far below it; in a
// damaged file each line of a function may be in all of them.
const maxInlined = 256

var errTooDeep = fmt.Errorf("more than %d functions are inlined into one another", maxInlined)

// functionParser parses the records of functions.
type functionParser struct {
	reader    *symfmt.Reader // of texts; nil before the first one
	names     names
	flattener flatten.Flattener
	flat      flatten.Flat
	starts    []uint32
	segments  []uint32
	calls     []uint32
	packer    packer
	origins   []uint32 // by call: the index of the name of its origin's file
	depths    []uint16 // by call: the number of functions that it is inlined into, including the FUNC

	lost  int   // records that cannot be read
	bad   error // the first error among them
	badAt int   // its line in the text

	last    symfmt.FileID // last one looked up, as consecutive lines share a file
	place   uint32
	hasLast bool
}

// parse reads a function from its source; the next call reuses the memory of the result. Damaged
// records are left out and counted.
func (p *functionParser) parse(from recordSource, v span, n names) (function, error) {
	p.flattener.Reset(v.rva)
	p.names, p.hasLast = n, false
	p.bad, p.lost = nil, 0
	f, err := from.function(p, v)
	if err != nil {
		return function{}, err
	}
	p.flattener.Flatten(&p.flat)
	return f, p.fill(&f)
}

// fill replaces the ids of FILE and INLINE_ORIGIN records by the indices of their names. Adjacent
// segments that become equal are joined.
func (p *functionParser) fill(f *function) error {
	p.calls, p.origins, p.depths = p.calls[:0], p.origins[:0], p.depths[:0]
	for i := range p.flat.Calls {
		if err := p.call(&p.flat.Calls[i]); err != nil {
			return err
		}
	}
	p.starts = slices.Grow(p.starts[:0], len(p.flat.Segments))
	p.segments = slices.Grow(p.segments[:0], segmentWords*len(p.flat.Segments))
	for i := range p.flat.Segments {
		s := &p.flat.Segments[i]
		words := [segmentWords]uint32{s.Line, 0, uint32(s.Call + 1)}
		if !s.NoLine {
			var err error
			if words[1], err = p.fileOf(s.File); err != nil {
				return err
			}
		}
		if n := len(p.segments); n == 0 || [segmentWords]uint32(p.segments[n-segmentWords:]) != words {
			p.starts = append(p.starts, s.Off)
			p.segments = append(p.segments, words[:]...)
		}
	}
	f.starts, f.segments, f.calls = p.starts, p.segments, p.calls
	return nil
}

// call adds a call. The call that contains it comes before it.
func (p *functionParser) call(c *flatten.Call) error {
	depth := uint16(1)
	if c.Outer != flatten.NoCall {
		depth += p.depths[c.Outer]
	}
	if depth > maxInlined {
		return errTooDeep
	}
	p.depths = append(p.depths, depth)
	name, originFile, err := p.names.origin(c.Origin)
	if err != nil {
		return err
	}
	var file uint32
	switch {
	case !c.NoFile:
		file, err = p.fileOf(c.File)
	case c.Outer != flatten.NoCall:
		file = p.origins[c.Outer]
	}
	if err != nil {
		return err
	}
	p.calls = append(p.calls, name, file, c.Line, uint32(c.Outer+1))
	p.origins = append(p.origins, originFile)
	return nil
}

func (p *functionParser) fileOf(id symfmt.FileID) (uint32, error) {
	if p.hasLast && p.last == id {
		return p.place, nil
	}
	place, err := p.names.file(id)
	p.last, p.place, p.hasLast = id, place, err == nil
	return place, err
}
