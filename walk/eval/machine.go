package eval

import (
	"fmt"

	"github.com/symtool/symtool/symfmt/vars"
)

// Limits of one evaluation, far above what real expressions need.
const (
	maxOps   = vars.MaxOps // in the expression and all that it needs, decoded and executed
	maxStack = 256
	maxDepth = 32 // of entry values, frame bases and pointers that lead from one expression to another
)

// failure says why a value is unknown.
type failure struct {
	state State
	why   string
}

func invalid(format string, args ...any) *failure {
	return &failure{Absent, "invalid expression: " + fmt.Sprintf(format, args...)}
}

func absent(format string, args ...any) *failure {
	return &failure{Absent, fmt.Sprintf(format, args...)}
}

func unavailable(format string, args ...any) *failure {
	return &failure{Unavailable, fmt.Sprintf(format, args...)}
}

// maxFrameOps limits the operations of all evaluations in a frame.
const maxFrameOps = 200_000

// budget is the remainder of the limits, shared by all evaluations that one evaluation needs.
type budget struct {
	ops, depth int
	frame      *Frame
}

func (f *Frame) newBudget() *budget { return &budget{maxOps, maxDepth, f} }

// charge charges n operations, and reports whether that many were left.
func (b *budget) charge(n int) bool {
	if b.ops < n || b.frame.spent+n > maxFrameOps {
		b.ops = 0
		return false
	}
	b.ops -= n
	b.frame.spent += n
	return true
}

// exhausted stands for operations that exceed the limit: executing it fails.
var exhausted = []vars.Op{{Code: vars.OpUnsupported}}

// ops returns the operations of an expression.
func (f *Frame) ops(e vars.ExprID, b *budget) []vars.Op {
	x := f.Info.Exprs[e]
	if !b.charge(x.Len() / opSize) {
		return exhausted
	}
	return x.Ops()
}

// opSize is how many bytes in packed form are charged as one operation when they are decoded. Real
// operations are shorter; a constant may be ten thousand times as long.
const opSize = 16

// enter enters an expression that another one needs; leave leaves it.
func (b *budget) enter() *failure {
	if b.depth == 0 {
		return invalid("expressions lead to each other more than %d times", maxDepth)
	}
	b.depth--
	return nil
}

func (b *budget) leave() { b.depth++ }

// machine evaluates an expression in a frame.
type machine struct {
	f      *Frame
	budget *budget
	scope  int     // index in Frame.Scopes of the scope whose variables the expression can refer to
	object *uint64 // the address that DW_OP_push_object_address pushes, or nil

	stack  []number
	place  *place // set by a location operation; nil if the location is the address on top of the stack
	pieces []piece
}

// placeKind is the kind of a location description.
type placeKind uint8

const (
	inMemory placeKind = iota
	inRegister
	asNumber   // DW_OP_stack_value
	asBytes    // DW_OP_implicit_value
	asConstant // DW_AT_const_value: a block of any size
	asPointer  // DW_OP_implicit_pointer
	nowhere    // the program has no value here
	unknown    // because of a failure
)

// target is the target of an implicit pointer: the variable with a label or, without one, what an
// expression describes.
type target struct {
	label uint32
	expr  vars.ExprID
}

// place is a location description (DWARF 5, section 2.6.1).
type place struct {
	kind    placeKind
	addr    uint64
	reg     uint64
	number  number
	bytes   []byte
	target  target // of asPointer
	offset  int64
	failure *failure
}

// piece is a part of a composite location.
type piece struct {
	place
	bits   uint64 // 0 means the whole value, if there are no other pieces
	offset uint64 // in bits, within the place
}

// evaluate returns the pieces of a location. There is at least one: an empty expression means that
// the program has no value.
func (m *machine) evaluate(ops []vars.Op) []piece {
	if len(ops) == 0 {
		return []piece{{place: place{kind: nowhere}}}
	}
	for pc := 0; pc < len(ops); {
		next, fault := m.step(ops, pc)
		if fault != nil {
			if next, fault = m.giveUp(ops, pc, fault); fault != nil {
				return []piece{{place: place{kind: unknown, failure: fault}}}
			}
		}
		pc = next
	}
	if len(m.pieces) > 0 {
		return m.pieces
	}
	return []piece{{place: m.current()}}
}

// giveUp ends the description of a piece that failed, and returns the index of the next
// operation. Outside a piece, the whole expression fails.
func (m *machine) giveUp(ops []vars.Op, pc int, fault *failure) (int, *failure) {
	for ; pc < len(ops) && m.budget.charge(1); pc++ {
		if code := ops[pc].Code; code == vars.OpPiece || code == vars.OpBitPiece {
			m.place = &place{kind: unknown, failure: fault}
			return m.step(ops, pc)
		}
	}
	return 0, fault
}

// current returns the place that was described last.
func (m *machine) current() place {
	switch {
	case m.place != nil:
		return *m.place
	case len(m.stack) == 0:
		return place{kind: nowhere}
	}
	return place{kind: inMemory, addr: m.stack[len(m.stack)-1].lo}
}

// value evaluates an expression whose result is a number: a frame base, a call's parameter, a
// bound. A register means its contents.
func (m *machine) value(ops []vars.Op) (number, *failure) {
	pieces := m.evaluate(ops)
	if len(pieces) != 1 || pieces[0].bits != 0 {
		return number{}, invalid("pieces where a number is wanted")
	}
	switch p := &pieces[0]; p.kind {
	case inMemory:
		return m.stack[len(m.stack)-1], nil
	case asNumber:
		return p.number, nil
	case inRegister:
		return m.word(p.reg)
	case asBytes:
		if len(p.bytes) <= 16 {
			return numberOf(unsigned, p.bytes, m.f.BigEndian()), nil
		}
	case unknown:
		return number{}, p.failure
	case nowhere:
		return number{}, absent("")
	}
	return number{}, invalid("the expression has no value")
}

func (m *machine) push(n number) *failure {
	if len(m.stack) >= maxStack {
		return invalid("more than %d numbers", maxStack)
	}
	m.stack = append(m.stack, n)
	return nil
}

func (m *machine) pushGeneric(v uint64) *failure {
	return m.push(number{class: generic, size: m.f.ptrSize(), lo: v}.mask())
}

func (m *machine) pop() (number, *failure) {
	if len(m.stack) == 0 {
		return number{}, invalid("the stack is empty")
	}
	n := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return n, nil
}

// popAddress pops an integer that is an address or an offset.
func (m *machine) popAddress() (uint64, *failure) {
	n, fault := m.pop()
	switch {
	case fault != nil:
		return 0, fault
	case n.class >= float:
		return 0, invalid("an address that is not an integer")
	}
	return n.extend(m.f.ptrSize(), n.class == signed).lo, nil
}
