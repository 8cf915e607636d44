package vars

import "github.com/symtool/symtool/internal/intern"

// ExprTable assigns numbers to expressions in order of first use. Number 0 is the expression without
// operations. Most expressions have two or three bytes: they are kept together, without a pointer for each.
type ExprTable struct {
	table intern.Table
	buf   []byte
}

// Add returns the number of an expression, and whether it is new.
func (t *ExprTable) Add(ops []Op) (id ExprID, isNew bool) {
	t.buf = appendOps(t.buf[:0], ops)
	before := t.Len()
	id = ExprID(t.table.Intern(t.buf))
	return id, int(id) == before
}

// AddExpr returns the number of an expression.
func (t *ExprTable) AddExpr(e Expr) ExprID {
	t.Len()
	return ExprID(t.table.InternString(e.code))
}

// At returns an expression.
func (t *ExprTable) At(id ExprID) Expr {
	if id == 0 {
		return Expr{}
	}
	return Expr{t.table.At(uint32(id))}
}

// Len returns the number of expressions, including the one without operations.
func (t *ExprTable) Len() int {
	if t.table.Len() == 0 {
		t.table.InternString("")
	}
	return t.table.Len()
}

// Freeze releases the memory for lookups. Nothing may be added afterwards.
func (t *ExprTable) Freeze() { t.table.Freeze() }
