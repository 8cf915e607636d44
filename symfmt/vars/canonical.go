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
	count := bodyRewriter{groups: in.Groups, group: c.groups.use, expr: c.exprs.use}
	for i := range in.Funcs {
		f := &in.Funcs[i]
		c.exprs.use(uint32(f.FrameBase))
		count.scopes(f.Body)
		count.sites(f.Body)
	}
	groups := c.groups.number()
	c.orderVars()
	c.orderTypes()
	c.orderExprs()
	c.rewriteTypes()
	c.rewriteVars()
	bodies := bodyRewriter{groups: in.Groups, group: c.groups.renumber, expr: c.exprs.renumber}
	for i := range in.Funcs {
		f := &in.Funcs[i]
		f.FrameBase = c.expr(f.FrameBase)
		f.Body.scopes = string(bodies.scopes(f.Body))
		f.Body.sites = string(bodies.sites(f.Body))
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

// use counts a use of entry n, and returns n.
func (u *uses) use(n uint32) uint32 {
	if n == 0 {
		return 0
	}
	if u.count[n] == 0 {
		u.first[n] = uint32(len(u.seen))
		u.seen = append(u.seen, n)
	}
	if u.count[n]++; u.count[n] == 0 {
		u.count[n]--
	}
	return n
}

// renumber returns the new number of entry n.
func (u *uses) renumber(n uint32) uint32 { return u.to[n] }

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
