package vars

import (
	"encoding/binary"
	"slices"
)

// Body holds the scopes and call sites of one Func in packed form, a few bytes per variable, as
// a module may have millions of variables. Builder packs it; Tree, Info.At and Info.CallSite
// read it.
//
// Ranges begin and end at boundaries, which are numbered by address; number 0 is the start of the function.
// Several ranges usually end at the same boundary, as a call or an instruction that moves values changes the
// locations of several variables.
//
//	scopes:   uvarint number of boundaries after 0; each: uvarint distance from the one before; a scope
//	scope:    kind+1; its identification; uvarint group; a location for each variable of the group;
//	          the scopes in it; 0
//	  inline: varint: number of the INLINE minus the number in the inline scope before it, initially -1
//	  block:  uvarint number of ranges; ranges
//	location: 0: none; 1, uvarint expression: the same in all of the scope;
//	          n+1, n times a range and uvarint expression
//	range:    varint boundaries from the end of the range before it in the list, or for the first one from the
//	          cursor, to its start; uvarint boundaries from there to its end
//	sites:    uvarint number; each: uvarint distance of the return address from the one before, uvarint
//	          flags, varint target minus the function's RVA or uvarint expression of the target, if there is one, uvarint number of
//	          parameters, and for each two uvarints: location, value
//
// The cursor is the start of the scope's last list of locations or ranges. Before the first list, it is what
// it was in the enclosing scope when this one began, or 0 for the function.
type Body struct {
	scopes string
	sites  string
}

// Range is a piece of code, as offsets from the start of the function.
type Range struct{ Lo, Hi int64 }

// Flags of a call site.
const (
	siteTail = 1 << iota
	siteTarget
	siteTargetAt
)

// Builder packs the scopes and call sites of one Func after another.
type Builder struct {
	rva        RVA
	parts      []byte // of the scopes, with offsets instead of numbers of boundaries
	bounds     boundaries
	cursors    []int // of the open scopes
	sites      []byte
	numSites   int
	lastSite   RVA
	lastInline int
	packed     []byte // storage
}

// The kinds of parts.
const (
	rawPart   = iota // a uvarint
	openPart         // a scope begins: its kind, a uvarint
	closePart        // it ends
	firstPart        // the first range of a list: varint start, uvarint size
	rangePart        // a range after it, likewise
)

// Reset starts the body of the Func at rva.
func (b *Builder) Reset(rva RVA) {
	b.bounds.reset()
	*b = Builder{rva: rva, parts: b.parts[:0], bounds: b.bounds, cursors: b.cursors[:0], packed: b.packed, sites: b.sites[:0], lastSite: rva, lastInline: -1}
}

func (b *Builder) add(kind uint8, n uint64) {
	b.parts = binary.AppendUvarint(append(b.parts, kind), n)
}

// Func begins the scope of the function itself.
func (b *Builder) Func(group GroupID) {
	b.add(openPart, uint64(FuncScope))
	b.add(rawPart, uint64(group))
}

// Inline begins the scope of an INLINE record, by its index in the FUNC.
func (b *Builder) Inline(index int, group GroupID) {
	b.add(openPart, uint64(InlineScope))
	by := int64(index - b.lastInline)
	b.add(rawPart, uint64(by<<1^by>>63))
	b.lastInline = index
	b.add(rawPart, uint64(group))
}

// Block begins the scope of a lexical block. Its ranges are sorted.
func (b *Builder) Block(ranges []Range, group GroupID) {
	b.add(openPart, uint64(BlockScope))
	b.add(rawPart, uint64(len(ranges)))
	for i, r := range ranges {
		b.span(r, i == 0)
	}
	b.add(rawPart, uint64(group))
}

func (b *Builder) span(r Range, first bool) {
	b.bounds.add(r.Lo)
	b.bounds.add(r.Hi)
	kind := uint8(rangePart)
	if first {
		kind = firstPart
	}
	b.parts = binary.AppendVarint(append(b.parts, kind), r.Lo)
	b.parts = binary.AppendUvarint(b.parts, uint64(r.Hi-r.Lo))
}

// Location adds the location of the next variable of the group.
func (b *Builder) Location(l *Location) {
	switch {
	case l.Whole != 0:
		b.add(rawPart, 1)
		b.add(rawPart, uint64(l.Whole))
	case len(l.List) == 0:
		b.add(rawPart, 0)
	default:
		b.add(rawPart, uint64(len(l.List))+1)
		for i := range l.List {
			b.span(l.List[i].Range, i == 0)
			b.add(rawPart, uint64(l.List[i].Expr))
		}
	}
}

// End ends the innermost open scope.
func (b *Builder) End() { b.parts = append(b.parts, closePart) }

// pack packs the scopes.
func (b *Builder) pack() string {
	if len(b.parts) == 0 {
		return ""
	}
	p := b.bounds.pack(b.packed[:0])
	cursor, end := 0, 0
	for parts := b.parts; len(parts) > 0; {
		kind := parts[0]
		parts = parts[1:]
		switch kind {
		case rawPart:
			_, size := binary.Uvarint(parts)
			p, parts = append(p, parts[:size]...), parts[size:]
		case openPart:
			p, parts = append(p, parts[0]+1), parts[1:]
			b.cursors = append(b.cursors, cursor)
		case closePart:
			p = append(p, 0)
			n := len(b.cursors) - 1
			cursor, b.cursors = b.cursors[n], b.cursors[:n]
		default:
			from, size := binary.Varint(parts)
			length, more := binary.Uvarint(parts[size:])
			parts = parts[size+more:]
			lo, hi := b.bounds.number(from), b.bounds.number(from+int64(length))
			if kind == firstPart {
				cursor, end = lo, cursor
			}
			p = binary.AppendVarint(p, int64(lo-end))
			p = binary.AppendUvarint(p, uint64(hi-lo))
			end = hi
		}
	}
	b.packed = p
	return string(p)
}

// Site adds a call site. Sites are added in order of their return addresses.
func (b *Builder) Site(s *CallSite) {
	b.sites = binary.AppendUvarint(b.sites, uint64(s.Return-b.lastSite))
	b.lastSite = s.Return
	flags := uint64(0)
	if s.Tail {
		flags |= siteTail
	}
	if s.HasTarget {
		flags |= siteTarget
	}
	if s.TargetAt != 0 {
		flags |= siteTargetAt
	}
	b.sites = binary.AppendUvarint(b.sites, flags)
	if s.HasTarget {
		b.sites = binary.AppendVarint(b.sites, int64(s.Target-b.rva))
	}
	if s.TargetAt != 0 {
		b.sites = binary.AppendUvarint(b.sites, uint64(s.TargetAt))
	}
	b.sites = binary.AppendUvarint(b.sites, uint64(len(s.Params)))
	for _, p := range s.Params {
		b.sites = binary.AppendUvarint(b.sites, uint64(p.Location))
		b.sites = binary.AppendUvarint(b.sites, uint64(p.Value))
	}
	b.numSites++
}

// Finish returns the body.
func (b *Builder) Finish() Body {
	body := Body{scopes: b.pack()}
	if b.numSites > 0 {
		body.sites = string(append(binary.AppendUvarint(nil, uint64(b.numSites)), b.sites...))
	}
	return body
}

// unpacker reads a packed body. As bodies come only from a Builder, they are well-formed.
type unpacker struct {
	data       string
	lastInline int
	cursor     int64 // of the scope
	end        int64 // boundary at the end of the last range
}

// unpack returns an unpacker of the scopes, and bounds with the offsets of the boundaries appended.
func (b Body) unpack(bounds []int64) (unpacker, []int64) {
	u := unpacker{data: b.scopes, lastInline: -1}
	at := int64(0)
	bounds = append(bounds, at)
	for n := u.uvarint(); n > 0; n-- {
		at += int64(u.uvarint())
		bounds = append(bounds, at)
	}
	return u, bounds
}

func (u *unpacker) byte() byte {
	b := u.data[0]
	u.data = u.data[1:]
	return b
}

func (u *unpacker) uvarint() (v uint64) {
	for shift := 0; ; shift += 7 {
		b := u.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
}

func (u *unpacker) varint() int64 {
	v := u.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// span reads a range as the numbers of its boundaries. The first range of a list sets the cursor.
func (u *unpacker) span(first bool) (lo, hi int64) {
	if first {
		u.end = u.cursor
	}
	lo = u.end + u.varint()
	if first {
		u.cursor = lo
	}
	u.end = lo + int64(u.uvarint())
	return lo, u.end
}

// inline reads the index of an INLINE.
func (u *unpacker) inline() int {
	u.lastInline += int(u.varint())
	return u.lastInline
}

// place is the state of a lookup.
type place struct {
	unpacker
	info    *Info
	at      int64 // the last boundary that is not after the address
	inlines []int
	found   []Scope // outermost first
}

// at returns the scopes that contain an address of the function.
func (f *Func) at(in *Info, rva RVA, inlines []int) []Scope {
	if f.Body.scopes == "" {
		return nil
	}
	u, bounds := f.Body.unpack(nil)
	at, ok := slices.BinarySearch(bounds, int64(rva-f.RVA))
	if !ok {
		at--
	}
	p := place{unpacker: u, info: in, at: int64(at), inlines: inlines}
	p.scope(0, true)
	slices.Reverse(p.found)
	return p.found
}

// scope reads a scope and, if it and the enclosing scope (outer) contain the address, adds it
// to those found. depth is the number of inlined calls around the enclosing scope.
func (p *place) scope(depth int, outer bool) {
	defer func(cursor int64) { p.cursor = cursor }(p.cursor)
	s := Scope{Kind: ScopeKind(p.byte() - 1), Inline: -1, Depth: depth}
	around := outer
	switch s.Kind {
	case InlineScope:
		s.Inline = p.inline()
		s.Depth++
		around = outer && slices.Contains(p.inlines, s.Inline)
	case BlockScope:
		around = p.covered() && outer
	}
	group := p.info.Groups[p.uvarint()]
	if around {
		s.Vars = make([]Instance, 0, len(group))
	}
	for _, v := range group {
		e := p.location()
		if around {
			s.Vars = append(s.Vars, Instance{v, e})
		}
	}
	if around && len(p.found) < maxDepth {
		p.found = append(p.found, s)
	}
	for p.data[0] != 0 {
		p.scope(s.Depth, around)
	}
	p.byte()
}

// covered reads the ranges of a block, and reports whether one of them contains the address.
func (p *place) covered() bool {
	found := false
	for i, n := uint64(0), p.uvarint(); i < n; i++ {
		lo, hi := p.span(i == 0)
		found = found || lo <= p.at && p.at < hi
	}
	return found
}

// location reads a location, and returns the expression that applies at the address. If several entries contain
// it, the first one applies.
func (p *place) location() (at ExprID) {
	n := p.uvarint()
	switch n {
	case 0:
		return 0
	case 1:
		return ExprID(p.uvarint())
	}
	for i := uint64(1); i < n; i++ {
		lo, hi := p.span(i == 1)
		if e := ExprID(p.uvarint()); at == 0 && lo <= p.at && p.at < hi {
			at = e
		}
	}
	return at
}

// callSite returns the call that returns to ret.
func (f *Func) callSite(ret RVA) (CallSite, bool) {
	for s := range f.CallSites() {
		if s.Return == ret {
			return s, true
		}
	}
	return CallSite{}, false
}
