// Package vars is the model of a module's parameters and local variables: their types, and where
// their values are while the program runs. It is made from debug information once; evaluating a
// variable needs an Info, the registers and the memory of a frame, and nothing else.
//
// # What is where
//
// An Info has tables, which the rest refers to by number: types, variables (a name with a type),
// expressions (DWARF operations in which every reference was resolved) and groups (the variables
// of one scope). Entry 0 of each table says "none".
//
// A Func is the variables of one FUNC record: a tree of scopes, each with a group and, for every
// variable of the group, where it is. Inlined calls are INLINE records of that FUNC, by their
// number among them; their ranges are not repeated here. Lexical blocks have ranges of their own.
//
// # Looking up an address
//
// At returns the scopes around an address, innermost first, with the expression of each variable
// that holds there. For a frame that has called something, look up the return address minus 1.
package vars

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt/arch"
)

// RVA is an address relative to the module's load base, in bytes.
type RVA = arch.RVA

// Numbers of the entries of an Info's tables. 0 is none: void for a type, no location for an
// expression.
type (
	TypeID  uint32
	VarID   uint32
	ExprID  uint32
	GroupID uint32
)

// Info has the variables of a module.
type Info struct {
	Locals    bool // local variables are included, not parameters alone
	FullTypes bool // types have their members; otherwise names and sizes

	Types  []Type     // by TypeID
	Vars   []Variable // by VarID
	Exprs  []Expr     // by ExprID
	Groups [][]VarID  // by GroupID: the variables of a scope, in order of the source
	Funcs  []Func     // sorted by RVA, without overlaps
}

// Variable is a name with a type. Variables of several scopes that agree in all of it are one.
type Variable struct {
	Name       string // "" for one that the compiler made
	Type       TypeID
	Param      bool // a parameter, not a local variable
	Artificial bool // made by the compiler: this, the length of an array

	// Label, if not 0, is the number by which operations refer to the variable: OpCall,
	// OpVariableValue and OpImplicitPointer. It means the one in the innermost scope around the
	// operation that has it.
	Label uint32
}

// Func is the variables in the code of one FUNC record. A function in several pieces has one for
// each.
type Func struct {
	RVA       RVA
	Size      uint64
	FrameBase ExprID // what OpFbreg counts from
	Body      Body
}

// ScopeKind says what a scope is.
type ScopeKind uint8

// The kinds of scopes.
const (
	FuncScope   ScopeKind = iota // the function itself
	InlineScope                  // a function that was inlined: an INLINE record
	BlockScope                   // a lexical block
)

// Scope is a scope around an address.
type Scope struct {
	Kind   ScopeKind
	Inline int // InlineScope: the number of the INLINE record in its FUNC, from 0; else -1
	Depth  int // how many inlined calls it is in: 0 is the function's own frame, n the frame of level n-1
	Vars   []Instance
}

// Instance is a variable of a scope, at an address.
type Instance struct {
	Var  VarID
	Expr ExprID // where it is there; 0 if it has no location: optimized out
}

// Inlined is an INLINE record that covers an address.
type Inlined struct {
	Index int // its number in the FUNC, from 0, in the order of the records
	Start RVA // where the lowest of its ranges starts
}

// Equal reports whether in and o say the same with the same numbers.
func (in *Info) Equal(o *Info) bool {
	if in == nil || o == nil {
		return in == o
	}
	return in.Locals == o.Locals && in.FullTypes == o.FullTypes && slices.Equal(in.Vars, o.Vars) && slices.Equal(in.Exprs, o.Exprs) &&
		slices.EqualFunc(in.Groups, o.Groups, slices.Equal) && slices.Equal(in.Funcs, o.Funcs) &&
		slices.EqualFunc(in.Types, o.Types, func(a, b Type) bool { return a.equal(&b) })
}

// Func returns the variables of the code at an address, or nil.
func (in *Info) Func(rva RVA) *Func {
	i, ok := slices.BinarySearchFunc(in.Funcs, rva, func(f Func, rva RVA) int { return cmp.Compare(f.RVA, rva) })
	if !ok {
		i--
	}
	if i < 0 || uint64(rva-in.Funcs[i].RVA) >= in.Funcs[i].Size {
		return nil
	}
	return &in.Funcs[i]
}

// At returns the scopes around an address, innermost first. inlines are the INLINE records that
// cover it, in any order; scopes of others are left out.
func (in *Info) At(rva RVA, inlines []Inlined) []Scope {
	f := in.Func(rva)
	if f == nil {
		return nil
	}
	return f.at(in, rva, inlines)
}

// CallSite is a call whose arguments are known, by its return address.
type CallSite struct {
	Return RVA

	// Target is the function that is called, if the debug information names one of this module.
	Target    RVA
	HasTarget bool
	// TargetAt finds the address of the function in the frame of the caller, of a call by pointer; 0 if
	// it is unknown.
	TargetAt ExprID

	Tail   bool // a tail call: the function ends with it
	Params []SiteParam
}

// SiteParam is an argument of a call: what OpEntryValue of Location has in the function that is called.
type SiteParam struct {
	Location ExprID // in the called function, at its first instruction: nearly always a register
	Value    ExprID // in the frame of the caller
}

// CallSite returns the call that returns to an address.
func (in *Info) CallSite(ret RVA) (CallSite, bool) {
	f := in.Func(ret - 1)
	if f == nil {
		return CallSite{}, false
	}
	return f.callSite(ret)
}
