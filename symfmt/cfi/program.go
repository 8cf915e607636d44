package cfi

import "slices"

// Program is the program string of a STACK WIN record: a sequence of
// assignments, "$eip $esp ^ = $esp $esp 4 + =". Its variables are registers of
// the same Names: x86's registers, $T0, .cbParams and any others it uses
// (specification: "Interpreting a STACK WIN record").
type Program struct{ expr Expr }

// ParseProgram parses a program string. Its errors are faults of form only.
func (n *Names) ParseProgram(text string) (Program, error) {
	p := parser{names: n, text: text, code: n.words[:0]}
	if err := p.expression(true); err != nil {
		return Program{}, err
	}
	if p.name {
		return Program{}, p.fail(Colon)
	}
	if len(p.code) == 0 {
		return Program{}, p.fail(Empty)
	}
	n.words = p.code
	return Program{Expr{slices.Clone(p.code), n}}, nil
}

// String returns the text of the program, in the form of Expr.String.
func (p Program) String() string { return p.expr.String() }

// Uses calls f for each use of a variable in the program, in order.
func (p Program) Uses(f func(Reg)) { p.expr.Uses(f) }

// Run executes the program, which changes vars; Regs.Assigned reports which
// variables it assigned. After a fault, earlier assignments stay.
func (p Program) Run(vars *Regs, mem Memory) error {
	e := p.expr
	if e.IsZero() {
		return &Error{Kind: Empty}
	}
	vars.fit()
	m := machine{regs: vars, mem: mem, mask: e.names.mask}
	f := m.run(e.code)
	if f.kind == 0 && m.depth != 0 {
		f.kind = Leftover
	}
	return f.error(e.names, NoReg, e.code)
}
