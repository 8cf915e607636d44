package vars

import "fmt"

// checker finds references to entries that do not exist.
type checker struct {
	p   *Parser
	in  *Info
	bad func(*BadRecord) error
	err error
}

func (c *checker) report(line int, kind ErrorKind, format string, args ...any) {
	if c.err == nil {
		c.err = c.bad(&BadRecord{line, 0, kind, fmt.Sprintf(format, args...)})
	}
}

// undeclared reports a reference to an entry of a table that does not exist.
func (c *checker) undeclared(line int, what string, id uint32) {
	c.report(line, Undeclared, "%s %x is not declared", what, id)
}

func (c *checker) typeID(line int, id TypeID) TypeID {
	if int(id) >= len(c.in.Types) {
		c.undeclared(line, "type", uint32(id))
		return 0
	}
	return id
}

func (c *checker) exprID(line int, id ExprID) ExprID {
	if int(id) >= len(c.in.Exprs) {
		c.undeclared(line, "expression", uint32(id))
		return 0
	}
	return id
}

func (c *checker) types() {
	for i := range c.in.Types {
		t, line := &c.in.Types[i], c.p.types[i]
		t.Renumber(func(id TypeID) TypeID { return c.typeID(line, id) })
		t.exprs(func(id ExprID) ExprID { return c.exprID(line, id) })
	}
}

func (c *checker) exprs() {
	for i, e := range c.in.Exprs {
		line := c.p.exprs[i]
		if e.has(hasType | hasExpr) {
			c.in.Exprs[i] = e.Renumber(func(id TypeID) TypeID { return c.typeID(line, id) }, func(id ExprID) ExprID { return c.exprID(line, id) })
		}
	}
}

func (c *checker) rest() {
	for i := range c.in.Vars {
		c.in.Vars[i].Type = c.typeID(c.p.vars[i], c.in.Vars[i].Type)
	}
	for i, g := range c.in.Groups {
		for k, v := range g {
			if int(v) >= len(c.in.Vars) {
				c.undeclared(c.p.groups[i], "variable", uint32(v))
				g[k] = 0
			}
		}
	}
	for i := range c.in.RuntimeTypes {
		t := &c.in.RuntimeTypes[i]
		t.Type = c.typeID(c.p.run[i], t.Type)
	}
	c.in.SortRuntimeTypes()
	c.p.sortFuncs()
	n := 0
	for i := range c.in.Funcs {
		f := &c.in.Funcs[i]
		if n > 0 {
			if last := &c.in.Funcs[n-1]; uint64(f.RVA-last.RVA) < last.Size {
				c.report(c.p.funcs[i], Overlapping, "variables of the function at %x, which overlaps the one at %x", f.RVA, last.RVA)
				continue
			}
		}
		c.in.Funcs[n], c.p.funcs[n] = *f, c.p.funcs[i]
		n++
	}
	c.in.Funcs, c.p.funcs = c.in.Funcs[:n], c.p.funcs[:n]
}
