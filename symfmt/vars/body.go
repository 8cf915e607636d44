package vars

import "encoding/binary"

// Body has the scopes and call sites of one Func in packed form, a few bytes per variable, as a
// module may have millions of variables. Builder packs it; Tree, Info.At and Info.CallSite read
// it.
//
//	scope:    kind+1; its identification; uvarint group; a location for each variable of the group;
//	          the scopes in it; 0
//	  inline: varint: number of the INLINE minus that of the inline scope before it, at first -1
//	  block:  uvarint number of ranges; ranges, from the start of the scope around it
//	location: 0: none; 1, uvarint expression: the same in all of the scope;
//	          n+1, n times a range, from the start of the scope, and uvarint expression
//	range:    varint distance from the end of the range before it, uvarint size
//	sites:    uvarint number; each: uvarint distance of the return address from that before it, uvarint
//	          flags, varint target minus the function's RVA or uvarint expression of the target, if there is one, uvarint number of
//	          parameters, and for each two uvarints: location, value
//
// The start of a scope is that of the lowest of its ranges. The ranges of an inline scope are
// those of its INLINE record.
type Body struct {
	scopes string
	sites  string
}

// Size returns the size of the body in bytes.
func (b Body) Size() int { return len(b.scopes) + len(b.sites) }

// Range is a piece of code, as offsets from a start that depends on where it is used.
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
	scopes     []byte
	sites      []byte
	numSites   int
	lastSite   RVA
	lastInline int
	end        int64
}

// Reset starts the body of the Func at rva.
func (b *Builder) Reset(rva RVA) {
	*b = Builder{rva: rva, scopes: b.scopes[:0], sites: b.sites[:0], lastSite: rva, lastInline: -1}
}

// Func begins the scope of the function itself.
func (b *Builder) Func(group GroupID) {
	b.scopes = append(b.scopes, byte(FuncScope)+1)
	b.scopes = binary.AppendUvarint(b.scopes, uint64(group))
}

// Inline begins the scope of an INLINE record, by its index in the FUNC.
func (b *Builder) Inline(index int, group GroupID) {
	b.scopes = append(b.scopes, byte(InlineScope)+1)
	b.scopes = binary.AppendVarint(b.scopes, int64(index-b.lastInline))
	b.lastInline = index
	b.scopes = binary.AppendUvarint(b.scopes, uint64(group))
}

// Block begins the scope of a lexical block. Its ranges are sorted, and relative to the start of
// the enclosing scope.
func (b *Builder) Block(ranges []Range, group GroupID) {
	b.scopes = append(b.scopes, byte(BlockScope)+1)
	b.scopes = binary.AppendUvarint(b.scopes, uint64(len(ranges)))
	b.end = 0
	for _, r := range ranges {
		b.span(r)
	}
	b.scopes = binary.AppendUvarint(b.scopes, uint64(group))
}

func (b *Builder) span(r Range) {
	b.scopes = binary.AppendVarint(b.scopes, r.Lo-b.end)
	b.scopes = binary.AppendUvarint(b.scopes, uint64(r.Hi-r.Lo))
	b.end = r.Hi
}

// Location adds the location of the next variable of the group.
func (b *Builder) Location(l *Location) {
	switch {
	case l.Whole != 0:
		b.scopes = append(b.scopes, 1)
		b.scopes = binary.AppendUvarint(b.scopes, uint64(l.Whole))
	case len(l.List) == 0:
		b.scopes = append(b.scopes, 0)
	default:
		b.scopes = binary.AppendUvarint(b.scopes, uint64(len(l.List))+1)
		b.end = 0
		for i := range l.List {
			b.span(l.List[i].Range)
			b.scopes = binary.AppendUvarint(b.scopes, uint64(l.List[i].Expr))
		}
	}
}

// End ends the innermost open scope.
func (b *Builder) End() { b.scopes = append(b.scopes, 0) }

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
	body := Body{scopes: string(b.scopes)}
	if b.numSites > 0 {
		body.sites = string(append(binary.AppendUvarint(nil, uint64(b.numSites)), b.sites...))
	}
	return body
}

// unpacker reads a packed body. As bodies come only from a Builder, they are well-formed.
type unpacker struct {
	data       string
	lastInline int
	end        int64
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

func (u *unpacker) span() Range {
	lo := u.end + u.varint()
	u.end = lo + int64(u.uvarint())
	return Range{lo, u.end}
}

// inline reads the index of an INLINE.
func (u *unpacker) inline() int {
	u.lastInline += int(u.varint())
	return u.lastInline
}

// ranges reads the ranges of a block.
func (u *unpacker) ranges(to []Range) []Range {
	u.end = 0
	for n := u.uvarint(); n > 0; n-- {
		to = append(to, u.span())
	}
	return to
}

// location reads a location, and appends its list to list.
func (u *unpacker) location(list []Entry) Location {
	n := u.uvarint()
	switch n {
	case 0:
		return Location{}
	case 1:
		return Location{Whole: ExprID(u.uvarint())}
	}
	u.end = 0
	for ; n > 1; n-- {
		r := u.span()
		list = append(list, Entry{r, ExprID(u.uvarint())})
	}
	return Location{List: list}
}

// place is the state of a lookup.
type place struct {
	unpacker
	info    *Info
	at      RVA
	inlines []Inlined
	list    []Entry
	found   []Scope // outermost first
}

// at returns the scopes that contain an address of the function.
func (f *Func) at(in *Info, rva RVA, inlines []Inlined) []Scope {
	if f.Body.scopes == "" {
		return nil
	}
	p := place{unpacker: unpacker{data: f.Body.scopes, lastInline: -1}, info: in, at: rva, inlines: inlines}
	p.scope(f.RVA, 0, true)
	for i, j := 0, len(p.found)-1; i < j; i, j = i+1, j-1 {
		p.found[i], p.found[j] = p.found[j], p.found[i]
	}
	return p.found
}

// scope reads a scope, and adds it to those found if it and outer, the enclosing scope, contain
// the address. start is that of the enclosing scope, depth the number of inlined calls around it.
func (p *place) scope(start RVA, depth int, outer bool) {
	s := Scope{Kind: ScopeKind(p.byte() - 1), Inline: -1, Depth: depth}
	around := outer
	switch s.Kind {
	case InlineScope:
		s.Inline = p.inline()
		s.Depth++
		around = false
		for _, in := range p.inlines {
			if in.Index == s.Inline && outer {
				start, around = in.Start, true
			}
		}
	case BlockScope:
		ranges := p.ranges(nil)
		around = false
		at := int64(p.at - start)
		for _, r := range ranges {
			around = around || outer && r.Lo <= at && at < r.Hi
		}
		if len(ranges) > 0 {
			start += RVA(ranges[0].Lo)
		}
	}
	group := p.info.Groups[p.uvarint()]
	if around {
		s.Vars = make([]Instance, 0, len(group))
	}
	for _, v := range group {
		l := p.location(p.list[:0])
		if around {
			s.Vars = append(s.Vars, Instance{v, l.at(int64(p.at - start))})
		}
		if l.List != nil {
			p.list = l.List
		}
	}
	if around && len(p.found) < MaxDepth {
		p.found = append(p.found, s)
	}
	for p.data[0] != 0 {
		p.scope(start, s.Depth, around)
	}
	p.byte()
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
