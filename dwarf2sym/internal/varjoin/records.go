// Package varjoin merges the variables that several readers of units found into one module.
//
// Each reader fills in its own Records, with its own numbers and addresses as in the file. Once the
// FUNCs are known, Join assigns common numbers, drops what is outside the FUNCs, and determines which
// types are equal. The result does not depend on which reader read which unit.
package varjoin

import (
	"encoding/binary"
	"hash/maphash"
	"math/rand/v2"
	"strings"

	"github.com/symtool/symtool/internal/intern"
	"github.com/symtool/symtool/symfmt/vars"
)

// Seeds are the seeds for hashes of types and names, shared by all readers of a file.
type Seeds [2]maphash.Seed

// NewSeeds returns random seeds.
func NewSeeds() *Seeds { return &Seeds{maphash.MakeSeed(), maphash.MakeSeed()} }

// Records holds the variables that one reader found.
type Records struct {
	seeds     *Seeds
	names     intern.Table
	exprs     vars.ExprTable
	uses      []uint32 // by expression: how often packed functions use it
	types     typeList // the first is void
	typeIndex map[TypeHash]vars.TypeID
	later     []laterType
	found     map[TypeHash]vars.TypeID // types of later that are in other readers' Records
	typeKey   []byte
	variables []variable
	located   []bool // by variable: it has a value somewhere
	varIndex  intern.Index
	units     [][]uint32 // by unit: the variables of its packed functions
	funcs     []packedFunc
	targets   []target
	symbols   []target                      // for names without a target
	runtime   map[vars.RuntimeType]struct{} // with offsets from the start of the program's type descriptors
	packed    []byte                        // reused
	chunk     []byte                        // memory of packed functions
}

// TypeHash identifies the contents of a type: a hash is shorter than the names of types.
type TypeHash [2]uint64

// laterType is a type whose members another reader reads, if they are needed.
type laterType struct {
	hash TypeHash
	id   vars.TypeID
}

// variable is a variable, with its name as a number in names.
type variable struct {
	name  uint32
	typ   vars.TypeID
	label uint32
	flags uint8
}

// hashSeed makes hashes of variables unpredictable.
var hashSeed = rand.Uint64()

func (v *variable) hash() uint32 {
	h := mix(mix(mix(hashSeed, uint64(v.name)<<8|uint64(v.flags)), uint64(v.typ)), uint64(v.label))
	return uint32(h ^ h>>32)
}

// Flags of a variable.
const (
	isParam = 1 << iota
	isArtificial
)

// Variable is a variable of a unit as read.
type Variable struct {
	Name              NameID
	Type              vars.TypeID
	Label             uint32 // the number that operations use to refer to it, or 0
	Param, Artificial bool
	Located           bool // it has a value somewhere
}

// Target identifies a function by a DIE or by a name. Targets of different readers can be compared.
type Target struct {
	Skeleton uint64 // for the other half of a split unit, the skeleton's offset + 1; for a name, byName; otherwise 0
	Off      uint64 // offset, with the tag of its file; for a name, its hash
}

// byName is stored instead of a skeleton's offset + 1. No unit is as short as one byte.
const byName = 2

// Named returns the target for the functions with a name. Every name has its own target: 64-bit hashes with a random
// seed do not collide by chance.
func (r *Records) Named(name []byte) Target { return r.seeds.Named(name) }

// Named is like [Records.Named].
func (s *Seeds) Named(name []byte) Target { return Target{byName, maphash.Bytes(s[0], name)} }

// target is a function that calls may refer to.
type target struct {
	die  Target
	addr uint64
}

// New returns empty records.
func New(seeds *Seeds) *Records {
	r := &Records{
		seeds:     seeds,
		typeIndex: map[TypeHash]vars.TypeID{}, found: map[TypeHash]vars.TypeID{},
	}
	r.names.InternString("")
	r.types.add(vars.Type{})
	return r
}

// Freeze drops what is needed only for adding.
func (r *Records) Freeze() {
	r.exprs.Freeze()
	r.typeIndex, r.varIndex, r.typeKey = nil, intern.Index{}, nil
}

// NameID is the number of a name; 0 is the empty name.
type NameID uint32

// AddName returns the number of a name. It keeps a copy of the name.
func (r *Records) AddName(name []byte) NameID { return NameID(r.names.Intern(name)) }

// Name returns the name with number id.
func (r *Records) Name(id NameID) string { return r.names.At(uint32(id)) }

// AddExpr returns the number of an expression and reports whether it is new. An expression without operations means
// that there is no value.
func (r *Records) AddExpr(ops []vars.Op) (id vars.ExprID, isNew bool) { return r.exprs.Add(ops) }

// Expr returns the expression with number id.
func (r *Records) Expr(id vars.ExprID) vars.Expr { return r.exprs.At(id) }

// Type returns the type with number id, which the caller may fill in.
func (r *Records) Type(id vars.TypeID) *vars.Type { return r.types.at(id) }

// NewType adds a type without looking for an equal one.
func (r *Records) NewType(t vars.Type) vars.TypeID { return r.types.add(t) }

// typeList holds types by number, in pieces that never move.
type typeList struct{ pieces [][]vars.Type }

const typesInPiece = 1024

func (l *typeList) len() int {
	n := len(l.pieces)
	if n == 0 {
		return 0
	}
	return (n-1)*typesInPiece + len(l.pieces[n-1])
}

func (l *typeList) at(id vars.TypeID) *vars.Type { return &l.pieces[id/typesInPiece][id%typesInPiece] }

func (l *typeList) add(t vars.Type) vars.TypeID {
	id := l.len()
	if id%typesInPiece == 0 {
		l.pieces = append(l.pieces, make([]vars.Type, 0, typesInPiece))
	}
	last := &l.pieces[len(l.pieces)-1]
	*last = append(*last, t)
	return vars.TypeID(id)
}

// AddType returns the number of a type that is not a structure, and reports whether it is new.
func (r *Records) AddType(t vars.Type) (id vars.TypeID, isNew bool) {
	r.typeKey = appendType(r.typeKey[:0], &t)
	id, _, isNew = r.intern(t, r.typeKey) // the first byte differs from those of structures' keys
	return id, isNew
}

// AddStructure returns the number of a structure, union or enumeration and its hash, and reports whether it is new.
// Structures with the same kind, name, size and identity are treated as the same.
func (r *Records) AddStructure(t vars.Type, identity []byte) (id vars.TypeID, hash TypeHash, isNew bool) {
	r.typeKey = append(r.typeKey[:0], byte(t.Kind), btob(t.Incomplete), btob(t.HasSize))
	r.typeKey = binary.AppendUvarint(r.typeKey, t.Size)
	r.typeKey = append(append(r.typeKey, t.Name...), 0)
	return r.intern(t, append(r.typeKey, identity...))
}

// intern returns the number of a type whose contents are key. A new type gets a copy of the name, which the caller
// may overwrite.
func (r *Records) intern(t vars.Type, key []byte) (id vars.TypeID, hash TypeHash, isNew bool) {
	hash = TypeHash{maphash.Bytes(r.seeds[0], key), maphash.Bytes(r.seeds[1], key)}
	if id, ok := r.typeIndex[hash]; ok {
		return id, hash, false
	}
	t.Name = strings.Clone(t.Name)
	id = r.NewType(t)
	r.typeIndex[hash] = id
	return id, hash, true
}

// Later records that another reader may read the members of a structure. If none does, they stay unknown.
func (r *Records) Later(hash TypeHash, id vars.TypeID) {
	r.later = append(r.later, laterType{hash, id})
}

// Find returns the number of the type with a hash.
func (r *Records) Find(hash TypeHash) (vars.TypeID, bool) {
	id, ok := r.typeIndex[hash]
	return id, ok
}

// SetFound records that id is the structure for which another reader called Later.
func (r *Records) SetFound(hash TypeHash, id vars.TypeID) { r.found[hash] = id }

// AddTarget records that calls of die lead to the function at addr.
func (r *Records) AddTarget(die Target, addr uint64) {
	r.targets = append(r.targets, target{die, addr})
}

// AddSymbol records that calls of the function with a name lead to addr, unless a function of that name has another
// address. Symbols include names that the debug information lacks, such as additional names of a function.
func (r *Records) AddSymbol(name []byte, addr uint64) {
	r.symbols = append(r.symbols, target{r.Named(name), addr})
}

// AddRuntimeType records that the program has a descriptor of the type id at off, relative to the start of all
// descriptors. It reports whether that is new.
func (r *Records) AddRuntimeType(off uint64, id vars.TypeID) (isNew bool) {
	if r.runtime == nil {
		r.runtime = map[vars.RuntimeType]struct{}{}
	}
	n := len(r.runtime)
	r.runtime[vars.RuntimeType{RVA: vars.RVA(off), Type: id}] = struct{}{}
	return len(r.runtime) > n
}

// Funcs returns the number of functions.
func (r *Records) Funcs() int { return len(r.funcs) }

// DropFuncs drops the functions from index n on.
func (r *Records) DropFuncs(n int) { r.funcs = r.funcs[:n] }

// EndUnit sets the names and types of the variables of the functions added since the last unit.
func (r *Records) EndUnit(all []Variable) {
	ids := make([]uint32, len(all))
	for i := range all {
		va := &all[i]
		rec := variable{name: uint32(va.Name), typ: va.Type, label: va.Label}
		if va.Param {
			rec.flags |= isParam
		}
		if va.Artificial {
			rec.flags |= isArtificial
		}
		hash := rec.hash()
		id, ok := r.varIndex.Find(hash, func(n uint32) bool { return r.variables[n] == rec })
		if !ok {
			id = r.varIndex.Add(hash)
			r.variables, r.located = append(r.variables, rec), append(r.located, false)
		}
		r.located[id] = r.located[id] || va.Located
		ids[i] = id
	}
	r.units = append(r.units, ids)
}
