package eval

import (
	"bytes"
	"errors"

	"github.com/symtool/symtool/symfmt/vars"
)

// frameBase returns the address from which DW_OP_fbreg counts.
func (f *Frame) frameBase(b *budget) (uint64, *failure) {
	if f.frameAt == nil {
		f.frameAt = &knownBase{failure: invalid("a frame base that needs itself")}
		f.frameAt.value, f.frameAt.failure = f.findBase(b)
	}
	return f.frameAt.value, f.frameAt.failure
}

// knownBase is a frame base that has been evaluated.
type knownBase struct {
	value   uint64
	failure *failure
}

func (f *Frame) findBase(b *budget) (uint64, *failure) {
	if f.Func == nil || f.Func.FrameBase == 0 {
		return 0, absent("the function has no frame base")
	}
	if fault := b.enter(); fault != nil {
		return 0, fault
	}
	defer b.leave()
	// A frame base that differs between addresses is the location of a variable of the function itself.
	m := machine{f: f, budget: b, scope: max(0, len(f.Scopes)-1)}
	n, fault := m.value(f.ops(f.Func.FrameBase, b))
	return n.lo, fault
}

// entryValue returns the value that a register had when the function was called, as the caller's
// call site describes it (section 2.5.1.7).
func (f *Frame) entryValue(sub []vars.Op, b *budget) (number, *failure) {
	if len(sub) != 1 || sub[0].Code != vars.OpReg && sub[0].Code != vars.OpRegType && sub[0].Code != vars.OpParam {
		return number{}, absent("the value at entry of something other than a register")
	}
	if fault := b.enter(); fault != nil {
		return number{}, fault
	}
	defer b.leave()
	caller, site, err := f.Caller()
	switch {
	case errors.Is(err, ErrNoCallSite):
		return number{}, absent("%v", err)
	case err != nil:
		return number{}, unavailable("%v", err)
	}
	for _, p := range site.Params {
		at := caller.ops(p.Location, b)
		if len(at) != 1 || !passes(&at[0], &sub[0]) || p.Value == 0 {
			continue
		}
		m := machine{f: caller, budget: b}
		n, fault := m.value(caller.ops(p.Value, b))
		if fault != nil || sub[0].Code != vars.OpRegType {
			return n, fault
		}
		return f.asType(n, sub[0].Type)
	}
	if sub[0].Code == vars.OpParam {
		return number{}, absent("the caller does not say what the argument was")
	}
	return number{}, absent("the caller does not say what %s was when the function was called", f.registerName(uint64(sub[0].Reg)))
}

// passes reports whether the location of an argument is the one that an entry value operation asks for.
func passes(at, entry *vars.Op) bool {
	if entry.Code == vars.OpParam {
		return at.Code == vars.OpParam && bytes.Equal(at.Data, entry.Data)
	}
	return at.Code == vars.OpReg && at.Reg == entry.Reg
}

// ErrNoCallSite is returned by Frame.Caller if the call that entered the function is unknown or uncertain.
var ErrNoCallSite = errors.New("no call site says what the value was when the function was called")

// Target returns the address of the function to which a call site of the frame leads. The error is ErrNoCallSite if
// the program does not describe it, and otherwise says what the dump lacks.
func (f *Frame) Target(site *vars.CallSite) (uint64, error) {
	switch {
	case site.HasTarget:
		return f.Base + uint64(site.Target), nil
	case site.TargetAt == 0:
		return 0, ErrNoCallSite
	}
	m := machine{f: f, budget: f.newBudget()}
	ops := f.ops(site.TargetAt, m.budget)
	n, fault := m.value(ops)
	switch {
	case fault == nil:
		return n.lo &^ f.Arch.ISABit, nil
	case fault.state == Unavailable && ops[0].Code == vars.OpAddr: // not a register, which no dump has after the call
		return 0, errors.New(fault.why)
	}
	return 0, ErrNoCallSite
}

// asType converts the bits of a register to a number of a type.
func (f *Frame) asType(n number, id vars.TypeID) (number, *failure) {
	c, size, fault := f.base(id)
	switch {
	case fault != nil:
		return n, fault
	case n.class == float && n.size != size:
		return n, absent("a floating-point number of %d bytes at entry, want %d", n.size, size)
	}
	n = n.extend(size, false)
	n.class = c
	return n, nil
}

// call evaluates the location of a variable on the same stack (DW_OP_call).
func (m *machine) call(label uint32) *failure {
	v, scope, ok := m.instance(label)
	if !ok || v.Expr == 0 {
		return absent("a variable that the expression needs has no location")
	}
	if fault := m.budget.enter(); fault != nil {
		return fault
	}
	defer m.budget.leave()
	ops, outer := m.f.ops(v.Expr, m.budget), m.scope
	m.scope = scope
	defer func() { m.scope = outer }()
	for pc := 0; pc < len(ops); {
		next, fault := m.step(ops, pc)
		if fault != nil {
			return fault
		}
		pc = next
	}
	return nil
}

// variableValue returns the value of a variable.
func (m *machine) variableValue(label uint32) (number, *failure) {
	v, scope, ok := m.instance(label)
	if !ok {
		return number{}, absent("a variable that the expression needs is not in scope")
	}
	if fault := m.budget.enter(); fault != nil {
		return number{}, fault
	}
	defer m.budget.leave()
	id := m.f.Info.Vars[v.Var].Type
	value, c := m.f.variable(v, scope, m.budget), m.f.classOf(id)
	if c == opaque || c == float || len(value.Bytes) > 16 || len(value.Bytes) == 0 {
		return number{}, absent("a variable that the expression needs is not an integer")
	}
	if !value.Whole() {
		state := Absent
		if value.Status() != OptimizedOut {
			state = Unavailable
		}
		return number{}, &failure{state, value.Why}
	}
	n := numberOf(c, value.Bytes, m.f.BigEndian()).extend(m.f.ptrSize(), c == signed)
	n.class = generic
	return n, nil
}
