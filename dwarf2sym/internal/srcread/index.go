package srcread

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/symfmt"
)

// Index holds what units say about their code, as far as it has been read.
type Index struct {
	units []*unitIndex
	size  int64
}

// unitIndex is the part of an Index for one unit.
type unitIndex struct {
	code      cover // of roots
	roots     []root
	functions []function
	details   []details // the first is for functions that could not be read
	lines     cover     // of rows.Seqs
	rows      dwarf.Positions
	files     []symfmt.SourceFile
	fileIDs   map[fileKey]fileID
}

// root is a function with code, and what is inside it.
type root struct {
	pos  int   // of its DIE in the unit
	code cover // of functions, once read
	read bool
}

// fileID is an index in unitIndex.files; 0 means no file.
type fileID uint32

// function is a function with code, an inlined function, or a function that one is inlined into.
type function struct {
	pos       int   // of its DIE in the unit
	up        int32 // what it is inlined into, or -1
	details   int32 // its index in unitIndex.details, once described
	described bool
}

// details are what frames need to know about a function.
type details struct {
	description
	call     dwarf.Position // of an inlined function; File is a fileID
	start    uint64
	hasStart bool
	inlined  bool
}

// description is what a function's DIE, or a DIE that it refers to, says.
type description struct {
	linkage, name      string
	file               fileID // where the function is declared
	line               uint32
	haveFile, haveLine bool
}

// Knows reports whether everything at addr has been read.
func (x *Index) Knows(addr uint64) bool {
	for _, u := range x.units {
		if root := u.rootAt(addr); root != nil && !root.read {
			return false
		}
		for fn := u.functionAt(addr); fn >= 0; fn = u.functions[fn].up {
			if !u.functions[fn].described {
				return false
			}
		}
	}
	return len(x.units) > 0
}

// rootAt returns the function of the unit that contains addr, or nil.
func (u *unitIndex) rootAt(addr uint64) *root {
	if i := u.code.at(addr); i >= 0 {
		return &u.roots[i]
	}
	return nil
}

// functionAt returns the index of the innermost function at addr, which may be an inlined one, or -1.
func (u *unitIndex) functionAt(addr uint64) int32 {
	if root := u.rootAt(addr); root != nil {
		return root.code.at(addr)
	}
	return -1
}

// Frames returns the functions at addr, an address of the file, innermost first. Their Start is an address of the
// file. frames holds what earlier indexes found: a unit that has a function at addr replaces it, a unit that has
// only a line does not.
func (x *Index) Frames(addr uint64, frames []symfmt.SourceFrame) []symfmt.SourceFrame {
	for _, u := range x.units {
		at, known := u.position(addr)
		if fn := u.functionAt(addr); fn >= 0 {
			frames = u.frames(fn, at, known)
		} else if known && len(frames) == 0 {
			frames = []symfmt.SourceFrame{{}}
			u.place(&frames[0], at)
		}
	}
	return frames
}

// Size returns the approximate memory that the index takes, in bytes.
func (x *Index) Size() int64 { return x.size }

// position returns the position of addr according to the line table.
func (u *unitIndex) position(addr uint64) (at dwarf.Position, ok bool) {
	i := u.lines.at(addr)
	if i < 0 {
		return at, false
	}
	return u.rows.Of(&u.rows.Seqs[i], addr), true
}

// frames returns a frame for a function and for each function that it is inlined into.
func (u *unitIndex) frames(fn int32, at dwarf.Position, known bool) (frames []symfmt.SourceFrame) {
	for ; fn >= 0; fn = u.functions[fn].up {
		f := &u.details[u.functions[fn].details]
		frames = append(frames, symfmt.SourceFrame{
			Linkage: f.linkage, Name: f.name, Inlined: f.inlined,
			StartFile: u.files[f.file], StartLine: f.line,
			Start: symfmt.RVA(f.start), HasStart: f.hasStart,
		})
		if known {
			u.place(&frames[len(frames)-1], at)
		}
		at, known = f.call, true
	}
	return frames
}

// place fills in the source position of a frame.
func (u *unitIndex) place(f *symfmt.SourceFrame, at dwarf.Position) {
	f.File, f.Line, f.Column, f.Discriminator = u.files[at.File], at.Line, at.Column, at.Discriminator
}

// setLines makes the cover of the sequences. If several contain an address, the one that ends first counts, as in
// LLVM, and otherwise the first.
func (u *unitIndex) setLines() {
	pieces := make([]piece, len(u.rows.Seqs))
	for i, s := range u.rows.Seqs {
		pieces[i] = piece{dwarf.Span{Lo: s.Lo, Hi: s.Hi}, int32(i)}
	}
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Or(cmp.Compare(b.Hi, a.Hi), cmp.Compare(b.what, a.what)) })
	u.lines = newCover(pieces)
}
