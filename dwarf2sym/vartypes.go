package dwarf2sym

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt/vars"
)

// readTypes reads the members of the structures that the workers met, each where the first unit has
// it, and of those that they lead to.
func (r *reader) readTypes(ctx context.Context, d *debugData) {
	first := r.workers[0].vars
	w := newWorker(d, r.code, r.opts)
	w.vars = newVarReader(w, &r.opts.Vars, first.meter.Effort, first.seeds)
	w.vars.met = map[typeHash]vars.TypeID{}
	r.typeReader = w.vars
	var all []unreadType
	for _, w := range r.workers {
		w.vars.meter.Flush()
		all = append(all, w.vars.pending...)
	}
	slices.SortFunc(all, func(a, b unreadType) int {
		return cmp.Or(cmp.Compare(a.key.d.tag, b.key.d.tag), cmp.Compare(btob(a.key.d.OldTypes), btob(b.key.d.OldTypes)), cmp.Compare(a.key.off, b.key.off))
	})
	for i := 0; i < len(all) && !w.vars.meter.Exhausted && ctx.Err() == nil; {
		unit, ok := all[i].key.d.unitAt(all[i].key.off)
		k := i + 1
		for k < len(all) && ok && all[k].key.d == all[i].key.d && all[k].key.off < all[i].key.d.units[unit].Off+all[i].key.d.units[unit].Size {
			k++
		}
		if ok {
			w.vars.typesOf(all[i].key.d, &all[i].key.d.units[unit].Header, all[i:k])
		}
		i = k
	}
	r.addProblems(&w.problems)
	w.vars.meter.Flush()
	w.vars.finish()
}

// typesOf reads the structures that are wanted from a unit, and those that they lead to.
func (v *varReader) typesOf(d *debugData, h *dwarf.Header, want []unreadType) {
	want = slices.DeleteFunc(want, func(t unreadType) bool {
		id, known := v.typeIndex[t.hash]
		if known {
			v.met[t.hash] = id
		}
		return known
	})
	if len(want) == 0 {
		return // units before it had all
	}
	w := v.w
	defer func() {
		v.top, v.depth, v.unread = 0, 0, v.unread[:0]
		if p := recover(); p != nil {
			w.problem(h.Off, fmt.Sprintf("types of the unit at %#x", h.Off),
				&bin.Error{File: d.File, Section: ".debug_info", Offset: h.Off, Msg: fmt.Sprintf("internal error: %v", p)})
		}
	}()
	v.reset()
	w.closeForeign()
	w.tables.Reset()
	w.d, w.namesOnly = d, true
	w.damage().next()
	data, err := d.Info.Bytes(int64(h.Off), int64(h.Size), nil)
	if err != nil || !v.meter.Spend(h.Size) {
		return
	}
	t, _, err := w.tables.Get(d.Abbrev, h)
	all, _, allErr := v.tables.Get(d.Abbrev, h)
	if err != nil || allErr != nil || w.u.open(d, h, data, t, w.Meter) != nil || v.main.open(d, h, data, all, v.meter) != nil {
		return
	}
	w.scopes, w.fileIDs, w.haveLines = w.scopes[:0], w.fileIDs[:0], false
	w.scan() // for the names of scopes
	for _, t := range want {
		if _, ok := v.met[t.hash]; !ok {
			v.met[t.hash] = v.typeAt(&v.main, dwarf.Value{Kind: dwarf.Ref, U: t.key.off})
			v.readMembers()
		}
	}
}

// joinTypes finds out which types of the readers are equal: those whose names, sizes and members
// agree, and whose members' types are equal in turn. Types refer to each other in cycles, so that
// all are taken for equal first as far as they agree themselves, and set apart as long as those that
// they refer to are: as the states of an automaton are when it is minimized. A structure that is only declared
// stands for the one of its name, if there is only one.
func (j *varJoiner) joinTypes() {
	j.joinExprs()
	g := &typeGraph{seed: maphash.MakeSeed()}
	n := 0
	for _, v := range j.readers {
		n += len(v.types)
	}
	g.types = make([]vars.Type, 0, n)
	for r, v := range j.readers {
		g.first = append(g.first, uint32(len(g.types)))
		for i := range v.types {
			t := v.types[i] // its contents are not needed elsewhere
			t.Exprs(func(e vars.ExprID) vars.ExprID { return j.exprs[r][e] })
			t.Renumber(func(id vars.TypeID) vars.TypeID { return vars.TypeID(g.first[r]) + id })
			g.types = append(g.types, t)
		}
		v.types, v.typeIndex = nil, nil
	}
	g.to = make([]uint32, len(g.types))
	for i := range g.to {
		g.to[i] = uint32(i)
	}
	last := len(j.readers) - 1
	for r, v := range j.readers {
		for _, t := range v.pending {
			if id, ok := j.readers[last].met[t.hash]; ok {
				g.to[g.first[r]+uint32(t.id)] = g.first[last] + uint32(id)
			}
		}
		v.pending = nil
	}
	g.refine()
	if g.define() {
		g.refine()
	}
	j.numberTypes(g)
}

// typeGraph is the types of all readers.
type typeGraph struct {
	seed  maphash.Seed
	first []uint32 // by reader: its type 0
	types []vars.Type
	own   []uint64 // by type: what it is, without what it refers to
	hash  []uint64 // with what it refers to, so far
	to    []uint32 // by type: the one that stands for it
}

// maxRounds bounds how far types are compared. In real programs 12 rounds set apart all that differ.
const maxRounds = 64

// refine sets types apart until nothing changes.
func (g *typeGraph) refine() {
	if g.own == nil {
		var k []byte
		for i := range g.types {
			k = appendWhole(k[:0], &g.types[i])
			g.own = append(g.own, maphash.Bytes(g.seed, k))
		}
	}
	g.hash = append(g.hash[:0], g.own...)
	next := make([]uint64, len(g.hash))
	classes := 0
	for range maxRounds {
		copy(next, g.hash)
		slices.Sort(next)
		n := len(slices.Compact(next))
		if n == classes {
			return
		}
		classes = n
		for i := range g.types {
			h := mix(0, g.own[i])
			g.types[i].Refs(func(id vars.TypeID) { h = mix(h, g.hash[g.to[id]]) })
			next[i] = h
		}
		g.hash, next = next, g.hash
	}
}

// mix joins hashes: the finalizer of MurmurHash3 over their sum.
func mix(h, x uint64) uint64 {
	h = (h*31 + x) ^ math.MaxUint32
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// define lets structures that are only declared stand for those that are defined. It reports whether there are any.
func (g *typeGraph) define() bool {
	const several = math.MaxUint32
	defined := map[string]uint32{}
	for i := range g.types {
		t := &g.types[i]
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
		t := &g.types[i]
		if !t.Incomplete {
			continue
		}
		if d, ok := defined[t.Name]; ok && g.to[i] == uint32(i) && d != several && sameSort(t, &g.types[d]) {
			g.to[i] = d
			any = true
		}
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

// sameSort reports whether a declaration may be one of a definition.
func sameSort(a, b *vars.Type) bool {
	sort := func(t *vars.Type) vars.TypeKind {
		if t.Kind == vars.Class {
			return vars.Struct
		}
		return t.Kind
	}
	return sort(a) == sort(b)
}

// numberTypes makes the types of the Info, one for each class.
func (j *varJoiner) numberTypes(g *typeGraph) {
	class := map[uint64]vars.TypeID{g.hash[0]: 0}
	j.info.Types = []vars.Type{{}}
	ids := make([]vars.TypeID, len(g.types))
	var reps []uint32
	for i := range g.types {
		h := g.hash[g.to[i]]
		id, ok := class[h]
		if !ok {
			id = vars.TypeID(len(j.info.Types))
			class[h] = id
			j.info.Types = append(j.info.Types, g.types[g.to[i]])
			reps = append(reps, g.to[i])
		}
		ids[i] = id
	}
	for k := range reps {
		j.info.Types[k+1].Renumber(func(id vars.TypeID) vars.TypeID { return ids[id] })
	}
	for r := range j.readers {
		end := len(ids)
		if r+1 < len(g.first) {
			end = int(g.first[r+1])
		}
		j.types = append(j.types, ids[g.first[r]:end])
	}
	// Until here expressions have the numbers that base types got first.
	for i, e := range j.info.Exprs {
		j.info.Exprs[i] = e.Renumber(func(id vars.TypeID) vars.TypeID { return ids[j.baseTypes[id]] }, nil)
	}
}

// joinExprs gives the expressions of all readers common numbers. The base types that they refer to
// have those of j.baseTypes.
func (j *varJoiner) joinExprs() {
	bases := map[string]vars.TypeID{}
	index := map[vars.Expr]vars.ExprID{}
	j.info.Exprs = []vars.Expr{{}}
	j.baseTypes = []uint32{0}
	var k []byte
	at := uint32(0)
	for _, v := range j.readers {
		ids := make([]vars.ExprID, len(v.exprs))
		for i, e := range v.exprs {
			if i == 0 {
				continue
			}
			e = e.Renumber(func(id vars.TypeID) vars.TypeID {
				if id == 0 {
					return 0
				}
				k = appendType(k[:0], &v.types[id])
				base, ok := bases[string(k)]
				if !ok {
					base = vars.TypeID(len(j.baseTypes))
					j.baseTypes = append(j.baseTypes, at+uint32(id))
					bases[string(k)] = base
				}
				return base
			}, func(e vars.ExprID) vars.ExprID { return ids[e] })
			id, ok := index[e]
			if !ok {
				id = vars.ExprID(len(j.info.Exprs))
				j.info.Exprs = append(j.info.Exprs, e)
				index[e] = id
			}
			ids[i] = id
		}
		j.exprs = append(j.exprs, ids)
		at += uint32(len(v.types))
	}
}

// appendWhole appends all that a type is itself.
func appendWhole(k []byte, t *vars.Type) []byte {
	apart := *t
	apart.Elem, apart.Class, apart.Params = 0, 0, nil
	k = append(appendType(k, &apart), 0, btob(t.Incomplete))
	k = binary.AppendUvarint(k, uint64(len(t.Params)))
	k = appendMembers(k, t.Members)
	for i := range t.Variants {
		p := &t.Variants[i]
		k = appendMembers(append(k, 1), []vars.Member{p.Discr})
		for n := range p.Variants {
			k = append(k, 2)
			for _, r := range p.Variants[n].Ranges {
				k = binary.AppendUvarint(append(k, 3), r.Low)
				k = binary.AppendUvarint(k, r.High)
			}
			k = appendMembers(k, p.Variants[n].Members)
		}
	}
	for i := range t.Enumerators {
		k = append(append(k, t.Enumerators[i].Name...), 0)
		k = binary.AppendVarint(k, t.Enumerators[i].Value)
	}
	return k
}

func appendMembers(k []byte, members []vars.Member) []byte {
	k = binary.AppendUvarint(k, uint64(len(members)))
	for i := range members {
		m := &members[i]
		k = append(append(k, m.Name...), 0, m.BitOffset, btob(m.Base), btob(m.Artificial))
		k = binary.AppendUvarint(k, m.Offset)
		k = binary.AppendUvarint(k, uint64(m.At))
		k = binary.AppendUvarint(k, uint64(m.BitSize))
	}
	return k
}
