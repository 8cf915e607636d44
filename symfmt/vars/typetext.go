package vars

// typeLetters are the letters of the kinds of types, by TypeKind.
const typeLetters = "?bprRMaAscueftkvxogSn"

// appendTypeText appends the letter of the kind, the element, "#" with the size, and the other
// properties as tokens, each with its own first character.
func appendTypeText(dst []byte, t *Type) []byte {
	dst = append(dst, typeLetters[t.Kind])
	if t.Elem != 0 {
		dst = appendHex(dst, uint64(t.Elem))
	}
	if t.HasSize {
		dst = appendHex(append(dst, '#'), t.Size)
	}
	if t.Name != "" {
		dst = appendName(append(dst, ' ', '"'), t.Name)
	}
	if t.Incomplete {
		dst = append(dst, " !"...)
	}
	if t.Encoding != 0 {
		dst = appendHex(append(dst, ' ', '%'), uint64(t.Encoding))
	}
	if t.Order != 0 {
		dst = append(dst, ' ', " ><"[t.Order])
	}
	if t.Class != 0 {
		dst = appendHex(append(dst, ' ', '&'), uint64(t.Class))
	}
	for i := range t.Dims() {
		d := &t.Dims()[i]
		dst = appendBound(append(dst, ' ', '['), &d.Lower)
		dst = appendBound(append(dst, ';'), &d.Upper)
		dst = appendBound(append(dst, ';'), &d.Count)
		dst = appendBound(append(dst, ';'), &d.Step)
	}
	if x := t.Extra; x != nil {
		dst = appendExtra(dst, x)
	}
	for _, p := range t.Params() {
		dst = appendHex(append(dst, ' ', ','), uint64(p))
	}
	for i := range t.Enumerators() {
		e := &t.Enumerators()[i]
		dst = appendName(append(appendSigned(append(dst, ' ', '='), e.Value), ':'), e.Name)
	}
	for i := range t.Members {
		dst = appendMember(dst, '.', &t.Members[i])
	}
	for i := range t.Variants() {
		p := &t.Variants()[i]
		dst = appendMember(dst, '|', &p.Discr)
		for k := range p.Variants {
			v := &p.Variants[k]
			dst = append(dst, ' ', '?')
			for n, r := range v.Ranges {
				if n > 0 {
					dst = append(dst, ',')
				}
				dst = appendHex(dst, r.Low)
				if r.High != r.Low {
					dst = appendHex(append(dst, '-'), r.High)
				}
			}
			for n := range v.Members {
				dst = appendMember(dst, '.', &v.Members[n])
			}
		}
	}
	return dst
}

// appendMember appends its type, "@" and its offset, "/" and the place of a bit field and "+" and
// its bits, "*" and the expression that computes it, "^" for a base class, "'" if the compiler
// made it, ":" and the name.
func appendMember(dst []byte, mark byte, m *Member) []byte {
	dst = appendHex(append(dst, ' ', mark), uint64(m.Type))
	if m.Offset != 0 {
		dst = appendHex(append(dst, '@'), m.Offset)
	}
	if m.BitSize != 0 {
		dst = appendHex(append(dst, '/'), uint64(m.BitOffset))
		dst = appendHex(append(dst, '+'), uint64(m.BitSize))
	}
	if m.At != 0 {
		dst = appendHex(append(dst, '*'), uint64(m.At))
	}
	if m.Base {
		dst = append(dst, '^')
	}
	if m.Artificial {
		dst = append(dst, '\'')
	}
	return appendName(append(dst, ':'), m.Name)
}

// appendBound appends nothing, a number, or "e" and an expression.
func appendBound(dst []byte, b *Bound) []byte {
	switch b.Kind {
	case ConstBound:
		return appendSigned(dst, b.Value)
	case ExprBound:
		return appendHex(append(dst, 'e', ':'), uint64(b.Expr))
	}
	return dst
}

func appendExtra(dst []byte, x *Extra) []byte {
	if x.BitSize != 0 || x.BitOffset != 0 {
		dst = appendHex(append(dst, " bits="...), x.BitSize)
		dst = appendHex(append(dst, '+'), x.BitOffset)
	}
	for _, e := range []struct {
		word string
		id   ExprID
	}{{" data=", x.Data}, {" allocated=", x.Allocated}, {" associated=", x.Associated}} {
		if e.id != 0 {
			dst = appendHex(append(dst, e.word...), uint64(e.id))
		}
	}
	for _, b := range []struct {
		word  string
		bound *Bound
	}{{" stride=", &x.Stride}, {" length=", &x.Length}} {
		if b.bound.Kind != NoBound {
			dst = appendBound(append(dst, b.word...), b.bound)
		}
	}
	return dst
}
