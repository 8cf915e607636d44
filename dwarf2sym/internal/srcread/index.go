package srcread

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/symfmt"
)

// Index is what units have about their code. It refers to nothing of the files that it was read from.
type Index struct {
	units []unitIndex
	size  int64
}

// unitIndex is the part of an Index for a unit.
type unitIndex struct {
	code      cover // of functions
	functions []function
	lines     cover // of rows.Seqs
	rows      dwarf.Positions
	files     []symfmt.SourceFile
}

// fileID is an index in unitIndex.files, where 0 is that of no file.
type fileID uint32

// function is a function with code, or one that is inlined, or what it is inlined into.
type function struct {
	description
	up       int32          // what it is inlined into, or -1
	call     dwarf.Position // of an inlined one; File is a fileID
	start    uint64
	hasStart bool
	inlined  bool
}

// description is what the DIE of a function has, or those that it refers to.
type description struct {
	linkage, name      string
	file               fileID // where it is declared
	line               uint32
	haveFile, haveLine bool
}

// Frames returns the functions at an address of the file, innermost first; their Start is an address of the file.
// What is found in a unit replaces what was found in those before it, frames, unless it is only a line after a
// function.
func (x *Index) Frames(addr uint64, frames []symfmt.SourceFrame) []symfmt.SourceFrame {
	for i := range x.units {
		u := &x.units[i]
		at, known := u.position(addr)
		if fn := u.code.at(addr); fn >= 0 {
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

// position returns the position of an address by the line table.
func (u *unitIndex) position(addr uint64) (at dwarf.Position, ok bool) {
	i := u.lines.at(addr)
	if i < 0 {
		return at, false
	}
	return u.rows.Of(&u.rows.Seqs[i], addr), true
}

// frames returns a frame for a function, and each that it is inlined into.
func (u *unitIndex) frames(fn int32, at dwarf.Position, known bool) (frames []symfmt.SourceFrame) {
	for ; fn >= 0; fn = u.functions[fn].up {
		f := &u.functions[fn]
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

// place fills in where a frame is in the source.
func (u *unitIndex) place(f *symfmt.SourceFrame, at dwarf.Position) {
	f.File, f.Line, f.Column, f.Discriminator = u.files[at.File], at.Line, at.Column, at.Discriminator
}

// setLines makes the cover of the sequences. If several contain an address, the one that ends first counts, as in
// LLVM, or else the first.
func (u *unitIndex) setLines() {
	pieces := make([]piece, len(u.rows.Seqs))
	for i, s := range u.rows.Seqs {
		pieces[i] = piece{dwarf.Span{Lo: s.Lo, Hi: s.Hi}, int32(i)}
	}
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Or(cmp.Compare(b.Hi, a.Hi), cmp.Compare(b.what, a.what)) })
	u.lines = newCover(pieces)
}

// held returns the approximate memory that the unit's part takes, in bytes.
func (u *unitIndex) held() (n int64) {
	for _, c := range []*cover{&u.code, &u.lines} {
		n += int64(len(c.starts)) * 12
	}
	n += int64(len(u.rows.Rows))*int64(unsafe.Sizeof(dwarf.Position{})) + int64(len(u.rows.Seqs))*int64(unsafe.Sizeof(dwarf.Sequence{}))
	for i := range u.functions {
		n += int64(unsafe.Sizeof(function{})) + int64(len(u.functions[i].name)+len(u.functions[i].linkage))
	}
	for i := range u.files {
		f := &u.files[i]
		n += int64(unsafe.Sizeof(*f)) + int64(len(f.Path)+len(f.Relative)+len(f.Contents.Sum))
	}
	return n
}
