package variables

import (
	"github.com/symtool/symtool/symfmt/vars"
)

// expressions checks the expressions that are used, once for each kind of use.
func (c *checker) expressions() {
	labels := map[uint32]bool{0: true}
	for i := range c.in.Vars {
		labels[c.in.Vars[i].Label] = true
	}
	for i := range c.in.Types {
		c.usesOf(&c.in.Types[i])
	}
	for i := range c.in.Exprs {
		for _, op := range c.in.Exprs[i].Ops() {
			c.use(op.Expr, vars.UsePlace)
			if !labels[op.Label] {
				c.p.As(undeclared, func() { c.p.ReportLine(c.lines.Exprs[i], "label %x is not declared", op.Label) })
			}
		}
	}
	for i := range c.in.Exprs {
		c.expression(vars.ExprID(i))
	}
}

// usesOf records the uses of a type's expressions. All of them may use the address of the value.
func (c *checker) usesOf(t *vars.Type) {
	t.Exprs(func(e vars.ExprID) vars.ExprID {
		c.use(e, vars.UseObject)
		return e
	})
}

// expression reports the first fault of an expression.
func (c *checker) expression(e vars.ExprID) {
	for use := range c.uses {
		if !c.uses[use].Has(uint32(e)) {
			continue
		}
		fault := c.in.Verify(e, vars.Use(use), c.ptr)
		if fault == nil {
			continue
		}
		rule := badExpr
		if fault.Mixed {
			rule = mixedTypes
		}
		c.p.As(rule, func() { c.p.ReportLine(c.lines.Exprs[e], "expression %x, operation %d: %s", e, fault.Op+1, fault.Msg) })
		return
	}
}

// types checks that no type contains itself, and that members are inside their type.
func (c *checker) types() {
	state := make([]uint8, len(c.in.Types))
	var stack []vars.TypeID
	for i := range c.in.Types {
		stack = c.contains(vars.TypeID(i), state, stack[:0])
		c.members(&c.in.Types[i], c.lines.Types[i])
	}
}

// States of a type while the types that it contains are followed.
const (
	unseen = iota
	open
	closed
)

// contains follows the types that a type contains. It does not recurse, because a file can make
// chains of any length.
func (c *checker) contains(id vars.TypeID, state []uint8, stack []vars.TypeID) []vars.TypeID {
	stack = append(stack, id)
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		if state[at] != unseen {
			stack = stack[:len(stack)-1]
			state[at] = closed
			continue
		}
		state[at] = open
		parts(&c.in.Types[at], func(part vars.TypeID) {
			switch state[part] {
			case unseen:
				stack = append(stack, part)
			case open:
				c.p.As(endlessType, func() { c.p.ReportLine(c.lines.Types[at], "type %x contains type %x, which contains it", at, part) })
			}
		})
	}
	return stack
}

// parts calls fn with the types that a type contains, but not with the types that it points to.
func parts(t *vars.Type, fn func(vars.TypeID)) {
	switch t.Kind {
	case vars.Array, vars.Vector, vars.Typedef, vars.Const, vars.Volatile, vars.Restrict, vars.Atomic, vars.Subrange, vars.Enum:
		fn(t.Elem)
	case vars.Struct, vars.Class, vars.Union:
		eachMember(t, func(m *vars.Member) { fn(m.Type) })
	}
}

// eachMember calls fn with the members of a type, including those of its variants.
func eachMember(t *vars.Type, fn func(*vars.Member)) {
	for i := range t.Members {
		fn(&t.Members[i])
	}
	for i := range t.Variants() {
		p := &t.Variants()[i]
		if p.Discr.Type != 0 {
			fn(&p.Discr)
		}
		for k := range p.Variants {
			for n := range p.Variants[k].Members {
				fn(&p.Variants[k].Members[n])
			}
		}
	}
}

// members checks that the members of a structure end inside it.
func (c *checker) members(t *vars.Type, line int) {
	if !t.HasSize || t.Incomplete {
		return
	}
	reported := false
	eachMember(t, func(m *vars.Member) {
		size, ok := c.in.SizeOf(m.Type, c.ptr)
		bits := 8 * size
		if m.BitSize > 0 {
			bits, ok = uint64(m.BitOffset)+uint64(m.BitSize), true
		}
		if !ok || m.At != 0 || reported || m.Offset <= t.Size && bits <= 8*(t.Size-m.Offset) {
			return
		}
		reported = true
		c.p.As(longMember, func() {
			c.p.ReportLine(line, "member %q: %d bits from byte %d on, in a type of %d bytes", shortened(m.Name), bits, m.Offset, t.Size)
		})
	})
}

// maxName is the length at which messages cut names, in bytes.
const maxName = 64

func shortened(name string) string { return name[:min(len(name), maxName)] }
