package eval

import (
	"github.com/symtool/symtool/symfmt/vars"
)

// Variable is a variable of a scope, with its value.
type Variable struct {
	*vars.Variable // has the name and the type
	Value
	// Block is the number of scopes of the same call inside the variable's scope: 0 is the innermost.
	Block int
	// Hidden is the number of variables of the same name in inner scopes of the same call.
	Hidden int
}

// MaxVariables is the largest number of variables that Depth returns.
const MaxVariables = 1000

// Depth returns the variables of the scopes of one call: depth 0 is the function itself, and n a call inlined into the
// call of depth n-1. Variables of the innermost scope come first. There are at most MaxVariables.
func (f *Frame) Depth(depth int) (all []Variable) {
	block := 0
	for i := range f.Scopes {
		s := &f.Scopes[i]
		if s.Depth != depth {
			continue
		}
		for _, v := range s.Vars {
			if f.Info.Vars[v.Var].Name == "" {
				continue // made by the compiler, such as the length of an array
			}
			if len(all) == MaxVariables {
				return all
			}
			all = append(all, Variable{
				Variable: &f.Info.Vars[v.Var], Value: f.variable(v, i, f.newBudget()), Block: block, Hidden: f.hidden(v.Var, i),
			})
		}
		block++
	}
	return all
}

// hidden counts the variables that hide a variable of Scopes[i].
func (f *Frame) hidden(v vars.VarID, i int) (n int) {
	name := f.Info.Vars[v].Name
	if name == "" {
		return 0
	}
	for k := range i {
		if f.Scopes[k].Depth != f.Scopes[i].Depth {
			continue
		}
		for _, other := range f.Scopes[k].Vars {
			if f.Info.Vars[other.Var].Name == name {
				n++
			}
		}
	}
	return n
}

// variable evaluates a variable of Scopes[scope].
func (f *Frame) variable(v vars.Instance, scope int, b *budget) Value {
	t := f.Info.Vars[v.Var].Type
	if id, ok := f.hasDescriptor(t); ok {
		return f.described(v, id, scope, b)
	}
	size, fault := f.sizeOf(t, scope, nil, b)
	switch {
	case fault != nil:
		return missing(0, fault.state, fault.why)
	case v.Expr == 0:
		return missing(size, Absent, "")
	}
	return f.location(v.Expr, scope, f.classOf(t), size, b)
}

// hasDescriptor reports whether values of a type are descriptors of arrays that are stored elsewhere, and returns the
// type of such an array.
func (f *Frame) hasDescriptor(t vars.TypeID) (vars.TypeID, bool) {
	plain, id := f.Info.Plain(t)
	return id, plain != nil && plain.Extra != nil && plain.Extra.Data != 0
}

// described evaluates an array with a descriptor, which contains the address of the elements and their number. The
// variable is the descriptor.
func (f *Frame) described(v vars.Instance, id vars.TypeID, scope int, b *budget) Value {
	if v.Expr == 0 {
		return missing(0, Absent, "")
	}
	m := machine{f: f, budget: b, scope: scope}
	pieces := m.evaluate(f.ops(v.Expr, b))
	if len(pieces) != 1 || pieces[0].kind != inMemory {
		at := m.compose(pieces, 1, opaque)
		return Value{States: at.States[:0], Why: at.Why}
	}
	return f.elements(id, scope, pieces[0].addr, b)
}

// elements reads the elements of the array whose descriptor is at an address.
func (f *Frame) elements(id vars.TypeID, scope int, at uint64, b *budget) Value {
	t := f.Info.Types[id].Extra
	for _, e := range []vars.ExprID{t.Allocated, t.Associated} {
		if e == 0 {
			continue
		}
		if n, fault := f.expression(e, scope, &at, b); fault != nil {
			return missing(0, fault.state, fault.why)
		} else if n.isZero() {
			return missing(0, Absent, "not allocated")
		}
	}
	data, fault := f.expression(t.Data, scope, &at, b)
	if fault != nil {
		return missing(0, fault.state, fault.why)
	}
	size, fault := f.sizeOf(id, scope, &at, b)
	if fault != nil {
		return missing(0, fault.state, fault.why)
	}
	v := f.Read(data.lo, size)
	v.Axes = f.axes(&f.Info.Types[id], scope, &at, b)
	return v
}

// axes returns the dimensions of an array according to its descriptor, or nil if it does not say where the elements
// are. The first dimension of a type with a descriptor is the innermost, as in Fortran.
func (f *Frame) axes(t *vars.Type, scope int, object *uint64, b *budget) []Axis {
	s := vars.Sizer{Info: f.Info, PtrSize: f.ptrSize(), Bound: func(x vars.Bound) (int64, bool) {
		n, fault := f.expression(x.Expr, scope, object, b)
		return n.int64(), fault == nil
	}}
	axes := make([]Axis, len(t.Dims()))
	for i := range t.Dims() {
		d := &t.Dims()[i]
		count, known := s.Count(d)
		step, ok := s.Value(d.Step)
		if !known || !ok || step <= 0 {
			return nil
		}
		first, _ := s.Value(d.Lower)
		axes[len(axes)-1-i] = Axis{first, count, uint64(step)}
	}
	return axes
}

// expression returns the value of an expression of a type. object is the address of the variable,
// which is pushed first; nil if it has none.
func (f *Frame) expression(e vars.ExprID, scope int, object *uint64, b *budget) (number, *failure) {
	if fault := b.enter(); fault != nil {
		return number{}, fault
	}
	defer b.leave()
	m := machine{f: f, budget: b, scope: scope, object: object}
	if object != nil {
		m.pushGeneric(*object)
	}
	return m.value(f.ops(e, b))
}

// sizeOf returns the size of a type in bytes, which may depend on a scope's variables or on an
// object's descriptor.
func (f *Frame) sizeOf(id vars.TypeID, scope int, object *uint64, b *budget) (int, *failure) {
	var because *failure
	s := vars.Sizer{Info: f.Info, PtrSize: f.ptrSize(), Bound: func(x vars.Bound) (int64, bool) {
		n, fault := f.expression(x.Expr, scope, object, b)
		if fault != nil {
			because = fault
		}
		return n.int64(), fault == nil
	}}
	size, ok := s.Size(id)
	switch {
	case because != nil && because.why == "":
		return 0, &failure{because.state, "the size of the value is not known"}
	case because != nil:
		return 0, because
	case !ok:
		return 0, absent("the size of the type is not known")
	case size > MaxValue:
		return 0, absent("a value of %d bytes is too long", size)
	}
	return int(size), nil
}

// location evaluates the expression for the location of size bytes.
func (f *Frame) location(e vars.ExprID, scope int, as class, size int, b *budget) Value {
	m := machine{f: f, budget: b, scope: scope}
	return m.compose(m.evaluate(f.ops(e, b)), size, as)
}

// instance finds the variable with a label in the innermost scope around the expression, and that
// scope. No variable has label 0.
func (m *machine) instance(label uint32) (vars.Instance, int, bool) {
	if label == 0 {
		return vars.Instance{}, 0, false
	}
	for i := m.scope; i < len(m.f.Scopes); i++ {
		for _, v := range m.f.Scopes[i].Vars {
			if m.f.Info.Vars[v.Var].Label == label {
				return v, i, true
			}
		}
	}
	return vars.Instance{}, 0, false
}
