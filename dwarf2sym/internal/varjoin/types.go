package varjoin

import (
	"hash/maphash"
	"math"
	"math/bits"

	"github.com/symtool/symtool/symfmt/vars"
)

// joinTypes determines which types of the readers are equal: their names, sizes and members agree, and
// their members' types are equal in turn. As types refer to each other in cycles, all types that agree
// by themselves are first treated as equal, and then separated as long as types that they refer to are
// separated: an automaton is minimized in the same way. A structure that is only declared represents
// the structure of that name, if there is only one.
func (j *joiner) joinTypes() {
	j.joinExprs()
	g := &typeGraph{seed: maphash.MakeSeed()}
	n := 0
	for _, v := range j.readers {
		n += v.types.len()
	}
	g.types = make([]*vars.Type, 0, n)
	for r, v := range j.readers {
		g.first = append(g.first, uint32(len(g.types)))
		for i := range v.types.len() {
			t := v.types.at(vars.TypeID(i))
			t.Exprs(func(e vars.ExprID) vars.ExprID { return j.exprs[r][e] })
			t.Renumber(func(id vars.TypeID) vars.TypeID { return vars.TypeID(g.first[r]) + id })
			g.types = append(g.types, t)
		}
		v.types = typeList{}
	}
	g.to = make([]uint32, len(g.types))
	for i := range g.to {
		g.to[i] = uint32(i)
	}
	found := map[TypeHash]uint32{}
	for r, v := range j.readers {
		for hash, id := range v.found {
			found[hash] = g.first[r] + uint32(id)
		}
	}
	for r, v := range j.readers {
		for _, t := range v.later {
			if n, ok := found[t.hash]; ok {
				g.to[g.first[r]+uint32(t.id)] = n
			} else {
				g.types[g.first[r]+uint32(t.id)].Incomplete = true
			}
		}
		v.later, v.found = nil, nil
	}
	g.refine()
	if g.define() {
		g.refine()
	}
	j.numberTypes(g)
}

// typeGraph holds the types of all readers.
type typeGraph struct {
	seed  maphash.Seed
	first []uint32 // by reader: its type 0
	types []*vars.Type
	own   []uint64 // by type: the hash of its contents, without the types that it refers to
	hash  []uint64 // including the types that it refers to, so far
	to    []uint32 // by type: the type that represents it
	refs  []uint32 // of all types: the types that they refer to
	ends  []uint32 // by type: the end of its refs
}

// maxRounds bounds the depth to which types are compared. In real programs, 12 rounds separate all
// types that differ.
const maxRounds = 64

// refine separates types until nothing changes.
func (g *typeGraph) refine() {
	if g.own == nil {
		g.describe()
	}
	g.hash = append(g.hash[:0], g.own...)
	next := make([]uint64, len(g.hash))
	table := make([]uint64, 1<<bits.Len(uint(2*len(g.hash))))
	classes := 0
	for range maxRounds {
		n := distinct(g.hash, table)
		if n == classes {
			return
		}
		classes = n
		from := uint32(0)
		for i, end := range g.ends {
			h := mix(0, g.own[i])
			for _, id := range g.refs[from:end] {
				h = mix(h, g.hash[g.to[id]])
			}
			next[i], from = h, end
		}
		g.hash, next = next, g.hash
	}
}

// describe lists the contents and references of all types once, as many rounds need them.
func (g *typeGraph) describe() {
	g.own, g.ends = make([]uint64, len(g.types)), make([]uint32, len(g.types))
	var k []byte
	add := func(id vars.TypeID) { g.refs = append(g.refs, uint32(id)) }
	for i, t := range g.types {
		k = appendWhole(k[:0], t)
		g.own[i] = maphash.Bytes(g.seed, k)
		t.Refs(add)
		g.ends[i] = uint32(len(g.refs))
	}
}

// distinct counts different hashes. The length of table must be a power of two and larger than that of
// hashes.
func distinct(hashes, table []uint64) (n int) {
	clear(table)
	zero := 0
	for _, h := range hashes {
		if h == 0 { // 0 means a free slot
			zero = 1
			continue
		}
		i := h & uint64(len(table)-1)
		for table[i] != 0 && table[i] != h {
			i = (i + 1) & uint64(len(table)-1)
		}
		if table[i] == 0 {
			table[i] = h
			n++
		}
	}
	return n + zero
}

// mix combines hashes: the finalizer of MurmurHash3 over their sum.
func mix(h, x uint64) uint64 {
	h = (h*31 + x) ^ math.MaxUint32
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// define makes definitions represent structures without members. It reports whether there are any.
func (g *typeGraph) define() bool {
	const several = math.MaxUint32
	defined := map[string]uint32{}
	for i := range g.types {
		t := g.types[i]
		if !isAggregate(t) || t.Incomplete || t.Name == "" || g.to[i] != uint32(i) {
			continue
		}
		if other, ok := defined[t.Name]; ok && (other == several || g.hash[other] != g.hash[i]) {
			defined[t.Name] = several
		} else if !ok {
			defined[t.Name] = uint32(i)
		}
	}
	any := false
	for i := range g.types {
		t := g.types[i]
		if !t.Incomplete {
			continue
		}
		d, ok := defined[t.Name]
		if !ok || d == several || g.to[i] != uint32(i) || !sameSort(t, g.types[d]) || t.HasSize && t.Size != g.types[d].Size {
			continue
		}
		g.to[i] = d
		any = true
	}
	return any
}

func isAggregate(t *vars.Type) bool {
	switch t.Kind {
	case vars.Struct, vars.Class, vars.Union, vars.Enum:
		return true
	}
	return false
}

// sameSort reports whether a may be a declaration of b.
func sameSort(a, b *vars.Type) bool {
	sort := func(t *vars.Type) vars.TypeKind {
		if t.Kind == vars.Class {
			return vars.Struct
		}
		return t.Kind
	}
	return sort(a) == sort(b)
}

// numberTypes adds a type to the Info for each class of equal types.
func (j *joiner) numberTypes(g *typeGraph) {
	class := map[uint64]vars.TypeID{g.hash[0]: 0}
	ids := make([]vars.TypeID, len(g.types))
	reps := []uint32{0}
	for i := range g.types {
		h := g.hash[g.to[i]]
		id, ok := class[h]
		if !ok {
			id = vars.TypeID(len(reps))
			class[h] = id
			reps = append(reps, g.to[i])
		}
		ids[i] = id
	}
	j.info.Types = make([]vars.Type, len(reps))
	for k, rep := range reps[1:] {
		t := g.types[rep]
		t.Renumber(func(id vars.TypeID) vars.TypeID { return ids[id] })
		j.info.Types[k+1] = *t
	}
	for r := range j.readers {
		end := len(ids)
		if r+1 < len(g.first) {
			end = int(g.first[r+1])
		}
		j.types = append(j.types, ids[g.first[r]:end])
	}
	j.joinRuntimeTypes()
	// Up to here, expressions refer to the first number of each base type.
	j.info.Exprs = make([]vars.Expr, j.allExprs.Len())
	for i := range j.info.Exprs {
		j.info.Exprs[i] = j.allExprs.At(vars.ExprID(i)).Renumber(func(id vars.TypeID) vars.TypeID { return ids[j.baseTypes[id]] }, nil)
	}
}

// joinRuntimeTypes lists the types that the program describes at run time, by their offsets.
func (j *joiner) joinRuntimeTypes() {
	for r, v := range j.readers {
		for t := range v.runtime {
			j.info.RuntimeTypes = append(j.info.RuntimeTypes, vars.RuntimeType{RVA: t.RVA, Type: j.types[r][t.Type]})
		}
		v.runtime = nil
	}
	j.info.SortRuntimeTypes()
}

// joinExprs assigns common numbers to the expressions of all readers. The base types that they refer to
// get the numbers in j.baseTypes.
func (j *joiner) joinExprs() {
	bases := map[string]vars.TypeID{}
	j.baseTypes, j.baseKeys = []uint32{0}, []string{""}
	var k []byte
	at := uint32(0)
	for _, v := range j.readers {
		ids := make([]vars.ExprID, v.exprs.Len())
		for i := range ids {
			e := v.exprs.At(vars.ExprID(i)).Renumber(func(id vars.TypeID) vars.TypeID {
				if id == 0 {
					return 0
				}
				k = appendType(k[:0], v.types.at(id))
				base, ok := bases[string(k)]
				if !ok {
					base = vars.TypeID(len(j.baseTypes))
					key := string(k)
					j.baseTypes, j.baseKeys = append(j.baseTypes, at+uint32(id)), append(j.baseKeys, key)
					bases[key] = base
				}
				return base
			}, func(e vars.ExprID) vars.ExprID { return ids[e] })
			ids[i] = j.allExprs.AddExpr(e)
		}
		j.exprs = append(j.exprs, ids)
		at += uint32(v.types.len())
	}
}
