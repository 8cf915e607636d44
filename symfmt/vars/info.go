// Package vars is the model of a module's parameters and local variables: their types, and where
// their values are while the program runs. Debug information is converted to it once; to evaluate
// a variable, only an Info and the registers and memory of a frame are needed.
//
// # Contents
//
// An Info has tables whose entries are referred to by number: types, variables (a name with a
// type), expressions (DWARF operations with all references resolved) and groups (the variables of
// one scope). Entry 0 of each table means "none".
//
// A Func holds the variables of one FUNC record: a tree of scopes, each with a group and, for every
// variable of the group, its location. Inlined calls refer to the INLINE records of that FUNC by their
// index; their ranges are not repeated here. Lexical blocks have their own ranges. All ranges are
// relative to the start of the FUNC.
//
// # Looking up an address
//
// At returns the scopes that contain an address, innermost first, with the expression of each
// variable that applies there. For a frame that has made a call, look up the return address minus
// 1.
package vars

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt/arch"
)

// RVA is an address relative to the module's load base, in bytes.
type RVA = arch.RVA

// Numbers of the entries of an Info's tables. 0 means none: void for a type, no location for an
// expression.
type (
	TypeID  uint32
	VarID   uint32
	ExprID  uint32
	GroupID uint32
)

// Info holds the variables of a module.
type Info struct {
	Locals    bool // it has local variables, not only parameters
	FullTypes bool // types have members; otherwise only names and sizes

	Types  []Type     // by TypeID
	Vars   []Variable // by VarID
	Exprs  []Expr     // by ExprID
	Groups [][]VarID  // by GroupID: the variables of a scope, in source order
	Funcs  []Func     // sorted by RVA, without overlaps

	RuntimeTypes []RuntimeType // sorted by RVA, without duplicates
}

// RuntimeType says which type the program itself describes by the data at an address. Values whose type is only known
// when the program runs refer to such data: an interface value in Go points to a type descriptor or to a table of
// methods.
type RuntimeType struct {
	RVA  RVA
	Type TypeID
}

// RuntimeType returns the type that the program describes at an address, or 0.
func (in *Info) RuntimeType(rva RVA) TypeID {
	i, ok := slices.BinarySearchFunc(in.RuntimeTypes, rva, func(t RuntimeType, rva RVA) int { return cmp.Compare(t.RVA, rva) })
	if !ok {
		return 0
	}
	return in.RuntimeTypes[i].Type
}

// SortRuntimeTypes sorts RuntimeTypes by address. Of several at one address, it keeps the one with
// the lowest type number.
func (in *Info) SortRuntimeTypes() {
	slices.SortFunc(in.RuntimeTypes, func(a, b RuntimeType) int {
		return cmp.Or(cmp.Compare(a.RVA, b.RVA), cmp.Compare(a.Type, b.Type))
	})
	in.RuntimeTypes = slices.CompactFunc(in.RuntimeTypes, func(a, b RuntimeType) bool { return a.RVA == b.RVA })
}

// Variable is a name with a type. Variables of different scopes share an entry if they
// agree in all fields.
type Variable struct {
	Name       string // "" if the compiler made it without a name
	Type       TypeID
	Param      bool // a parameter, not a local variable
	Artificial bool // made by the compiler: this, the length of an array

	// Label, if not 0, is the number by which operations refer to the variable: OpCall,
	// OpVariableValue and OpImplicitPointer. They refer to the variable with the label in the
	// innermost scope around the operation.
	Label uint32
}

// Func holds the variables in the code of one FUNC record. A function in several pieces has one
// Func for each.
type Func struct {
	RVA       RVA
	Size      uint64
	FrameBase ExprID // the address that OpFbreg is relative to
	Language  Language
	EntryAt   int64 // the function's first instruction, relative to RVA: 0 unless it is in another piece
	Body      Body
}

// Entry returns the address of the function's first instruction, to which calls lead.
func (f *Func) Entry() RVA { return f.RVA + RVA(f.EntryAt) }

// Language is the letter of a source language, in whose style values are shown: one of the constants, another
// lower-case letter, or 0 if the language is not known.
type Language byte

// The languages that compilers are known to name.
const (
	Ada       Language = 'a'
	C         Language = 'c'
	D         Language = 'd'
	Fortran   Language = 'f'
	Go        Language = 'g'
	Pascal    Language = 'p'
	Rust      Language = 'r'
	Swift     Language = 's'
	CPlusPlus Language = 'x'
	Zig       Language = 'z'
)

// ScopeKind is the kind of a scope.
type ScopeKind uint8

// The kinds of scopes.
const (
	FuncScope   ScopeKind = iota // the function itself
	InlineScope                  // an inlined function: an INLINE record
	BlockScope                   // a lexical block
)

// Scope is a scope that contains an address.
type Scope struct {
	Kind   ScopeKind
	Inline int // InlineScope: the index of the INLINE record in its FUNC; otherwise -1
	Depth  int // number of inlined calls around it: 0 is the function's own frame, n the frame inlined into the one of depth n-1
	Vars   []Instance
}

// Instance is a variable of a scope, at an address.
type Instance struct {
	Var  VarID
	Expr ExprID // its location there; 0 if it has none (optimized out)
}

// Equal reports whether in and o have the same contents with the same numbers.
func (in *Info) Equal(o *Info) bool {
	if in == nil || o == nil {
		return in == o
	}
	return in.Locals == o.Locals && in.FullTypes == o.FullTypes && slices.Equal(in.Vars, o.Vars) && slices.Equal(in.Exprs, o.Exprs) && slices.Equal(in.RuntimeTypes, o.RuntimeTypes) &&
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

// At returns the scopes that contain an address, innermost first. inlines are the INLINE records
// that cover it, by their index in the FUNC, in any order; scopes of other INLINEs are left out.
func (in *Info) At(rva RVA, inlines []int) []Scope {
	f := in.Func(rva)
	if f == nil {
		return nil
	}
	return f.at(in, rva, inlines)
}

// CallSite is a call with known arguments, by its return address.
type CallSite struct {
	Return RVA

	// Target is the called function, if the debug information names one in this module.
	Target    RVA
	HasTarget bool
	// TargetAt computes, in the frame of the caller, the address of the function that an indirect
	// call leads to; 0 if it is unknown.
	TargetAt ExprID

	Tail   bool // a tail call, which ends the function
	Params []SiteParam
}

// SiteParam is an argument of a call: the value that OpEntryValue of Location has in the
// called function.
type SiteParam struct {
	Location ExprID // in the called function, at its first instruction; nearly always a register
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
