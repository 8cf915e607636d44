package vars

// Number numbers the types, variables and expressions of an Info whose groups are in order of first use, and drops
// those that nothing refers to. Functions already refer to expressions by their new numbers: exprs[i] is the one
// with number i+1. Expressions that only types refer to come after these. Variables are in order of the groups;
// types in order of the variables, of RuntimeTypes and of the types that lead to them. Infos with the same
// contents become equal. The order of first use puts frequent entries early, where they get short numbers.
func (in *Info) Number(exprs []ExprID) {
	n := numbering{in: in, vars: make([]VarID, len(in.Vars)), types: make([]TypeID, len(in.Types)), exprs: make([]ExprID, len(in.Exprs))}
	for _, e := range exprs {
		n.useExpr(e)
	}
	n.orderVars()
	n.orderTypes()
	n.rewriteTypes()
	n.rewriteVars()
	n.rewriteExprs()
	for i := range in.RuntimeTypes {
		in.RuntimeTypes[i].Type = n.types[in.RuntimeTypes[i].Type]
	}
}

// numbering holds the state of Number. Orders map new numbers to old ones, without entry 0.
type numbering struct {
	in *Info

	vars     []VarID // old to new; 0 if unused
	varOrder []VarID

	types     []TypeID
	typeOrder []TypeID

	exprs     []ExprID
	exprOrder []ExprID
}

func (n *numbering) useExpr(e ExprID) ExprID {
	if e != 0 && n.exprs[e] == 0 {
		n.exprOrder = append(n.exprOrder, e)
		n.exprs[e] = ExprID(len(n.exprOrder))
	}
	return n.exprs[e]
}

func (n *numbering) useType(t TypeID) TypeID {
	if t != 0 && n.types[t] == 0 {
		n.typeOrder = append(n.typeOrder, t)
		n.types[t] = TypeID(len(n.typeOrder))
	}
	return n.types[t]
}

// orderVars numbers the variables of the groups, in place.
func (n *numbering) orderVars() {
	for _, group := range n.in.Groups {
		for i, v := range group {
			if n.vars[v] == 0 && v != 0 {
				n.varOrder = append(n.varOrder, v)
				n.vars[v] = VarID(len(n.varOrder))
			}
			group[i] = n.vars[v]
		}
	}
}

// orderTypes numbers the types that variables lead to, and the expressions that these types need,
// which may lead to more types.
func (n *numbering) orderTypes() {
	for _, v := range n.varOrder {
		n.useType(n.in.Vars[v].Type)
	}
	typed, runtime := 0, n.in.RuntimeTypes
	for i := 0; i < len(n.typeOrder) || typed < len(n.exprOrder) || len(runtime) > 0; {
		if i < len(n.typeOrder) {
			t := &n.in.Types[n.typeOrder[i]]
			t.Refs(func(t TypeID) { n.useType(t) })
			t.exprs(func(e ExprID) ExprID { n.useExpr(e); return e })
			i++
			continue
		}
		if typed == len(n.exprOrder) {
			n.useType(runtime[0].Type)
			runtime = runtime[1:]
			continue
		}
		e := n.in.Exprs[n.exprOrder[typed]]
		typed++
		if e.has(hasType | hasExpr) {
			eachOp(e.Ops(), func(op *Op) {
				n.useType(op.Type)
				n.useExpr(op.Expr)
			})
		}
	}
}

func (n *numbering) rewriteTypes() {
	types := make([]Type, 1, len(n.typeOrder)+1)
	for _, old := range n.typeOrder {
		t := n.in.Types[old]
		t.Renumber(n.useType)
		t.exprs(n.useExpr)
		types = append(types, t)
	}
	n.in.Types = types
}

func (n *numbering) rewriteVars() {
	vars := make([]Variable, 1, len(n.varOrder)+1)
	for _, old := range n.varOrder {
		v := n.in.Vars[old]
		v.Type = n.types[v.Type]
		vars = append(vars, v)
	}
	n.in.Vars = vars
}

// rewriteExprs also drops the labels of variables that are in no scope: compilers refer to variables of inlined calls
// that have no code left.
func (n *numbering) rewriteExprs() {
	labels := map[uint32]bool{}
	for i := range n.in.Vars {
		labels[n.in.Vars[i].Label] = true
	}
	exprs := make([]Expr, 1, len(n.exprOrder)+1)
	for _, old := range n.exprOrder {
		e := n.in.Exprs[old].Renumber(n.useType, n.useExpr)
		if e.has(hasLabel) {
			ops := e.Ops()
			eachOp(ops, func(op *Op) {
				if !labels[op.Label] {
					op.Label = 0
				}
			})
			e = NewExpr(ops)
		}
		exprs = append(exprs, e)
	}
	n.in.Exprs = exprs
}

// Renumber returns e with new numbers, from typ and expr, for the types and expressions
// that it refers to. If expr is nil, the expressions keep their numbers.
func (e Expr) Renumber(typ func(TypeID) TypeID, expr func(ExprID) ExprID) Expr {
	if !e.has(hasType | hasExpr) {
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

// has reports whether an operation has one of these parts.
func (e Expr) has(wanted uint8) bool {
	u := unpacker{data: e.code}
	for u.data != "" {
		code := OpCode(u.byte())
		has := parts[code]
		if has&wanted != 0 {
			return true
		}
		for _, part := range [...]uint8{hasReg, hasU, hasS, hasTo, hasType, hasLabel, hasExpr} {
			if has&part != 0 {
				u.uvarint()
			}
		}
		if has&hasData != 0 {
			n := u.uvarint()
			if code == OpEntryValue && (Expr{u.data[:n]}).has(wanted) {
				return true
			}
			u.data = u.data[n:]
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
