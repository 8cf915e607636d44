package dwarf

import (
	"bytes"

	"github.com/symtool/symtool/internal/dw"
)

// Scanner visits the DIEs of a unit once. It stops at functions and, where they are wanted, at scopes and inlined
// subroutines.
type Scanner struct {
	u      *Unit
	pos    int
	depth  int      // of the DIEs being read; 1 for children of the unit's DIE
	open   []int    // the depths of the children of entries, innermost last
	scopes bool     // stop at scopes
	flat   bool     // nothing below a scope is wanted
	brief  bool     // nothing below a function or type is wanted
	pass   uint     // bits of the classes whose DIEs are passed over, though not what is below them
	whole  bool     // the scan began at the first DIE
	only   []int    // positions of the wanted DIEs, in order; nil means all
	starts []uint64 // bits of Starts
	mark   uint     // bits of the classes whose DIEs are added to starts
	entry  Entry
}

// Entry is a DIE at which a scanner stops.
type Entry struct {
	Class    Class
	Tag      uint16
	Children bool // an end follows
	Start    int  // position in the unit
	Attrs    Attrs
}

// MaxDepth bounds the nesting of DIEs. Compilers stay below 200; a unit that
// exceeds it counts as damaged.
const MaxDepth = 4096

// Reset starts at the children of a unit's own DIE.
func (s *Scanner) Reset(u *Unit, scopes, flat bool) {
	s.u, s.pos, s.depth, s.open = u, u.children, 1, s.open[:0]
	s.scopes, s.flat, s.brief, s.only, s.mark, s.whole = scopes, flat, false, nil, 0, true
	s.Inlines(true)
}

// Inlines sets whether to stop at inlined subroutines. Functions without code matter only where inlined subroutines
// do, and for scopes.
func (s *Scanner) Inlines(wanted bool) {
	s.pass = 1 << ClassOther
	if !s.scopes && !s.flat {
		s.pass |= 1 << ClassScope
	}
	if !wanted {
		s.pass |= 1 << ClassInline
		if !s.scopes {
			s.pass |= 1 << ClassBare
		}
	}
}

// Only limits the scan to the DIEs that contain positions, which must be sorted. DIEs without a reference to their
// sibling are visited, too.
func (s *Scanner) Only(positions []int) { s.only = positions }

// Brief makes the scanner skip what is inside functions and types that have a reference to their sibling. Their
// entries then end where the sibling begins.
func (s *Scanner) Brief() { s.brief = true }

// misses reports whether no wanted DIE is in [start, end).
func (s *Scanner) misses(start, end int) bool {
	for len(s.only) > 0 && s.only[0] < start {
		s.only = s.only[1:]
	}
	return len(s.only) == 0 || s.only[0] >= end
}

// Seek continues at the DIE at pos as if it were a child of the unit's own DIE.
func (s *Scanner) Seek(pos int) { s.pos, s.depth, s.open, s.whole = pos, 1, s.open[:0], false }

// At returns the current position in the unit.
func (s *Scanner) At() int { return s.pos }

// Size returns the size of the unit.
func (s *Scanner) Size() int { return int(s.u.Size) }

// Next advances to the next entry, which is valid until the following call. At the end of an entry's children, e is
// nil. done reports that there are no more entries.
func (s *Scanner) Next() (e *Entry, done bool, err error) {
	u := s.u
	data, dense, pos, depth, pass := u.data, u.Abbrevs.dense, s.pos, s.depth, s.pass
	starts, mark := s.starts, s.mark
	for pos < len(data) {
		start := pos
		code := uint64(data[pos])
		pos++
		if code >= 0x80 {
			if code, pos = uleb(data, start); pos < 0 {
				return nil, true, u.Errorf(start, "unit ends within an abbreviation code")
			}
		}
		if code == 0 {
			if depth--; depth == 0 {
				s.pos = start + 1
				return nil, true, s.behind()
			}
			if n := len(s.open); n > 0 && s.open[n-1] > depth {
				s.open = s.open[:n-1]
				s.pos, s.depth = start+1, depth
				return nil, false, nil
			}
			continue
		}
		var d *decl
		if code < uint64(len(dense)) && dense[code].known {
			d = &dense[code]
		} else {
			d = u.Abbrevs.lookup(code)
		}
		// Most DIEs end here: parameters, variables, members, most types.
		if mark>>d.class&1 != 0 {
			starts[start/64] |= 1 << (start % 64)
		}
		if pass>>d.class&1 != 0 && d.size >= 0 {
			pos += int(d.size)
			if d.children {
				if depth++; depth > MaxDepth {
					return nil, true, u.Errorf(start, "DIEs nested more than %d deep", MaxDepth)
				}
			}
			continue
		}
		stop, enter, next, err := s.die(d, start, pos)
		if err != nil {
			return nil, true, err
		}
		pos = next
		if enter {
			if depth++; depth > MaxDepth {
				return nil, true, u.Errorf(start, "DIEs nested more than %d deep", MaxDepth)
			}
		}
		if stop {
			if enter {
				s.open = append(s.open, depth)
			}
			s.pos, s.depth = pos, depth
			return &s.entry, false, nil
		}
	}
	if pos > len(data) {
		return nil, true, u.Errorf(len(data), "unit ends within a DIE")
	}
	// Some producers omit the closing zeros of the last DIEs.
	s.pos = pos
	return nil, true, nil
}

// behind returns an error if more than padding follows the last DIE: damage ended the DIEs early.
func (s *Scanner) behind() error {
	if rest := s.u.data[s.pos:]; s.whole && len(bytes.TrimLeft(rest, "\x00")) > 0 {
		return s.u.Errorf(s.pos, "%d bytes behind the unit's last DIE", len(rest))
	}
	return nil
}

// die reads a DIE that cannot simply be skipped. It returns whether the scanner stops at it, whether its children
// follow, and where the scan continues.
func (s *Scanner) die(d *decl, start, pos int) (stop, enter bool, next int, err error) {
	u := s.u
	switch {
	case !d.known:
		return false, false, 0, u.Errorf(start, "abbreviation is not declared at .debug_abbrev+%#x", u.Abbrevs.offset)
	case d.bad:
		return false, false, 0, u.badForm(start, d)
	case u.meter.Exhausted:
		return false, false, 0, ErrExhausted
	}
	jump := 0 // over the children
	if s.brief && d.children && d.sibForm != 0 && isBody(d) {
		if to := u.sibling(d, pos); to > 0 {
			s.entry = Entry{Class: d.class, Tag: d.tag, Start: start}
			u.take(d, start, pos, &s.entry.Attrs)
			return true, false, to, nil
		}
	}
	if d.children && d.sibForm != 0 && (d.class == ClassPrune || d.class == ClassScope && s.flat || s.only != nil) {
		if to := u.sibling(d, pos); to > 0 && (s.only == nil || s.misses(start, to)) {
			jump = to
		}
	}
	if jump > 0 && d.class != ClassFunc && d.class != ClassBare {
		return false, false, jump, nil
	}
	if s.pass>>d.class&1 == 0 {
		stop = d.class == ClassFunc || d.class == ClassBare || d.class == ClassInline || d.class == ClassScope && s.scopes && d.children
	}
	enter = d.children && jump == 0
	if stop {
		s.entry.Class, s.entry.Tag, s.entry.Children, s.entry.Start = d.class, d.tag, enter, start
		next = u.take(d, start, pos, &s.entry.Attrs)
	} else {
		next = u.over(d, pos)
	}
	if next < 0 {
		return false, false, 0, u.Errorf(start, "unit ends within a DIE")
	}
	return stop, enter, max(next, jump), nil
}

// isBody reports whether a DIE is a function or a type with DIEs of its own.
func isBody(d *decl) bool {
	switch d.class {
	case ClassFunc, ClassBare:
		return true
	case ClassScope:
		return d.tag != dw.TagNamespace && d.tag != dw.TagModule
	}
	return false
}

// sibling returns the position of the DIE's next sibling, or -1 if the reference is not plausible.
func (u *Unit) sibling(d *decl, pos int) int {
	at := pos + int(d.sibOff)
	size := int(d.sibForm)
	if at < 0 || at+size > len(u.data) {
		return -1
	}
	to := u.Order.uint(u.data[at : at+size])
	if to <= uint64(at) || to > uint64(len(u.data)) {
		return -1
	}
	return int(to)
}

// over skips all attributes of a DIE.
func (u *Unit) over(d *decl, pos int) int {
	if d.size >= 0 {
		return pos + int(d.size)
	}
	u.meter.Spend(uint64(len(d.steps)))
	for i := range d.steps {
		if pos = u.skip(&d.steps[i], pos); pos < 0 {
			return -1
		}
	}
	return pos
}

// TakeAt reads the attributes that name the DIE at pos of the unit's data, if DIEs with its tag have names. It returns
// the position after them, or -1.
func (u *Unit) TakeAt(pos int, a *NameAttrs) int {
	start := pos
	code, pos := uleb(u.data, pos)
	if pos < 0 || code == 0 {
		return -1
	}
	d := u.Abbrevs.lookup(code)
	if !d.known || d.bad {
		return -1
	}
	var all Attrs
	next := u.take(d, start, pos, &all)
	*a = all.NameAttrs
	return next
}

// TagAt returns the tag of the DIE at pos of the unit's data, or 0.
func (u *Unit) TagAt(pos int) uint16 {
	code, pos := uleb(u.data, pos)
	if pos < 0 || code == 0 {
		return 0
	}
	return u.Abbrevs.lookup(code).tag
}

// Attrs are the attributes of functions and inlined subroutines.
type Attrs struct {
	NameAttrs
	Low, High, Ranges Value
	CallFile          Value
	CallLine          Value
}

// NameAttrs are the attributes that name a DIE, or refer to the DIE that does.
type NameAttrs struct {
	Name, Linkage Value
	spec, origin  Value
}

// decoded reports the DIE at pos to Sections.Decoded.
func (u *Unit) decoded(d *decl, pos int) {
	if f := u.sect.Decoded; f != nil {
		f(u.Off+uint64(pos), d.tag)
	}
}

// take reads the wanted attributes of the DIE at start, which begin at pos. It returns the position after them, or -1.
func (u *Unit) take(d *decl, start, pos int, a *Attrs) int {
	*a = Attrs{}
	u.decoded(d, start)
	u.meter.Spend(uint64(len(d.steps)))
	for i := range d.steps {
		s := &d.steps[i]
		if s.op == opFixed {
			if pos += int(s.n); pos > len(u.data) {
				return -1
			}
			continue
		}
		if s.op != opTake {
			if pos = u.skip(s, pos); pos < 0 {
				return -1
			}
			continue
		}
		v, next := u.taken(s, pos)
		if next < 0 {
			return -1
		}
		pos = next
		switch s.slot {
		case slotName:
			a.Name = v
		case slotLinkage:
			a.Linkage = v
		case slotLow:
			a.Low = v
		case slotHigh:
			a.High = v
		case slotRanges:
			a.Ranges = v
		case slotSpec:
			a.spec = v
		case slotOrigin:
			a.origin = v
		case slotCallFile:
			a.CallFile = v
		case slotCallLine:
			a.CallLine = v
		}
	}
	return pos
}

// Look makes data, a part of the unit, the unit's bytes: positions are then relative to data.
func (u *Unit) Look(data []byte) { u.data = data }

// Values returns the linkage name, the name, and the references to the origin and the specification.
func (a *NameAttrs) Values() [4]Value { return [4]Value{a.Linkage, a.Name, a.origin, a.spec} }

// Next returns a reference to the DIE that completes this one and may have its name. It reports false if there is
// none.
func (a *NameAttrs) Next() (Value, bool) {
	if a.origin.IsRef() {
		return a.origin, true
	}
	return a.spec, a.spec.IsRef()
}

// IsRef reports whether the value refers to a DIE.
func (v Value) IsRef() bool { return v.Kind == Ref || v.Kind == RefSup || v.Kind == RefSig }
