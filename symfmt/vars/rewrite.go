package vars

import "encoding/binary"

// bodyRewriter replaces the numbers of groups and expressions in bodies.
type bodyRewriter struct {
	groups      [][]VarID // by the old numbers
	group, expr func(old uint32) uint32

	from unpacker
	to   []byte
}

// scopes returns the scopes of a body; they are valid until the next call.
func (r *bodyRewriter) scopes(b Body) []byte {
	r.from, r.to = unpacker{data: b.scopes}, r.to[:0]
	for r.from.data != "" {
		kind := r.from.byte()
		r.to = append(r.to, kind)
		if kind == 0 {
			continue
		}
		switch ScopeKind(kind - 1) {
		case InlineScope:
			r.copy(1)
		case BlockScope:
			r.copy(2 * r.number())
		}
		group := r.from.uvarint()
		r.to = binary.AppendUvarint(r.to, uint64(r.group(uint32(group))))
		for range r.groups[group] {
			n := r.number()
			if n == 1 {
				r.expression()
			}
			for ; n > 1; n-- {
				r.copy(2)
				r.expression()
			}
		}
	}
	return r.to
}

// sites returns the call sites of a body; they are valid until the next call.
func (r *bodyRewriter) sites(b Body) []byte {
	r.from, r.to = unpacker{data: b.sites}, r.to[:0]
	if b.sites == "" {
		return nil
	}
	for n := r.number(); n > 0; n-- {
		r.copy(1)
		flags := r.number()
		if flags&siteTarget != 0 {
			r.copy(1)
		}
		if flags&siteTargetAt != 0 {
			r.expression()
		}
		for k := r.number(); k > 0; k-- {
			r.expression()
			r.expression()
		}
	}
	return r.to
}

// expression replaces the number of an expression.
func (r *bodyRewriter) expression() {
	r.to = binary.AppendUvarint(r.to, uint64(r.expr(uint32(r.from.uvarint()))))
}

// number copies a number, and returns it.
func (r *bodyRewriter) number() uint64 {
	n := r.from.uvarint()
	r.to = binary.AppendUvarint(r.to, n)
	return n
}

// copy copies numbers.
func (r *bodyRewriter) copy(numbers uint64) {
	for ; numbers > 0; numbers-- {
		end := 0
		for r.from.data[end] >= 0x80 {
			end++
		}
		r.to = append(r.to, r.from.data[:end+1]...)
		r.from.data = r.from.data[end+1:]
	}
}
