package vars

import (
	"cmp"
	"slices"
)

// Canonicalize renumbers the entries of all tables, and drops those that nothing refers to.
// Expressions and groups are ordered by use, the most frequent first, so that their numbers are
// short; variables in order of the groups; types in order of the variables and of the types that
// lead to them. Entries that are used equally often are in order of first use, over the
// functions. Infos with the same contents become equal.
func (in *Info) Canonicalize() {
	c := canonizer{in: in, exprs: newUses(len(in.Exprs)), groups: newUses(len(in.Groups)),
		vars: make([]VarID, len(in.Vars)), types: make([]TypeID, len(in.Types))}
	for i := range in.Funcs {
		f := &in.Funcs[i]
		c.exprs.use(uint32(f.FrameBase))
		c.count(f.Body)
	}
	groups := c.groups.number()
	c.orderVars()
	c.orderTypes()
	c.orderExprs()
	c.rewriteTypes()
	c.rewriteVars()
	for i := range in.Funcs {
		f := &in.Funcs[i]
		f.FrameBase = c.expr(f.FrameBase)
		f.Body = f.Body.each(in, func(g GroupID) GroupID { return GroupID(c.groups.to[g]) }, c.expr)
	}
	c.rewriteGroups(groups)
	c.rewriteExprs()
}

// canonizer holds the state of Canonicalize.
type canonizer struct {
	in     *Info
	exprs  uses
	groups uses

	vars     []VarID // old to new; 0 if unused
	varOrder []VarID // new to old, without entry 0

	types     []TypeID
	typeOrder []TypeID
	order     []uint32 // expressions, new to old, without entry 0
}

// uses counts how often the entries of a table are used.
type uses struct {
	count []uint32
	first []uint32 // by entry: its rank in order of first use
	seen  []uint32 // in order of first use
	to    []uint32 // old to new; 0 if unused
}

func newUses(n int) uses { return uses{count: make([]uint32, n), first: make([]uint32, n)} }

func (u *uses) use(n uint32) {
	if n == 0 {
		return
	}
	if u.count[n] == 0 {
		u.first[n] = uint32(len(u.seen))
		u.seen = append(u.seen, n)
	}
	if u.count[n]++; u.count[n] == 0 {
		u.count[n]--
	}
}

// number returns the entries in their new order.
func (u *uses) number() []uint32 {
	slices.SortFunc(u.seen, func(a, b uint32) int {
		return cmp.Or(-cmp.Compare(u.count[a], u.count[b]), cmp.Compare(u.first[a], u.first[b]))
	})
	u.to = make([]uint32, len(u.count))
	for i, n := range u.seen {
		u.to[n] = uint32(i + 1)
	}
	return u.seen
}

// count counts the entries that a body uses.
func (c *canonizer) count(b Body) {
	u := unpacker{data: b.scopes}
	for u.data != "" {
		kind := u.byte()
		if kind == 0 {
			continue
		}
		switch ScopeKind(kind - 1) {
		case InlineScope:
			u.varint()
		case BlockScope:
			for n := u.uvarint(); n > 0; n-- {
				u.span()
			}
		}
		group := u.uvarint()
		c.groups.use(uint32(group))
		for range c.in.Groups[group] {
			n := u.uvarint()
			if n == 1 {
				c.exprs.use(uint32(u.uvarint()))
			}
			for ; n > 1; n-- {
				u.span()
				c.exprs.use(uint32(u.uvarint()))
			}
		}
	}
	f := Func{Body: Body{sites: b.sites}}
	for s := range f.CallSites() {
		c.exprs.use(uint32(s.TargetAt))
		for _, p := range s.Params {
			c.exprs.use(uint32(p.Location))
			c.exprs.use(uint32(p.Value))
		}
	}
}

func (c *canonizer) expr(e ExprID) ExprID { return ExprID(c.exprs.to[e]) }

func (c *canonizer) orderVars() {
	for _, g := range c.groups.seen {
		for _, v := range c.in.Groups[g] {
			if c.vars[v] == 0 && v != 0 {
				c.varOrder = append(c.varOrder, v)
				c.vars[v] = VarID(len(c.varOrder))
			}
		}
	}
}

func (c *canonizer) useType(t TypeID) {
	if t != 0 && c.types[t] == 0 {
		c.typeOrder = append(c.typeOrder, t)
		c.types[t] = TypeID(len(c.typeOrder))
	}
}

// orderTypes numbers the types that variables lead to, and marks the expressions that they need,
// which may lead to more types.
func (c *canonizer) orderTypes() {
	for _, v := range c.varOrder {
		c.useType(c.in.Vars[v].Type)
	}
	typed := 0
	for i := 0; i < len(c.typeOrder) || typed < len(c.exprs.seen); {
		if i < len(c.typeOrder) {
			t := &c.in.Types[c.typeOrder[i]]
			t.Refs(c.useType)
			t.exprs(func(e ExprID) ExprID { c.exprs.use(uint32(e)); return e })
			i++
			continue
		}
		e := c.in.Exprs[c.exprs.seen[typed]]
		typed++
		if e.refers() {
			eachOp(e.Ops(), func(op *Op) {
				c.useType(op.Type)
				c.exprs.use(uint32(op.Expr))
			})
		}
	}
}

func (c *canonizer) orderExprs() { c.order = c.exprs.number() }

func (c *canonizer) rewriteTypes() {
	types := make([]Type, 1, len(c.typeOrder)+1)
	for _, old := range c.typeOrder {
		t := c.in.Types[old]
		t.Renumber(func(t TypeID) TypeID { return c.types[t] })
		t.exprs(c.expr)
		types = append(types, t)
	}
	c.in.Types = types
}

func (c *canonizer) rewriteVars() {
	vars := make([]Variable, 1, len(c.varOrder)+1)
	for _, old := range c.varOrder {
		v := c.in.Vars[old]
		v.Type = c.types[v.Type]
		vars = append(vars, v)
	}
	c.in.Vars = vars
}

func (c *canonizer) rewriteGroups(order []uint32) {
	groups := make([][]VarID, 1, len(order)+1)
	for _, old := range order {
		group := make([]VarID, len(c.in.Groups[old]))
		for i, v := range c.in.Groups[old] {
			group[i] = c.vars[v]
		}
		groups = append(groups, group)
	}
	c.in.Groups = groups
}

func (c *canonizer) rewriteExprs() {
	exprs := make([]Expr, 1, len(c.order)+1)
	for _, old := range c.order {
		e := c.in.Exprs[old]
		exprs = append(exprs, e.Renumber(func(t TypeID) TypeID { return c.types[t] }, c.expr))
	}
	c.in.Exprs = exprs
}

// Renumber returns the expression with other numbers for what it refers to; numbers of
// expressions stay if expr is nil.
func (e Expr) Renumber(typ func(TypeID) TypeID, expr func(ExprID) ExprID) Expr {
	if !e.refers() {
		return e
	}
	ops := e.Ops()
	eachOp(ops, func(op *Op) {
		op.Type = typ(op.Type)
		if expr != nil {
			op.Expr = expr(op.Expr)
		}
	})
	return NewExpr(ops)
}

// eachOp calls fn with all operations, including nested ones.
func eachOp(ops []Op, fn func(*Op)) {
	for i := range ops {
		fn(&ops[i])
		eachOp(ops[i].Sub, fn)
	}
}

// refers reports whether an operation may refer to a type or to another expression.
func (e Expr) refers() bool {
	u := unpacker{data: e.code}
	for u.data != "" {
		has := parts[u.byte()]
		if has&(hasType|hasExpr) != 0 {
			return true
		}
		for _, part := range [...]uint8{hasReg, hasU, hasS, hasTo, hasLabel} {
			if has&part != 0 {
				u.uvarint()
			}
		}
		if has&hasData != 0 { // for an entry value, operations, whose types count
			return true
		}
	}
	return false
}

// Refs calls fn with each type that t refers to.
func (t *Type) Refs(fn func(TypeID)) {
	t.eachRef(func(id *TypeID) { fn(*id) })
}

// Renumber replaces the numbers of the types that t refers to, in place.
func (t *Type) Renumber(to func(TypeID) TypeID) {
	t.eachRef(func(id *TypeID) { *id = to(*id) })
}

func (t *Type) eachRef(fn func(*TypeID)) {
	fn(&t.Elem)
	fn(&t.Class)
	for i := range t.Members {
		fn(&t.Members[i].Type)
	}
	for i := range t.Variants() {
		p := &t.Variants()[i]
		fn(&p.Discr.Type)
		for k := range p.Variants {
			for n := range p.Variants[k].Members {
				fn(&p.Variants[k].Members[n].Type)
			}
		}
	}
	for i := range t.Params() {
		fn(&t.Params()[i])
	}
}

// exprs replaces the expressions of t, in place.
func (t *Type) exprs(to func(ExprID) ExprID) {
	bound := func(b *Bound) {
		if b.Kind == ExprBound {
			b.Expr = to(b.Expr)
		}
	}
	members := func(list []Member) {
		for i := range list {
			if list[i].At != 0 {
				list[i].At = to(list[i].At)
			}
		}
	}
	members(t.Members)
	for i := range t.Variants() {
		p := &t.Variants()[i]
		if p.Discr.At != 0 {
			p.Discr.At = to(p.Discr.At)
		}
		for k := range p.Variants {
			members(p.Variants[k].Members)
		}
	}
	for i := range t.Dims() {
		d := &t.Dims()[i]
		bound(&d.Lower)
		bound(&d.Upper)
		bound(&d.Count)
		bound(&d.Step)
	}
	if x := t.Extra; x != nil {
		for _, e := range []*ExprID{&x.Data, &x.Allocated, &x.Associated} {
			if *e != 0 {
				*e = to(*e)
			}
		}
		bound(&x.Stride)
		bound(&x.Length)
	}
}

// Exprs replaces the numbers of the expressions of t, in place.
func (t *Type) Exprs(to func(ExprID) ExprID) { t.exprs(to) }

// each returns the body with other numbers for its groups and expressions.
func (b Body) each(in *Info, group func(GroupID) GroupID, expr func(ExprID) ExprID) Body {
	var out Builder
	out.Reset(0)
	if b.scopes != "" {
		u := unpacker{data: b.scopes, lastInline: -1}
		u.renumber(&out, in, group, expr)
	}
	f := Func{Body: Body{sites: b.sites}}
	for s := range f.CallSites() {
		s.TargetAt = expr(s.TargetAt)
		for i := range s.Params {
			s.Params[i].Location, s.Params[i].Value = expr(s.Params[i].Location), expr(s.Params[i].Value)
		}
		out.Site(&s)
	}
	return out.Finish()
}

func (u *unpacker) renumber(out *Builder, in *Info, group func(GroupID) GroupID, expr func(ExprID) ExprID) {
	kind := ScopeKind(u.byte() - 1)
	inline := -1
	var ranges []Range
	switch kind {
	case InlineScope:
		inline = u.inline()
	case BlockScope:
		ranges = u.ranges(nil)
	}
	id := GroupID(u.uvarint())
	switch kind {
	case FuncScope:
		out.Func(group(id))
	case InlineScope:
		out.Inline(inline, group(id))
	case BlockScope:
		out.Block(ranges, group(id))
	}
	var list []Entry
	for range in.Groups[id] {
		l := u.location(list[:0])
		if l.Whole != 0 {
			l.Whole = expr(l.Whole)
		}
		for i := range l.List {
			l.List[i].Expr = expr(l.List[i].Expr)
		}
		out.Location(&l)
		if l.List != nil {
			list = l.List
		}
	}
	for u.data[0] != 0 {
		u.renumber(out, in, group, expr)
	}
	u.byte()
	out.End()
}
