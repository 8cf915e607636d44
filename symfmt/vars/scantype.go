package vars

import "bytes"

// typ reads a type.
func (s *scanner) typ() (t Type, err *BadRecord) {
	s.skip(' ')
	kind := -1
	if s.pos < len(s.text) {
		kind = bytes.IndexByte([]byte(typeLetters), s.text[s.pos])
	}
	if kind < 0 {
		return t, nil // from a later version: unknown
	}
	s.pos++
	t.Kind = TypeKind(kind)
	if !s.end() && s.text[s.pos] != '#' {
		elem, ok := s.hex32()
		if !ok {
			return Type{}, s.fail("want the number of a type")
		}
		t.Elem = TypeID(elem)
	}
	if s.skip('#') {
		if t.Size, t.HasSize = s.hex(); !t.HasSize {
			return Type{}, s.fail("want a size")
		}
	}
	members := &t.Members
	err = s.each(func() *BadRecord { return s.typePart(&t, &members) })
	if err != nil {
		t = Type{}
	}
	return t, err
}

// typePart reads a token of a type. Unknown tokens are skipped.
func (s *scanner) typePart(t *Type, members **[]Member) *BadRecord {
	mark := s.text[s.pos]
	s.pos++
	ok := true
	switch mark {
	case '"':
		t.Name = s.name()
	case '!':
		t.Incomplete = true
	case '%':
		var n uint32
		n, ok = s.hex32()
		t.Encoding = Encoding(n)
	case '>':
		t.Order = BigEndian
	case '<':
		t.Order = LittleEndian
	case '&':
		var n uint32
		n, ok = s.hex32()
		t.Class = TypeID(n)
	case '[':
		var d Dim
		ok = s.bound(&d.Lower) && s.skip(';') && s.bound(&d.Upper) && s.skip(';') && s.bound(&d.Count) && s.skip(';') && s.bound(&d.Step)
		t.AddParts().Dims = append(t.Dims(), d)
	case ',':
		var n uint32
		n, ok = s.hex32()
		t.AddParts().Params = append(t.Params(), TypeID(n))
	case '=':
		var e Enumerator
		e.Value, ok = s.signed()
		ok = ok && s.skip(':')
		e.Name = s.name()
		t.AddParts().Enumerators = append(t.Enumerators(), e)
	case '.', '|':
		m, err := s.member()
		if err != nil {
			return err
		}
		if mark == '.' {
			**members = append(**members, m)
			break
		}
		t.AddParts().Variants = append(t.Variants(), VariantPart{Discr: m})
	case '?':
		if len(t.Variants()) == 0 {
			return s.fail("variant without a variant part")
		}
		p := &t.Parts.Variants[len(t.Parts.Variants)-1]
		var v Variant
		v.Ranges, ok = s.discriminants()
		p.Variants = append(p.Variants, v)
		*members = &p.Variants[len(p.Variants)-1].Members
	default:
		s.pos--
		return s.extra(t)
	}
	if !ok {
		return s.fail("invalid part %q of a type", mark)
	}
	return nil
}

// discriminants reads the values of a variant: numbers and ranges, separated by commas.
func (s *scanner) discriminants() (ranges []DiscrRange, ok bool) {
	ok = true
	for ok && !s.end() {
		var r DiscrRange
		r.Low, ok = s.hex()
		if r.High = r.Low; s.skip('-') {
			r.High, ok = s.hex()
		}
		ranges = append(ranges, r)
		if !s.skip(',') {
			break
		}
	}
	return ranges, ok
}

// member reads a member after its mark.
func (s *scanner) member() (m Member, err *BadRecord) {
	typ, ok := s.hex32()
	m.Type = TypeID(typ)
	if ok && s.skip('@') {
		m.Offset, ok = s.hex()
	}
	if ok && s.skip('/') {
		var bit uint32
		bit, ok = s.hex32()
		m.BitOffset = uint8(bit)
		ok = ok && bit < 256 && s.skip('+')
		if ok {
			m.BitSize, ok = s.hex32()
		}
	}
	if ok && s.skip('*') {
		var e uint32
		e, ok = s.hex32()
		m.At = ExprID(e)
	}
	m.Base = s.skip('^')
	m.Artificial = s.skip('\'')
	if !ok || !s.skip(':') {
		return m, s.fail("want a type, a place, ':' and the name of a member")
	}
	m.Name = s.name()
	return m, nil
}

// bound reads nothing, a number, or "e:" and an expression.
func (s *scanner) bound(b *Bound) (ok bool) {
	if s.end() || s.text[s.pos] == ';' {
		return true
	}
	if s.pos+1 < len(s.text) && s.text[s.pos] == 'e' && s.text[s.pos+1] == ':' {
		s.pos += 2
		e, ok := s.hex32()
		*b = Bound{Kind: ExprBound, Expr: ExprID(e)}
		return ok
	}
	n, ok := s.signed()
	*b = Bound{Kind: ConstBound, Value: n}
	return ok
}

// extra reads word=value.
func (s *scanner) extra(t *Type) *BadRecord {
	start := s.pos
	for !s.end() && s.text[s.pos] != '=' {
		s.pos++
	}
	word := string(s.text[start:s.pos])
	s.skip('=')
	x := t.Extra
	if x == nil {
		x = &Extra{}
	}
	ok, known := true, true
	id := func(e *ExprID) {
		n, good := s.hex32()
		*e, ok = ExprID(n), good
	}
	switch word {
	case "bits":
		x.BitSize, ok = s.hex()
		if ok = ok && s.skip('+'); ok {
			x.BitOffset, ok = s.hex()
		}
	case "data":
		id(&x.Data)
	case "allocated":
		id(&x.Allocated)
	case "associated":
		id(&x.Associated)
	case "stride":
		ok = s.bound(&x.Stride)
	case "length":
		ok = s.bound(&x.Length)
	default:
		known = false
		s.token()
	}
	if !ok {
		return s.fail("invalid value of %s", word)
	}
	if known {
		t.Extra = x
		if *x == (Extra{}) { // the word has no effect
			t.Extra = nil
		}
	}
	return nil
}
