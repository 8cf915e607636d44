package vars

// OpCode is what an operation does. DWARF's operations are reduced to these: all that push a
// constant are OpConst, the numbers of registers are in Op.Reg, GNU's and LLVM's forms are those
// of DWARF 5, and what refers to the debug information has numbers of an Info.
type OpCode uint8

// The operations (DWARF 5, 2.5 and 2.6).
const (
	OpUnsupported OpCode = iota // one that has no form here: the expression has no value

	OpConst    // push U
	OpAddr     // push the address of RVA U in the module
	OpBreg     // push register Reg plus S
	OpFbreg    // push the frame base plus S
	OpCFA      // push the canonical frame address
	OpObjectAt // push the address of the variable: DW_OP_push_object_address
	OpTLS      // the address of offset U (popped) in the module's thread-local storage of the thread

	OpDeref // pop an address, push U bytes from there; U is the size of an address, or smaller
	OpDup
	OpDrop
	OpOver
	OpPick // U
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
	OpConstValue    // Data is the value, as DW_AT_const_value has it: its size may be another than the type's
	OpConstNumber   // U is the value, as DW_AT_const_value has it: cut or extended to the type's size
	OpPiece         // U bytes of the value are where the operations before say; nowhere, if there are none
	OpBitPiece      // U bits of it, from bit S of that place

	// OpImplicitPointer is a pointer that exists nowhere, to byte S of the variable with label Label
	// or, if that is 0, of what Expr describes.
	OpImplicitPointer

	OpEntryValue    // push what Sub had when the function was called
	OpCall          // go through the location of the variable with label Label
	OpVariableValue // push the value of the variable with label Label

	OpConstType   // push Data, of base type Type
	OpRegType     // push register Reg, of base type Type
	OpDerefType   // pop an address, push U bytes from there, of base type Type
	OpConvert     // convert the top to base type Type; 0: to an integer as wide as an address
	OpReinterpret // give the top base type Type, the same bits; 0 likewise
)

// Op is one operation.
type Op struct {
	Code  OpCode
	Reg   uint32 // DWARF's number of a register
	U     uint64
	S     int64
	To    int // index of an operation of the expression; its length is the end
	Type  TypeID
	Label uint32
	Expr  ExprID
	Data  []byte // in memory order
	Sub   []Op
}
