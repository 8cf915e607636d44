package symdiff

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// funcEntry is what is kept of a FUNC and its records.
type funcEntry struct { // 112 bytes
	RVA  symfmt.RVA
	Size uint64 // in bytes
	At   int64  // offset of its text, with INLINE and line records
	Len  uint32 // length of that text
	Line uint32 // line in the text

	Name hash

	// Lines is a hash of the line records, and LinesRel one with line numbers relative
	// to the first of their file; Inlines and InlinesRel are the same for INLINE
	// records. They are 0 if there are none. Files are identified by their base names;
	// Paths is a hash of all full names. Paths and First have only 32 bits, because
	// they are compared only between two matched functions, or together with others.
	Lines, LinesRel     hash
	Shape               hash // of the lines without their numbers
	Inlines, InlinesRel hash

	Covered   uint64 // number of bytes covered by lines
	Paths     uint32
	First     uint32 // hash of the file of the first line
	FirstLine uint32 // number of the first line
	NumInline uint32
	ParamSize uint32
	NumLines  uint16 // 65535 if there are more
	Multiple  bool
	Nameless  nameKind
}

// stop returns the address after the last byte; it may wrap around.
func (f *funcEntry) stop() symfmt.RVA { return f.RVA + symfmt.RVA(f.Size) }

// end returns the offset at which the function's text ends. If the text exceeds
// 4 GB, which no real function does, details cover only the start.
func (f *funcEntry) end() int64 { return f.At + int64(f.Len) }

// publicEntry is a PUBLIC.
type publicEntry struct {
	RVA       symfmt.RVA
	At, End   int64
	Line      uint32
	Name      hash
	ParamSize uint32
	Multiple  bool
	Nameless  nameKind
}

// winEntry is a STACK WIN.
type winEntry struct {
	RVA      symfmt.RVA
	Size     uint64
	At, End  int64
	Line     uint32
	Contents hash // hash of everything but RVA
}

// nameKind classifies a name by how well it identifies a function.
type nameKind uint8

const (
	nameGood    nameKind = iota
	nameMangled          // a linkage name
	nameNone             // "<name omitted>" and the like
)

// dropCopies drops exact copies of earlier records, which have no effect on
// readers. Records still counts them.
func (o *Outline) dropCopies() {
	o.Infos = uniqueInfos(o.Infos)
	o.Funcs = unique(o.Funcs, func(f *funcEntry) symfmt.RVA { return f.RVA }, func(f *funcEntry) hash {
		h := mix(mix(hashNumber(uint64(f.RVA)), f.Size), uint64(f.Name))
		h = mix(mix(h, uint64(f.Lines)), uint64(f.Inlines))
		return mix(mix(h, uint64(f.Paths)), uint64(f.ParamSize)<<1|flag(f.Multiple))
	})
	o.Publics = unique(o.Publics, func(p *publicEntry) symfmt.RVA { return p.RVA }, func(p *publicEntry) hash {
		return mix(mix(hashNumber(uint64(p.RVA)), uint64(p.Name)), uint64(p.ParamSize)<<1|flag(p.Multiple))
	})
	o.Wins = unique(o.Wins, func(w *winEntry) symfmt.RVA { return w.RVA }, func(w *winEntry) hash {
		return mix(hashNumber(uint64(w.RVA)), uint64(w.Contents))
	})
}

func uniqueInfos(infos []symfmt.Info) []symfmt.Info {
	have := map[symfmt.Info]bool{}
	return slices.DeleteFunc(infos, func(in symfmt.Info) bool {
		again := have[in]
		have[in] = true
		return again
	})
}

// unique keeps only the first of the entries at the same address with equal keys.
// s is sorted by address; entries without neighbours there are not examined.
func unique[T any](s []T, rva func(*T) symfmt.RVA, key func(*T) hash) []T {
	grows := true
	for i := 1; i < len(s) && grows; i++ {
		grows = rva(&s[i-1]) < rva(&s[i])
	}
	if grows {
		return s
	}
	order := make([]keyed, len(s))
	for i := range s {
		order[i] = keyed{key(&s[i]), int32(i)}
	}
	slices.SortFunc(order, func(x, y keyed) int { return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.i, y.i)) })
	copies := make([]bool, len(s))
	for k := 1; k < len(order); k++ {
		copies[order[k].i] = order[k].key == order[k-1].key
	}
	out := s[:0]
	for i := range s {
		if !copies[i] {
			out = append(out, s[i])
		}
	}
	return out
}
