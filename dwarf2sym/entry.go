package dwarf2sym

// scanner goes over the DIEs of a unit once. It stops at those that describe functions,
// inlined subroutines and scopes.
type scanner struct {
	u      *unit
	pos    int
	depth  int   // of the DIEs whose children are being read; 1 for those below the unit's
	open   []int // the depths of the children of entries, innermost last
	scopes bool  // stop at scopes
	flat   bool  // nothing that is wanted is below a scope
	entry  entry
}

// entry is a DIE at which a scanner stops.
type entry struct {
	class    class
	tag      uint16
	children bool // an end follows
	start    int  // position in the unit
	next     int  // behind its attributes
	attrs    dieAttrs
}

// maxDepth bounds the nesting of DIEs. Compilers stay below 200; beyond it the
// unit is taken for damaged.
const maxDepth = 4096

// reset begins with the children of a unit's own DIE.
func (s *scanner) reset(u *unit, scopes, flat bool) {
	s.u, s.pos, s.depth, s.open = u, u.children, 1, s.open[:0]
	s.scopes, s.flat = scopes, flat
}

// at returns the position in the unit that was reached.
func (s *scanner) at() int { return s.pos }

// next goes on to the next entry, which is valid until the next call, or to the
// end of the children of one: then e is nil. done reports that there is nothing more.
func (s *scanner) next() (e *entry, done bool, err error) {
	u := s.u
	data, dense, pos, depth := u.data, u.abbrevs.dense, s.pos, s.depth
	for pos < len(data) {
		start := pos
		code := uint64(data[pos])
		pos++
		if code >= 0x80 {
			if code, pos = uleb(data, start); pos < 0 {
				return nil, true, u.errorf(start, "unit ends within an abbreviation code")
			}
		}
		if code == 0 {
			if depth--; depth == 0 {
				return nil, true, nil
			}
			if n := len(s.open); n > 0 && s.open[n-1] > depth {
				s.open = s.open[:n-1]
				s.pos, s.depth = start+1, depth
				return nil, false, nil
			}
			continue
		}
		var d *decl
		if code < uint64(len(dense)) {
			d = &dense[code]
		} else {
			d = u.abbrevs.lookup(code)
		}
		// Most DIEs end here: parameters, variables, types, members.
		if d.class == classOther && d.size >= 0 {
			pos += int(d.size)
			if d.children {
				if depth++; depth > maxDepth {
					return nil, true, u.errorf(start, "DIEs nested over %d deep", maxDepth)
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
			if depth++; depth > maxDepth {
				return nil, true, u.errorf(start, "DIEs nested over %d deep", maxDepth)
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
		return nil, true, u.errorf(len(data), "unit ends within a DIE")
	}
	// Some producers leave out the closing zeros of the last DIEs.
	return nil, true, nil
}

// die reads a DIE that is more than passed over: whether the scanner stops at it,
// whether what follows is its children, and where that is.
func (s *scanner) die(d *decl, start, pos int) (stop, enter bool, next int, err error) {
	u := s.u
	switch {
	case !d.known:
		return false, false, 0, u.errorf(start, "abbreviation is not declared at .debug_abbrev+%#x", u.abbrevs.offset)
	case d.bad:
		return false, false, 0, u.errorf(start, "attribute with unknown form %#x", d.badForm)
	case u.meter.exhausted:
		return false, false, 0, errExhausted
	}
	if d.children && d.sibForm != 0 && (d.class == classPrune || d.class == classScope && s.flat) {
		if to := u.sibling(d, pos); to > 0 {
			return false, false, to, nil
		}
	}
	stop = d.class == classFunc || d.class == classInline || d.class == classScope && s.scopes && d.children
	if stop {
		s.entry.class, s.entry.tag, s.entry.children, s.entry.start = d.class, d.tag, d.children, start
		next = u.take(d, pos, &s.entry.attrs)
		s.entry.next = next
	} else {
		next = u.over(d, pos)
	}
	if next < 0 {
		return false, false, 0, u.errorf(start, "unit ends within a DIE")
	}
	return stop, d.children, next, nil
}

// sibling returns the position of the DIE's next sibling, or -1 when the reference
// is not plausible.
func (u *unit) sibling(d *decl, pos int) int {
	at := pos + int(d.sibOff)
	size := int(d.sibForm)
	if at < 0 || at+size > len(u.data) {
		return -1
	}
	to := u.order.uint(u.data[at : at+size])
	if to <= uint64(at) || to > uint64(len(u.data)) {
		return -1
	}
	return int(to)
}

// over goes over all attributes of a DIE.
func (u *unit) over(d *decl, pos int) int {
	if d.size >= 0 {
		return pos + int(d.size)
	}
	u.meter.spend(uint64(len(d.steps)))
	for i := range d.steps {
		if pos = u.skip(&d.steps[i], pos); pos < 0 {
			return -1
		}
	}
	return pos
}

// takeAt reads the attributes that name the DIE at pos of the unit's data, if its tag is one
// that has a name to look for. It returns where they end, or -1.
func (u *unit) takeAt(pos int, a *nameAttrs) int {
	code, pos := uleb(u.data, pos)
	if pos < 0 || code == 0 {
		return -1
	}
	d := u.abbrevs.lookup(code)
	if !d.known || d.bad {
		return -1
	}
	var all dieAttrs
	next := u.take(d, pos, &all)
	*a = all.nameAttrs
	return next
}

// dieAttrs are the attributes of functions and inlined subroutines.
type dieAttrs struct {
	nameAttrs
	low, high, ranges value
	callFile          value
	callLine          value
}

// nameAttrs are those that name a DIE, or refer to the DIE that does.
type nameAttrs struct {
	name, linkage value
	spec, origin  value
}

// take reads the wanted attributes of a DIE; it returns where they end, or -1.
func (u *unit) take(d *decl, pos int, a *dieAttrs) int {
	*a = dieAttrs{}
	u.meter.spend(uint64(len(d.steps)))
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
		v, next := u.value(uint64(s.form), s.n, pos)
		if next < 0 {
			return -1
		}
		pos = next
		switch s.at {
		case atName:
			a.name = v
		case atLinkageName, atMIPSLinkageName:
			a.linkage = v
		case atLowPC:
			a.low = v
		case atHighPC:
			a.high = v
		case atRanges:
			a.ranges = v
		case atSpecification, atExtension, atSignature:
			a.spec = v
		case atAbstractOrigin:
			a.origin = v
		case atCallFile:
			a.callFile = v
		case atCallLine:
			a.callLine = v
		}
	}
	return pos
}

// takeFrom is takeAt for the DIE at the beginning of data, which is a piece of the unit.
func (u *unit) takeFrom(data []byte, a *nameAttrs) int {
	u.data = data
	return u.takeAt(0, a)
}

// next returns the DIE that completes this one: where its name may be.
func (a *nameAttrs) next() (value, bool) {
	if a.origin.isRef() {
		return a.origin, true
	}
	return a.spec, a.spec.isRef()
}

func (v value) isRef() bool { return v.kind == vRef || v.kind == vRefSup || v.kind == vRefSig }
