package symdiff

import "github.com/symtool/symtool/symfmt"

// Func is what is kept of a FUNC and the records behind it.
type Func struct { // 112 bytes
	RVA  symfmt.RVA
	Size uint64 // bytes
	At   int64  // its text, with INLINE and line records
	Len  uint32 // of that
	Line uint32 // of the text

	Name hash

	// Lines is a hash of the line records, LinesRel likewise with line numbers less
	// the first of the file; and so for the INLINE records. 0 without any. Files are
	// identified by their base names; Paths is a hash of all their names with folders.
	// It and First have 32 bits, for they only count for two functions that are
	// matched, or together with others.
	Lines, LinesRel     hash
	Shape               hash // of the lines without their numbers
	Inlines, InlinesRel hash

	Covered   uint64 // bytes that lines cover
	Paths     uint32
	First     uint32 // hash of the first line's file
	FirstLine uint32 // and its number
	NumInline uint32
	ParamSize uint32
	NumLines  uint16 // 65535 for more
	Multiple  bool
	Nameless  nameKind
}

// Stop returns the address behind the last byte; it may wrap around.
func (f *Func) Stop() symfmt.RVA { return f.RVA + symfmt.RVA(f.Size) }

// End returns where the text of the function ends. Of one with more than 4 GB of it,
// which no function has, details are of what is in front of that.
func (f *Func) End() int64 { return f.At + int64(f.Len) }

// Public is a PUBLIC.
type Public struct {
	RVA       symfmt.RVA
	At, End   int64
	Line      uint32
	Name      hash
	ParamSize uint32
	Multiple  bool
	Nameless  nameKind
}

// Win is a STACK WIN.
type Win struct {
	RVA      symfmt.RVA
	Size     uint64
	At, End  int64
	Line     uint32
	Contents hash // of all but RVA
}

// nameKind says how well a name identifies a function.
type nameKind uint8

const (
	nameGood    nameKind = iota
	nameMangled          // a linkage name
	nameNone             // "<name omitted>" and its like
)
