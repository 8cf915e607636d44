package vars

// OpCode is the code of an operation. DWARF's operations are reduced to these: those that push a
// constant are OpConst, numbers of registers are in Op.Reg, GNU's and LLVM's forms become those
// of DWARF 5, and references to the debug information become numbers of an Info.
type OpCode uint8

// The operations (DWARF 5, 2.5 and 2.6).
const (
	OpUnsupported OpCode = iota // an operation that cannot be represented: the expression has no value

	OpConst    // push U
	OpAddr     // push the address of RVA U in the module
	OpBreg     // push register Reg plus S
	OpFbreg    // push the frame base plus S
	OpCFA      // push the canonical frame address
	OpObjectAt // push the address of the variable: DW_OP_push_object_address
	OpTLS      // pop an offset, push its address in the thread's thread-local storage of the module

	OpDeref // pop an address, push U bytes from there; U is the size of an address, or smaller
	OpDup
	OpDrop
	OpOver
	OpPick // push entry U of the stack
	OpSwap
	OpRot
	OpAbs
	OpAnd
	OpDiv
	OpMinus
	OpMod
	OpMul
	OpNeg
	OpNot
	OpOr
	OpPlus
	OpPlusConst // add U
	OpShl
	OpShr
	OpShra
	OpXor
	OpEq
	OpGe
	OpGt
	OpLe
	OpLt
	OpNe
	OpSkip   // go to operation To
	OpBranch // pop; go to operation To if it is not 0

	OpReg           // the value is in register Reg
	OpStackValue    // the top of the stack is the value
	OpImplicitValue // Data is the value
	OpConstValue    // Data is the value, as in DW_AT_const_value; its size may differ from the type's
	OpConstNumber   // U is the value, as in DW_AT_const_value, truncated or extended to the type's size
	OpConstSigned   // S is the value, as in a signed DW_AT_const_value, truncated or sign-extended to the size of any type
	OpPiece         // U bytes of the value are at the preceding location; if there is none, nowhere
	OpBitPiece      // U bits of it, from bit S of that location

	// OpImplicitPointer is an implicit pointer to byte S of the variable with label Label or, if
	// that is 0, of what Expr describes.
	OpImplicitPointer

	OpEntryValue    // push the value of Sub when the function was called
	OpParam         // in OpEntryValue, and at calls: the parameter named Data, which has no location in the function
	OpCall          // evaluate the location of the variable with label Label
	OpVariableValue // push the value of the variable with label Label

	OpConstType   // push Data, of base type Type
	OpRegType     // push register Reg, of base type Type
	OpDerefType   // pop an address, push U bytes from there, of base type Type
	OpConvert     // convert the top to base type Type; 0 is an integer of the size of an address
	OpReinterpret // reinterpret the top as base type Type; 0 likewise
)

// MaxOps is the largest number of operations of an expression. Real ones have up to a few hundred.
const MaxOps = 10_000

// Op is one operation.
type Op struct {
	Code  OpCode
	Reg   uint32 // DWARF number of a register
	U     uint64
	S     int64
	To    int // index of an operation of the expression, or its length for the end
	Type  TypeID
	Label uint32
	Expr  ExprID
	Data  []byte // in memory order
	Sub   []Op
}
