package varjoin

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/symfmt/vars"
)

// Function collects the variables of a function while its DIE is read. Addresses are those of the file.
type Function struct {
	Frame    vars.ExprID // DW_AT_frame_base
	Language vars.Language
	Entry    uint64 // address of its first instruction, which may be in any of its pieces
	Moved    uint64 // added, modulo 2^64, to all addresses to get addresses in the module's file

	base   uint64
	whole  bool
	scopes []openScope // each before those inside it
	vars   []openVar
	locs   []location
	spans  []dwarf.Span
	sites  []openSite
	params []vars.SiteParam
	order  []int32 // for packing: the variables by scope
	firsts []int32
}

// openScope is a scope of the function.
type openScope struct {
	kind        vars.ScopeKind
	around      int32 // the scope around it; -1 for the function's own
	level       int32 // number of scopes around it
	first, last int32 // of its spans
	vars        int32 // number of its own variables
	used        bool  // the scope, or one inside it, has variables
}

// openVar is a variable of a scope.
type openVar struct {
	scope       int32
	number      uint32
	whole       vars.ExprID
	first, last int32 // of its locs
}

// location is the location of a variable in a range of addresses.
type location struct {
	lo, hi uint64
	expr   vars.ExprID
}

// Site is a call.
type Site struct {
	Return   uint64
	Tail     bool
	Target   Target // the zero value if unknown
	TargetAt vars.ExprID
}

type openSite struct {
	Site
	first, last int32 // of its params
}

// packedFunc is a function with its variables, packed.
type packedFunc struct {
	id   FuncID
	base uint64 // packed addresses count from it
	unit int32  // of Records.units
	uses int32  // for Join: the number of places still to come
	data []byte
}

// free frees the memory of a function that has no more places.
func (f *packedFunc) free() {
	if f.uses == 0 {
		f.data = nil
	}
}

// FuncID identifies a function across readers.
type FuncID struct{ Key, Sub uint64 }

// Reset begins a function whose lowest address is base, which is also its Entry. Its own scope has number 0. whole says
// that its code is one piece.
func (f *Function) Reset(base uint64, whole bool) {
	*f = Function{base: base, Entry: base, whole: whole, scopes: f.scopes[:0], vars: f.vars[:0], locs: f.locs[:0], spans: f.spans[:0],
		sites: f.sites[:0], params: f.params[:0], order: f.order[:0], firsts: f.firsts[:0]}
	f.scopes = append(f.scopes, openScope{kind: vars.FuncScope, around: -1})
}

// Level returns the number of scopes around scope.
func (f *Function) Level(scope int32) int { return int(f.scopes[scope].level) }

// Open returns the number of a new scope inside around. spans must append the scope's code to a list.
func (f *Function) Open(kind vars.ScopeKind, around int32, spans func([]dwarf.Span) []dwarf.Span) int32 {
	s := openScope{kind: kind, around: around, level: f.scopes[around].level + 1, first: int32(len(f.spans))}
	f.spans = spans(f.spans)
	s.last = int32(len(f.spans))
	f.scopes = append(f.scopes, s)
	return int32(len(f.scopes) - 1)
}

// Locate adds the location of the next variable in a range of addresses.
func (f *Function) Locate(lo, hi uint64, expr vars.ExprID) {
	f.locs = append(f.locs, location{lo, hi, expr})
}

// Variable adds a variable to a scope, by its number in the unit. whole is its location in the whole scope; it is used
// if it is not 0 and Locate was not called. Variable reports whether the variable has a location.
func (f *Function) Variable(scope int32, number uint32, whole vars.ExprID) (located bool) {
	va := openVar{scope: scope, number: number, whole: whole, last: int32(len(f.locs))}
	if n := len(f.vars); n > 0 {
		va.first = f.vars[n-1].last
	}
	f.vars = append(f.vars, va)
	f.scopes[scope].vars++
	for i := scope; i >= 0 && !f.scopes[i].used; i = f.scopes[i].around {
		f.scopes[i].used = true
	}
	return whole != 0 || va.first < va.last
}

// Numbers returns the numbers of the variables of a scope whose contents have just been read.
func (f *Function) Numbers(scope int32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i := len(f.vars) - 1; i >= 0 && f.vars[i].scope >= scope; i-- { // earlier ones are of scopes opened before
			if f.vars[i].scope == scope && !yield(f.vars[i].number) {
				return
			}
		}
	}
}

// Param adds an argument of the next call.
func (f *Function) Param(p vars.SiteParam) { f.params = append(f.params, p) }

// Keeps reports whether the next call will be kept. Without arguments, only tail calls are: values at entry depend on
// the functions that they may lead to.
func (f *Function) Keeps(s *Site) bool { return s.Tail || int(f.firstParam()) < len(f.params) }

// firstParam returns the index of the next call's first argument.
func (f *Function) firstParam() int32 {
	if n := len(f.sites); n > 0 {
		return f.sites[n-1].last
	}
	return 0
}

// Site adds a call with its arguments if Keeps reports that it is kept.
func (f *Function) Site(s Site) {
	if f.Keeps(&s) {
		f.sites = append(f.sites, openSite{Site: s, first: f.firstParam(), last: int32(len(f.params))})
	}
}

// AddFunc packs f, unless it is empty. It returns the number of bytes used.
func (r *Records) AddFunc(id FuncID, f *Function) int {
	if !f.scopes[0].used && len(f.sites) == 0 {
		return 0
	}
	r.uses = append(r.uses, make([]uint32, r.exprs.Len()-len(r.uses))...)
	p := packer{data: r.packed[:0], end: f.base, uses: r.uses}
	p.expr(f.Frame)
	p.number(uint64(f.Language))
	p.data = binary.AppendVarint(p.data, int64(f.Entry-f.base))
	p.scopes(f)
	p.sites(f)
	r.packed = p.data
	r.funcs = append(r.funcs, packedFunc{id: id, base: f.base + f.Moved, unit: int32(len(r.units)), data: r.keep(p.data)})
	return len(p.data)
}

const chunkSize = 256 << 10

// keep returns a permanent copy of p.
func (r *Records) keep(p []byte) []byte {
	if len(p) > cap(r.chunk)-len(r.chunk) {
		r.chunk = make([]byte, 0, max(chunkSize, len(p)))
	}
	n := len(r.chunk)
	r.chunk = append(r.chunk, p...)
	return r.chunk[n:len(r.chunk):len(r.chunk)]
}

// hullScope is the kind, in packed functions, of an inlined call with several ranges in a function of one piece. Only
// the range around them all is packed: the INLINE has the single ranges.
const hullScope = vars.BlockScope + 1

// packer writes a function:
//
//	uvarint frame base, uvarint language, varint entry minus the base, uvarint number of scopes; scopes; uvarint number of sites; sites
//	scope:    kind, uvarint level, uvarint number of ranges, ranges, uvarint number of variables,
//	          variables
//	variable: uvarint number in the unit; 0: no location; 1, uvarint expression; n+1, n times a range and
//	          uvarint expression
//	range:    varint distance from the end of the range before it, at first the base; uvarint size
//	site:     varint return address minus the base, 1 for a tail call, uvarints of the target, uvarint
//	          expression of the target, uvarint number of arguments; for each two uvarints
type packer struct {
	data []byte
	end  uint64
	uses []uint32 // by expression
}

func (p *packer) expr(e vars.ExprID) {
	p.number(uint64(e))
	p.uses[e]++
}

func (p *packer) number(n uint64) { p.data = binary.AppendUvarint(p.data, n) }

func (p *packer) span(lo, hi uint64) {
	p.data = binary.AppendVarint(p.data, int64(lo-p.end))
	p.number(hi - lo)
	p.end = hi
}

// scopes writes the scopes in order, each with its level, spans and variables.
func (p *packer) scopes(f *Function) {
	// The variables of a scope were added consecutively only if no scope lies between them.
	firsts := append(f.firsts[:0], 0)
	used := 0
	for i := range f.scopes {
		firsts = append(firsts, firsts[i]+f.scopes[i].vars)
		if f.scopes[i].used || i == 0 {
			used++
		}
	}
	order := slices.Grow(f.order[:0], len(f.vars))[:len(f.vars)]
	for i := range f.vars {
		s := f.vars[i].scope
		order[firsts[s]] = int32(i)
		firsts[s]++
	}
	f.firsts, f.order = firsts, order
	p.number(uint64(used))
	at := 0
	for i := range f.scopes {
		s := &f.scopes[i]
		from := at
		at += int(s.vars)
		if !s.used && i > 0 {
			continue
		}
		kind, spans := s.kind, f.spans[s.first:s.last]
		if kind == vars.InlineScope && f.whole && len(spans) > 1 {
			kind, spans[0].Hi = hullScope, spans[len(spans)-1].Hi
			spans = spans[:1]
		}
		p.data = append(p.data, byte(kind))
		p.number(uint64(s.level))
		p.number(uint64(len(spans)))
		for _, r := range spans {
			p.span(r.Lo, r.Hi)
		}
		p.number(uint64(s.vars))
		for _, k := range order[from:at] {
			p.variable(f, &f.vars[k])
		}
	}
}

func (p *packer) variable(f *Function, va *openVar) {
	p.number(uint64(va.number))
	switch n := va.last - va.first; {
	case va.whole != 0:
		p.number(1)
		p.expr(va.whole)
	case n == 0:
		p.number(0)
	default:
		p.number(uint64(n) + 1)
		for _, l := range f.locs[va.first:va.last] {
			p.span(l.lo, l.hi)
			p.expr(l.expr)
		}
	}
}

func (p *packer) sites(f *Function) {
	p.number(uint64(len(f.sites)))
	for i := range f.sites {
		s := &f.sites[i]
		p.data = binary.AppendVarint(p.data, int64(s.Return-f.base))
		p.data = append(p.data, btob(s.Tail))
		p.number(s.Target.Skeleton)
		p.number(s.Target.Off)
		p.expr(s.TargetAt)
		p.number(uint64(s.last - s.first))
		for _, q := range f.params[s.first:s.last] {
			p.expr(q.Location)
			p.expr(q.Value)
		}
	}
}

// unpacker reads what a packer wrote.
type unpacker struct {
	data []byte
	end  uint64
}

func (u *unpacker) number() uint64 {
	if b := u.data[0]; b < 0x80 { // nearly always
		u.data = u.data[1:]
		return uint64(b)
	}
	return u.long()
}

func (u *unpacker) long() uint64 {
	n, size := binary.Uvarint(u.data)
	u.data = u.data[size:]
	return n
}

func (u *unpacker) signed() int64 {
	n, size := binary.Varint(u.data)
	u.data = u.data[size:]
	return n
}

func (u *unpacker) byte() byte {
	b := u.data[0]
	u.data = u.data[1:]
	return b
}

func (u *unpacker) span() (lo, hi uint64) {
	lo = u.end + uint64(u.signed())
	u.end = lo + u.number()
	return lo, u.end
}
