package vars

import "bytes"

// endFunc parses the F record, which is now complete.
func (p *Parser) endFunc() *BadRecord {
	if p.fn == nil {
		return nil
	}
	s := scanner{text: p.fn}
	err := p.function(&s)
	if err != nil {
		at := p.fnAt[0]
		for _, seg := range p.fnAt {
			if seg.start <= err.Off {
				at = seg
			}
		}
		err.Line, err.Off = at.line, at.off+err.Off-at.start
	}
	p.fn = nil
	return err
}

// function parses: rva size frame[/boundaries] scopes [entry] [sites].
func (p *Parser) function(s *scanner) *BadRecord {
	rva, ok1 := s.hex()
	ok2 := s.skip(' ')
	size, ok3 := s.hex()
	ok4 := s.skip(' ')
	frame, ok5 := s.hex()
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || s.pos == len(s.text) {
		return s.fail("want an address, a size, a frame base and scopes")
	}
	if size == 0 || rva+size < rva {
		return s.fail("%x bytes from %x do not fit into the address space", size, rva)
	}
	if frame >= uint64(len(p.info.Exprs)) {
		return s.undeclared("expression", frame)
	}
	if err := p.boundaries(s); err != nil {
		return err
	}
	if !s.skip(' ') {
		return s.fail("want a space and scopes")
	}
	p.b.Reset(RVA(rva))
	p.cursor = 0
	if !s.skip('-') {
		if err := p.scope(s, FuncScope, 0); err != nil {
			return err
		}
	}
	entry, err := s.entry()
	if err != nil {
		return err
	}
	if s.pos < len(s.text) && !s.skip(' ') {
		return s.fail("want a space and call sites")
	}
	for last := RVA(rva); s.pos < len(s.text); {
		site, err := p.site(s, last)
		if err != nil {
			return err
		}
		p.b.Site(&site)
		last = site.Return
	}
	p.info.Funcs = append(p.info.Funcs, Func{RVA: RVA(rva), Size: size, FrameBase: ExprID(frame), Language: p.lang, EntryAt: entry, Body: p.b.Finish()})
	p.funcs = append(p.funcs, p.fnAt[0].line)
	return nil
}

// boundaries reads "/" and the distances between the boundaries, if there are any.
func (p *Parser) boundaries(s *scanner) *BadRecord {
	const most = 1 << 56
	p.bounds = append(p.bounds[:0], 0)
	if !s.skip('/') {
		return nil
	}
	for at := uint64(0); s.pos < len(s.text) && s.text[s.pos] != ' '; {
		by, ok := s.boundary()
		if at += by; !ok || by == 0 || by > most || at > most {
			return s.fail("want the distance of a boundary")
		}
		p.bounds = append(p.bounds, int64(at))
	}
	return nil
}

// entry reads " ^" and the distance of the function's first instruction, if that comes next.
func (s *scanner) entry() (by int64, err *BadRecord) {
	const mark = " ^"
	if !bytes.HasPrefix(s.text[s.pos:], []byte(mark)) {
		return 0, nil
	}
	s.pos += len(mark)
	by, ok := s.signed()
	if !ok {
		return 0, s.fail("want the distance of the function's first instruction")
	}
	return by, nil
}

// scope parses a scope after its "(" or "{".
func (p *Parser) scope(s *scanner, kind ScopeKind, depth int) *BadRecord {
	if depth > maxDepth {
		return s.fail("scopes are nested more than %d deep", maxDepth)
	}
	defer func(cursor int64) { p.cursor = cursor }(p.cursor)
	group, err := p.open(s, kind)
	if err != nil {
		return err
	}
	for range p.info.Groups[group] {
		l, err := p.location(s)
		if err != nil {
			return err
		}
		p.b.Location(&l)
	}
	for s.pos < len(s.text) {
		inner, end := InlineScope, byte(')')
		switch s.text[s.pos] {
		case '(':
		case '{':
			inner, end = BlockScope, '}'
		default:
			p.b.End()
			return nil
		}
		s.pos++
		if err := p.scope(s, inner, depth+1); err != nil {
			return err
		}
		if !s.skip(end) {
			return s.fail("want %q", end)
		}
	}
	p.b.End()
	return nil
}

// open reads the head of a scope, which ends with the number of its group, and begins the scope.
func (p *Parser) open(s *scanner, kind ScopeKind) (GroupID, *BadRecord) {
	inline := int64(1)
	var ranges []Range
	switch kind {
	case InlineScope:
		from := s.pos
		by, ok := s.signed()
		if ok && s.skip(':') {
			inline = by
		} else {
			s.pos = from
		}
		if at := int64(p.b.lastInline) + inline; at < 0 || at > 1<<31-1 {
			return 0, s.fail("want the number of an INLINE, found %d", at)
		}
	case BlockScope:
		end := p.cursor
		for s.digits() {
			r, err := p.span(s, &end, len(ranges) == 0, false)
			if err != nil {
				return 0, err
			}
			ranges = append(ranges, r)
		}
	}
	at := s.pos
	group, ok := s.hex()
	switch {
	case !ok:
		s.pos = at
		return 0, s.fail("want the number of a group")
	case group >= uint64(len(p.info.Groups)) || group > 0 && p.info.Groups[group] == nil:
		s.pos = at
		return 0, s.undeclared("group", group)
	}
	switch kind {
	case FuncScope:
		p.b.Func(GroupID(group))
	case InlineScope:
		p.b.Inline(p.b.lastInline+int(inline), GroupID(group))
	case BlockScope:
		p.b.Block(ranges, GroupID(group))
	}
	return GroupID(group), nil
}

func (p *Parser) expr(s *scanner) (ExprID, *BadRecord) {
	at := s.pos
	e, ok := s.hex()
	return p.declaredExpr(s, at, e, ok)
}

// declaredExpr returns an expression whose number was read at an offset.
func (p *Parser) declaredExpr(s *scanner, at int, e uint64, ok bool) (ExprID, *BadRecord) {
	switch {
	case !ok || e == 0:
		s.pos = at
		return 0, s.fail("want the number of an expression")
	case e >= uint64(len(p.info.Exprs)):
		s.pos = at
		return 0, s.undeclared("expression", e)
	}
	return ExprID(e), nil
}

func (p *Parser) location(s *scanner) (l Location, err *BadRecord) {
	switch {
	case s.skip('-'):
		return l, nil
	case s.skip('='):
		l.Whole, err = p.expr(s)
		return l, err
	}
	s.skip('*')
	end := p.cursor
	for s.digits() {
		r, err := p.span(s, &end, l.List == nil, true)
		if err != nil {
			return l, err
		}
		e, err := p.expr(s)
		if err != nil {
			return l, err
		}
		l.List = append(l.List, Entry{r, e})
	}
	if l.List == nil {
		return l, s.fail("want the location of a variable")
	}
	return l, nil
}

// span reads a range. It begins at the boundary end, where the range before it ends, or some boundaries later or
// (after "~") earlier. If short is true, a range that does not begin at end may lack a size, which is then 1.
func (p *Parser) span(s *scanner, end *int64, first, short bool) (r Range, err *BadRecord) {
	at := s.pos
	most := uint64(len(p.bounds))
	back := s.skip('~')
	by, ok := s.number(highDigits)
	if skipped := s.pos > at; skipped && !ok || by >= most {
		s.pos = at
		return r, s.fail("want a range")
	}
	if back {
		by = -by
	}
	lo := *end + int64(by)
	size, ok := s.number(lowDigits)
	if !ok && short && by != 0 {
		size, ok = 1, true
	}
	if !ok || size == 0 || size >= most || lo < 0 || lo+int64(size) >= int64(most) {
		s.pos = at
		return r, s.fail("want a range between two of %d boundaries", most)
	}
	*end = lo + int64(size)
	if first {
		p.cursor = lo
	}
	return Range{p.bounds[lo], p.bounds[*end]}, nil
}

// site reads the call after the one with the return address last.
func (p *Parser) site(s *scanner, last RVA) (c CallSite, err *BadRecord) {
	by, ok := s.number(highDigits)
	if !ok || last+RVA(by) < last {
		return c, s.fail("want the distance of a return address")
	}
	c.Return = last + RVA(by)
	c.Tail = s.skip('!')
	if c.HasTarget = s.skip('>'); c.HasTarget {
		to, ok := s.hex()
		if !ok {
			return c, s.fail("want the address of a function")
		}
		c.Target = RVA(to)
	}
	if s.skip('*') {
		if c.TargetAt, err = p.expr(s); err != nil {
			return c, err
		}
	}
	for s.pos < len(s.text) && s.text[s.pos]-lowDigits < 16 {
		var q SiteParam
		at := s.pos
		e, ok := s.number(lowDigits)
		if q.Location, err = p.declaredExpr(s, at, e, ok); err != nil {
			return c, err
		}
		if q.Value, err = p.expr(s); err != nil {
			return c, err
		}
		c.Params = append(c.Params, q)
	}
	return c, nil
}
