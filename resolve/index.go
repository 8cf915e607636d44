package resolve

import (
	"github.com/symtool/symtool/resolve/internal/extent"
	"github.com/symtool/symtool/symfmt"
)

// index says where the records of a symbol file are. Its tables have the same form in memory and in
// an index file: records of fixed size, little-endian.
type index struct {
	Identity // without the Path

	OldInlines bool // INLINE records have no call file, and INLINE_ORIGINs have a file id before the name

	size    uint64 // of the text in bytes
	funcs   spans
	blocks  spans // STACK CFI INIT
	wins    spans // STACK WIN of type 4
	fpos    spans // STACK WIN of type 0, apart so that a search skips the other type
	publics table // by address; at the same address, in reverse order of the file
	files   table // by id, then in order of the file
	origins table
}

// newIndex returns an index without records.
func newIndex() *index {
	x := &index{}
	for _, s := range []*spans{&x.funcs, &x.blocks, &x.wins, &x.fpos} {
		s.starts.size, s.size, s.buckets.size, s.outer.size = startSize, spanSize, 4, 4
	}
	x.publics.size, x.files.size, x.origins.size = publicSize, numberSize, numberSize
	return x
}

// tables returns all tables, in the order of index files.
func (x *index) tables() []*table {
	return []*table{
		&x.funcs.starts, &x.funcs.table, &x.funcs.buckets, &x.funcs.outer,
		&x.blocks.starts, &x.blocks.table, &x.blocks.buckets, &x.blocks.outer,
		&x.wins.starts, &x.wins.table, &x.wins.buckets, &x.wins.outer,
		&x.fpos.starts, &x.fpos.table, &x.fpos.buckets, &x.fpos.outer,
		&x.publics, &x.files, &x.origins,
	}
}

// extent returns how far the PUBLICs extend; binary is nil for a symbol file.
func (x *index) extent(binary *symfmt.Extents) extent.Extent {
	var last, public symfmt.RVA
	for _, s := range []*spans{&x.funcs, &x.blocks, &x.wins, &x.fpos} {
		if s.len() > 0 {
			last = max(last, symfmt.RVA(s.last()))
		}
	}
	n := x.publics.len()
	if n == 0 {
		return extent.New(binary, last, nil)
	}
	public = symfmt.RVA(x.publics.u64(n-1, 0))
	return extent.New(binary, last, &public)
}

// InFunc implements extent.Surroundings.
func (x *index) InFunc(rva symfmt.RVA) bool { return x.funcs.find(rva) >= 0 }

// BlockBegins implements extent.Surroundings.
func (x *index) BlockBegins(first, last symfmt.RVA) bool {
	i := x.blocks.below(last) - 1
	return i >= 0 && x.blocks.start(i) > first
}

// BlockAt implements extent.Surroundings.
func (x *index) BlockAt(rva symfmt.RVA) (symfmt.Range, bool) {
	i := x.blocks.find(rva)
	if i < 0 {
		return symfmt.Range{}, false
	}
	v := x.blocks.span(i)
	return symfmt.Range{RVA: v.rva, Size: v.size}, true
}

// offsetOf returns the offset of the record of a FILE, INLINE_ORIGIN or PUBLIC.
func (t *table) offsetOf(i int) uint64 { return t.u64(i, 1) }
