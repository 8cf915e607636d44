package cfi

import (
	"encoding/binary"
	"slices"
)

// Row is the set of rules in force from RVA up to the next row.
type Row struct {
	RVA  RVA    // first instruction, relative to the module's load base
	CFA  Expr   // the zero Expr if there is no rule
	RA   Expr   // the zero Expr if there is no rule
	Regs []Rule // the other registers' rules, ordered by Reg
}

// Reset empties the row but keeps its memory.
func (r *Row) Reset() { *r = Row{Regs: r.Regs[:0]} }

// Apply replaces the rules of the registers in rules, as a STACK CFI record
// does to those of STACK CFI INIT and earlier records. If rules has two for a
// register, the later one counts. A rule for another name of a register becomes
// a rule for the register.
func (r *Row) Apply(rules Rules) {
	for _, rule := range rules {
		if rule.Expr.names != nil {
			rule.Reg = rule.Expr.names.Home(rule.Reg)
		}
		switch rule.Reg {
		case CFA:
			r.CFA = rule.Expr
		case RA:
			r.RA = rule.Expr
		default:
			i, found := r.find(rule.Reg)
			if !found {
				r.Regs = slices.Insert(r.Regs, i, rule)
			}
			r.Regs[i] = rule
		}
	}
}

// find returns the index of reg's rule in Regs, or where it would be inserted.
func (r *Row) find(reg Reg) (int, bool) {
	return slices.BinarySearchFunc(r.Regs, reg, func(rule Rule, reg Reg) int { return int(rule.Reg) - int(reg) })
}

// Rule returns the rule of a register, or the zero Expr if it has none.
func (r *Row) Rule(reg Reg) Expr {
	switch reg {
	case CFA:
		return r.CFA
	case RA:
		return r.RA
	}
	if i, found := r.find(reg); found {
		return r.Regs[i].Expr
	}
	return Expr{}
}

// String returns the row's rules: .cfa, .ra, the others ordered by Reg.
func (r *Row) String() string { return string(r.appendTo(nil)) }

// appendTo appends the text of the row, as String returns it.
func (r *Row) appendTo(dst []byte) []byte {
	start := len(dst)
	for _, rule := range [...]Rule{{CFA, r.CFA}, {RA, r.RA}} {
		if len(dst) > start && !rule.Expr.IsZero() {
			dst = append(dst, ' ')
		}
		dst = appendRule(dst, rule)
	}
	if len(dst) > start && len(r.Regs) > 0 {
		dst = append(dst, ' ')
	}
	return Rules(r.Regs).appendTo(dst)
}

// Caller computes the caller's registers from the callee's and stores them in
// caller, which must be another Regs of the same Names:
//
//   - PC is what its rule gives, or .ra if the rule is missing or fails;
//   - SP is what its rule gives, or .cfa if the rule is missing or fails;
//   - any other register is what its rule gives; without a rule, a callee-saved
//     or constant register has the callee's value, and any other is unknown.
//
// Any other register whose rule fails is unknown. If .cfa or .ra fails or has no
// rule, the error is an *Error saying so; Undefined for .ra marks the outermost
// frame.
func (r *Row) Caller(callee *Regs, mem Memory, caller *Regs) error {
	n := callee.names
	caller.fit()
	caller.Reset()
	if r.CFA.IsZero() {
		return &Error{Kind: NoCFARule}
	}
	if r.RA.IsZero() {
		return &Error{Kind: NoRARule}
	}
	cfa, f := r.CFA.eval(callee, mem, 0, false)
	if f.kind != 0 {
		return f.error(n, CFA, r.CFA.code)
	}
	ra, f := r.RA.eval(callee, mem, cfa, true)
	if f.kind != 0 {
		return f.error(n, RA, r.RA.code)
	}
	for _, reg := range n.saved {
		if v, ok := callee.Get(reg); ok {
			caller.Set(reg, v)
		}
	}
	caller.Set(n.sp, cfa)
	caller.Set(n.pc, ra)
	for _, rule := range r.Regs {
		v, f := rule.Expr.eval(callee, mem, cfa, true)
		switch {
		case f.kind == 0:
			caller.Set(rule.Reg, v)
		case rule.Reg != n.pc && rule.Reg != n.sp:
			caller.forget(rule.Reg)
		}
	}
	return nil
}

// Equal reports whether two rows of the same Names have the same effect, as far as
// Expr.Equal can see and the calling convention implies: "$rbx: $rbx" is the
// effect of no rule for a callee-saved register, "$rsp: .cfa" for the stack
// pointer, and .undef for any other. All numbers that end a stack are equal
// (EndsStack). The RVAs are not compared.
func (r *Row) Equal(o *Row) bool {
	if !r.CFA.Equal(o.CFA) || !r.RA.Equal(o.RA) && !(r.RA.EndsStack() && o.RA.EndsStack()) {
		return false
	}
	a, b := r.Regs, o.Regs
	for len(a) > 0 || len(b) > 0 {
		var x, y Expr
		var reg Reg
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Reg < b[0].Reg:
			reg, x, a = a[0].Reg, a[0].Expr, a[1:]
		case len(a) == 0 || b[0].Reg < a[0].Reg:
			reg, y, b = b[0].Reg, b[0].Expr, b[1:]
		default:
			reg, x, y = a[0].Reg, a[0].Expr, b[0].Expr
			a, b = a[1:], b[1:]
		}
		if !r.explicit(reg, x, y).Equal(o.explicit(reg, y, x)) {
			return false
		}
	}
	return true
}

// explicit returns e, the rule of reg, or a rule with the same effect if e is the
// zero Expr. At least one of e and other is not zero.
func (r *Row) explicit(reg Reg, e, other Expr) Expr {
	n := e.names
	if n == nil {
		n = other.names
	}
	switch {
	case reg == n.sp && (e.IsZero() || e.IsUndef()):
		return n.Offset(CFA, 0)
	case reg == n.pc && (e.IsZero() || e.IsUndef()):
		return r.RA
	case !e.IsZero():
		return e
	case slices.Contains(n.saved, reg):
		return n.Offset(reg, 0)
	}
	return n.Undef()
}

// AppendKey appends a key of the row: two rows of the same Names have equal keys
// if and only if they are Equal.
func (r *Row) AppendKey(dst []byte) []byte {
	dst = appendKey(dst, CFA, r.CFA)
	ra := r.RA
	if ra.EndsStack() {
		ra.code = []uint32{opSmall}
	}
	dst = appendKey(dst, RA, ra)
	for _, rule := range r.Regs {
		if e := r.explicit(rule.Reg, rule.Expr, Expr{}); !e.Equal(r.explicit(rule.Reg, Expr{}, rule.Expr)) {
			dst = appendKey(dst, rule.Reg, e)
		}
	}
	return dst
}

// appendKey appends a register's number, and the length and code of its rule.
func appendKey(dst []byte, reg Reg, e Expr) []byte {
	code := e.normal()
	dst = binary.AppendVarint(dst, int64(reg))
	dst = binary.AppendUvarint(dst, uint64(len(code)))
	for _, w := range code {
		dst = binary.LittleEndian.AppendUint32(dst, w)
	}
	return dst
}
