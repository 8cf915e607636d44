package vars

import "fmt"

// Use says what an expression is for, which determines what it must leave on the stack.
type Use uint8

// The uses of expressions.
const (
	UsePlace  Use = iota // a variable's place: a location description
	UseNumber            // a frame base, an argument of a call, a bound: the top of the stack
	UseObject            // like UseNumber, with the address of an object on the stack at the start
)

// Fault says why an expression has no value on any machine.
type Fault struct {
	Op  int // index of the operation
	Msg string

	// Mixed reports whether operands have different types, which DWARF 5 forbids (2.5.1.4). Compilers
	// generate such expressions; some readers treat the operands as numbers, gdb rejects them.
	Mixed bool
}

// maxVerified is the maximum depth of the stack, in entries.
const maxVerified = 256

// Verify checks an expression without evaluating it: the depth of the stack, the types of its entries, and
// the order of operations. It returns the first fault, or nil. An operation whose effect depends on another
// variable ends the check. ptrSize is the size of an address in bytes.
func (in *Info) Verify(e ExprID, use Use, ptrSize int) *Fault {
	v := verifier{in: in, use: use, ptr: uint64(ptrSize), ops: in.Exprs[e].Ops()}
	return v.run()
}

// operand is the type of a stack entry. The zero value is an untyped integer of the size of an address.
type operand struct {
	typ   TypeID
	float bool
	any   bool // the type is not known
}

func (o operand) mixes(with operand) bool {
	return !o.any && !with.any && o.typ != with.typ
}

// verifier follows the operations of one expression.
type verifier struct {
	in  *Info
	use Use
	ptr uint64
	ops []Op

	stack  []operand
	placed bool // an operation completed the description of a place
	pieces bool
	mixed  *Fault

	depth []int // of the stack before each operation; -1: not known yet
	done  []bool
	todo  []branch
}

// branch is an operation that a jump leads to, and the stack at that point.
type branch struct {
	to    int
	stack []operand
}

func (v *verifier) run() *Fault {
	if len(v.ops) == 0 {
		return nil // known to be nowhere
	}
	v.depth, v.done = make([]int, len(v.ops)), make([]bool, len(v.ops))
	for i := range v.depth {
		v.depth[i] = -1
	}
	var start []operand
	if v.use == UseObject {
		start = []operand{{}}
	}
	v.todo = []branch{{0, start}}
	for len(v.todo) > 0 {
		next := v.todo[len(v.todo)-1]
		v.todo = v.todo[:len(v.todo)-1]
		v.stack, v.placed, v.pieces = next.stack, false, false
		if fault := v.follow(next.to); fault != nil {
			return fault
		}
	}
	return v.mixed
}

// follow checks the operations from pc to the end, or to one that was checked before.
func (v *verifier) follow(pc int) *Fault {
	for pc < len(v.ops) {
		if fault := v.arrive(pc, pc); fault != nil || v.done[pc] {
			return fault
		}
		v.done[pc] = true
		op := &v.ops[pc]
		if v.placed && op.Code != OpPiece && op.Code != OpBitPiece {
			return v.fault(pc, "%v after the end of a location", op.Code)
		}
		if more, fault := v.step(pc, op); fault != nil || !more {
			return fault
		}
		if op.Code == OpSkip || op.Code == OpBranch {
			if fault := v.jump(pc, op.To); fault != nil {
				return fault
			}
			if op.Code == OpSkip {
				return nil
			}
		}
		pc++
	}
	return v.end(len(v.ops) - 1)
}

// arrive checks that the stack has the same depth on every path to an operation.
func (v *verifier) arrive(from, to int) *Fault {
	if v.depth[to] < 0 {
		v.depth[to] = len(v.stack)
	}
	if v.depth[to] != len(v.stack) {
		return v.fault(from, "stacks of %d and of %d entries lead to operation %d", v.depth[to], len(v.stack), to+1)
	}
	return nil
}

// jump records that from leads to to.
func (v *verifier) jump(from, to int) *Fault {
	if to >= len(v.ops) {
		return v.end(from)
	}
	if v.depth[to] < 0 {
		v.todo = append(v.todo, branch{to, append([]operand(nil), v.stack...)})
	}
	return v.arrive(from, to)
}

// end checks what the expression leaves on the stack.
func (v *verifier) end(pc int) *Fault {
	switch {
	case v.use != UsePlace && v.pieces:
		return v.fault(pc, "pieces, want a number")
	case v.placed && v.pieces:
		return v.fault(pc, "a location without a size after pieces")
	case v.placed || v.pieces:
		return nil
	case len(v.stack) == 0:
		return v.fault(pc, "nothing is left on the stack")
	case v.use == UsePlace && v.top().float:
		return v.fault(pc, "the address of the variable is a floating-point number")
	}
	return nil
}

func (v *verifier) top() operand { return v.stack[len(v.stack)-1] }

func (v *verifier) fault(pc int, format string, args ...any) *Fault {
	return &Fault{Op: pc, Msg: fmt.Sprintf(format, args...)}
}

// step checks one operation; more is false if the stack after it is unknown.
func (v *verifier) step(pc int, op *Op) (more bool, fault *Fault) {
	switch op.Code {
	case OpUnsupported, OpCall:
		return false, nil
	case OpReg, OpImplicitValue, OpConstValue, OpConstNumber, OpConstSigned, OpImplicitPointer:
		v.placed = true
		return true, nil
	case OpPiece, OpBitPiece:
		v.endPiece()
		return true, nil
	case OpObjectAt:
		if v.use != UseObject {
			return false, v.fault(pc, "the address of an object that there is not")
		}
	case OpEntryValue:
		sub := verifier{in: v.in, use: UseNumber, ptr: v.ptr, ops: op.Sub}
		if fault = sub.run(); fault != nil && !fault.Mixed {
			return false, v.fault(pc, "entry value: %s", fault.Msg)
		}
		left := operand{} // of a register
		if len(sub.stack) > 0 {
			left = sub.stack[len(sub.stack)-1]
		}
		return true, v.push(pc, left)
	}
	if fault = v.operands(pc, op); fault != nil {
		return false, fault
	}
	return true, nil
}

// endPiece ends a piece. If no operation completed its place, the address on the stack is the place.
func (v *verifier) endPiece() {
	if !v.placed && len(v.stack) > 0 {
		v.stack = v.stack[:len(v.stack)-1]
	}
	v.placed, v.pieces = false, true
}

// operands checks what an operation pops, and pushes its result.
func (v *verifier) operands(pc int, op *Op) *Fault {
	pops, pushes := effect(op.Code)
	if op.Code == OpPick {
		pops = int(min(op.U, maxVerified)) + 1
	}
	if len(v.stack) < pops {
		return v.fault(pc, "%v needs %d entries of a stack of %d", op.Code, pops, len(v.stack))
	}
	args := v.stack[len(v.stack)-pops:]
	switch op.Code {
	case OpDup, OpOver, OpPick:
		return v.push(pc, args[0])
	case OpSwap, OpRot:
		top := args[pops-1]
		copy(args[1:], args[:pops-1])
		args[0] = top
		return nil
	case OpStackValue:
		v.stack = v.stack[:len(v.stack)-1]
		v.placed = true
		return nil
	}
	result, fault := v.result(pc, op, args)
	if fault != nil {
		return fault
	}
	v.stack = v.stack[:len(v.stack)-pops]
	if pushes {
		return v.push(pc, result)
	}
	return nil
}

func (v *verifier) push(pc int, o operand) *Fault {
	if len(v.stack) >= maxVerified {
		return v.fault(pc, "more than %d entries on the stack", maxVerified)
	}
	v.stack = append(v.stack, o)
	return nil
}

// effect returns how many entries an operation needs, and whether it pushes a result.
func effect(code OpCode) (pops int, pushes bool) {
	switch code {
	case OpDrop, OpBranch, OpStackValue:
		return 1, false
	case OpSkip:
		return 0, false
	case OpDup, OpDeref, OpDerefType, OpAbs, OpNeg, OpNot, OpPlusConst, OpConvert, OpReinterpret, OpTLS:
		return 1, true
	case OpOver, OpSwap, OpAnd, OpDiv, OpMinus, OpMod, OpMul, OpOr, OpPlus, OpShl, OpShr, OpShra, OpXor,
		OpEq, OpGe, OpGt, OpLe, OpLt, OpNe:
		return 2, true
	case OpRot:
		return 3, true
	}
	return 0, true
}

// result returns the type of the entry that an operation pushes.
func (v *verifier) result(pc int, op *Op, args []operand) (operand, *Fault) {
	switch op.Code {
	case OpConstType, OpRegType, OpDerefType, OpConvert, OpReinterpret:
		return v.typed(pc, op, args)
	case OpDeref, OpTLS:
		if args[0].float {
			return operand{}, v.fault(pc, "%v of a floating-point number", op.Code)
		}
		if op.Code == OpDeref && (op.U == 0 || op.U > v.ptr) {
			return operand{}, v.fault(pc, "%v of %d bytes, want 1 to %d", op.Code, op.U, v.ptr)
		}
	case OpAbs, OpNeg, OpNot, OpPlusConst:
		if args[0].float && (op.Code == OpNot || op.Code == OpPlusConst) {
			return operand{}, v.fault(pc, "%v of a floating-point number", op.Code)
		}
		return args[0], nil
	case OpShl, OpShr, OpShra:
		if args[0].float || args[1].float {
			return operand{}, v.fault(pc, "%v of a floating-point number", op.Code)
		}
		return args[0], nil
	case OpAnd, OpOr, OpXor, OpMod, OpDiv, OpMinus, OpMul, OpPlus, OpEq, OpGe, OpGt, OpLe, OpLt, OpNe:
		return v.binary(pc, op.Code, args[0], args[1])
	case OpVariableValue:
		return operand{any: true}, nil
	}
	return operand{}, nil
}

// binary checks an operation on two numbers of the same type.
func (v *verifier) binary(pc int, code OpCode, a, b operand) (operand, *Fault) {
	if a.mixes(b) {
		f := v.fault(pc, "%v of operands of different types", code)
		if a.float || b.float {
			return a, f
		}
		f.Mixed = true
		if v.mixed == nil {
			v.mixed = f
		}
		if a.typ == 0 {
			a = b // the typed operand determines the type
		}
	}
	switch code {
	case OpEq, OpGe, OpGt, OpLe, OpLt, OpNe:
		return operand{}, nil
	case OpAnd, OpOr, OpXor, OpMod:
		if a.float {
			return a, v.fault(pc, "%v of floating-point numbers", code)
		}
	}
	return a, nil
}

// typed checks an operation that names a base type.
func (v *verifier) typed(pc int, op *Op, args []operand) (operand, *Fault) {
	out, size := operand{}, v.ptr
	if op.Type != 0 {
		t, id := v.in.number(op.Type)
		if t == nil {
			return out, v.fault(pc, "%v: type %x is no number of 1 to 16 bytes", op.Code, op.Type)
		}
		out, size = operand{typ: id, float: t.Encoding == Float}, t.Size
	} else if op.Code != OpConvert && op.Code != OpReinterpret {
		return out, v.fault(pc, "%v without a type", op.Code)
	}
	switch {
	case op.Code == OpConstType && uint64(len(op.Data)) != size:
		return out, v.fault(pc, "%v of %d bytes for a type of %d", op.Code, len(op.Data), size)
	case op.Code == OpDerefType && args[0].float:
		return out, v.fault(pc, "%v at a floating-point number", op.Code)
	case op.Code == OpDerefType && (op.U == 0 || op.U > 16):
		return out, v.fault(pc, "%v of %d bytes, want 1 to 16", op.Code, op.U)
	case op.Code == OpReinterpret && args[0].typ != 0 && !args[0].any:
		if from, _ := v.in.number(args[0].typ); from != nil && from.Size != size {
			return out, v.fault(pc, "%v of %d bytes as %d", op.Code, from.Size, size)
		}
	}
	return out, nil
}

// number returns a type without typedefs and qualifiers, and its id, if numbers on the stack can have that
// type; otherwise nil.
func (in *Info) number(id TypeID) (*Type, TypeID) {
	if t, plain := in.Plain(id); t != nil && t.Kind == Base && t.Size >= 1 && t.Size <= 16 {
		return t, plain
	}
	return nil, 0
}
