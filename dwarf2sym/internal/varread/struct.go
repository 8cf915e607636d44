package varread

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/dwarf2sym/internal/varjoin"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt/vars"
)

// The members of structures are read once, from the first unit that has them, and after all units, so that the result
// does not depend on which worker read which unit. Only in split units, whose files are closed by then, are they read
// with the unit. Structures are treated as the same if they have the same name, size and place in the source; those
// without a name or without a place must have the same members as well. Once all types are known, varjoin decides which
// are equal including everything that they refer to.

// aggregate returns the number of a structure, union or enumeration. Its members are read later.
func (v *Reader) aggregate(u *units.Unit, die *dwarf.DIE, key dieKey) vars.TypeID {
	if sig := die.Value(dw.AtSignature); sig.Kind == dwarf.RefSig {
		if id := v.typeAt(u, sig); id != 0 {
			return id
		}
	}
	t := vars.Type{Kind: typeKinds[die.Tag], Name: v.typeName(u, die, key)}
	t.Size, t.HasSize = size(die)
	t.Incomplete = die.Flag(dw.AtDeclaration)
	if t.Incomplete {
		id, _, _ := v.addStructure(t, nil)
		return id
	}
	line := die.Value(dw.AtDeclLine)
	k := binary.AppendUvarint(v.typeKey[:0], line.U)
	k = append(k, v.fileOf(u, die)...)
	if t.Name == "" || line.Kind == dwarf.None || strings.Contains(t.Name, "<lambda") {
		k = v.shape(u, die, k)
	}
	v.typeKey = k
	id, hash, isNew := v.addStructure(t, k)
	if v.FullTypes {
		v.meet(structure{key: key, id: id, hash: hash}, isNew)
	}
	return id
}

// meet records a structure. Its members will be read unless only variables without a value lead to it.
func (v *Reader) meet(s structure, isNew bool) {
	if isNew {
		if n := int(s.id) + 1; n > len(v.places) {
			v.places = append(v.places, make([]uint32, n-len(v.places))...)
		}
		v.structs = append(v.structs, s)
		v.places[s.id] = uint32(len(v.structs))
	}
	known := &v.structs[v.places[s.id]-1]
	switch {
	case v.nameOnly:
	case !known.wanted:
		known.wanted, known.key = true, s.key
		v.unread = append(v.unread, s)
	case s.key.compare(known.key) < 0:
		known.key = s.key // the order in which a worker reads units depends on the other workers
	}
}

func (v *Reader) addStructure(t vars.Type, key []byte) (vars.TypeID, varjoin.TypeHash, bool) {
	id, hash, isNew := v.AddStructure(t, key)
	if isNew {
		v.Meter.Spend(typeCost)
	}
	return id, hash, isNew
}

// fileOf returns the path of the file that declares a DIE, or "" if unknown. For a DIE of a unit whose files are not
// known, it returns a placeholder with the file's number.
func (v *Reader) fileOf(u *units.Unit, die *dwarf.DIE) string {
	file := die.Value(dw.AtDeclFile)
	if file.Kind != dwarf.Const {
		return ""
	}
	if u.D != v.main.D || u.Off != v.main.Off || v.skeleton != nil {
		return fmt.Sprintf("\x00%d", file.U) // in another unit, whose files are unknown: use the number
	}
	return v.host.Path(file.U)
}

// shape appends the names and offsets of the members and the names of their types, in which types with the same name
// and place may differ.
func (v *Reader) shape(u *units.Unit, die *dwarf.DIE, k []byte) []byte {
	v.children(u, die, func(c *dwarf.DIE) {
		switch c.Tag {
		case dw.TagMember, dw.TagInheritance, dw.TagEnumerator, dw.TagVariantPart:
		default:
			return
		}
		name, _ := u.Text(c.Value(dw.AtName))
		k = append(append(k, byte(c.Tag)), name...)
		k = binary.AppendUvarint(k, c.Value(dw.AtDataMemberLocation).U)
		k = binary.AppendUvarint(k, c.Value(dw.AtConstValue).U)
		ref := c.Value(dw.AtType)
		for range 4 { // follow pointers
			tu, t, ok := v.dieAt(u, ref)
			if !ok {
				break
			}
			name, _ := tu.Text(t.Value(dw.AtName))
			n, _ := size(t)
			k = append(append(binary.AppendUvarint(append(k, byte(t.Tag)), n), name...), 0)
			if ref = t.Value(dw.AtType); tu != u || len(name) > 0 {
				break
			}
		}
	})
	v.Meter.Spend(uint64(len(k)))
	return k
}

// structure is a structure that the reader met.
type structure struct {
	key    dieKey // where its members are read: the first of its DIEs that is wanted
	id     vars.TypeID
	hash   varjoin.TypeHash
	wanted bool // something that may have a value leads to it
	read   bool // its members have been read
}

// readMembers reads the members of all structures met so far, and of the structures that they lead to.
func (v *Reader) readMembers() {
	for len(v.unread) > 0 && !v.Meter.Exhausted {
		next := v.unread[len(v.unread)-1]
		v.unread = v.unread[:len(v.unread)-1]
		v.release(0)
		v.structs[v.places[next.id]-1].read = true
		u, die, ok := v.dieIn(next.key.d, next.key.off)
		if !ok {
			continue
		}
		t := *v.Type(next.id)
		if t.Kind == vars.Enum {
			v.enumerators(u, die, &t)
		} else {
			var parts []vars.VariantPart
			if t.Members, parts = v.members(u, die); len(parts) > 0 {
				t.AddParts().Variants = parts
			}
		}
		*v.Type(next.id) = t
	}
	v.unread = v.unread[:0]
}

// File is debug information that readers have read. Use calls fn with it, reopening the file if it was closed.
type File struct {
	Tag uint64 // the Data's Tag
	Use func(fn func(d *units.Data))
}

// ReadTypes reads the members of the structures that readers want, and of those that they lead to, each from the first
// unit that has it. Then it reads the structures that are only declared there. files must be in the order of their
// tags.
func (v *Reader) ReadTypes(ctx context.Context, files []File, readers []*Reader) {
	var all []wantedType
	rust := false
	for _, o := range readers {
		rust = rust || o.rust
		for _, s := range o.structs {
			if !s.read {
				o.Later(s.hash, s.id)
			}
			if s.wanted && !s.read {
				all = append(all, wantedType{s, o.Records})
			}
		}
		o.Finish()
	}
	slices.SortFunc(all, func(a, b wantedType) int { return a.key.compare(b.key) })
	for i, f := range files {
		n := len(all)
		if i+1 < len(files) {
			n = slices.IndexFunc(all, func(t wantedType) bool { return t.key.d.Tag > f.Tag })
			if n < 0 {
				n = len(all)
			}
		}
		if want := v.missing(all[:n]); len(want) > 0 && ctx.Err() == nil {
			f.Use(func(d *units.Data) { v.typesIn(ctx, d, want) })
		}
		all = all[n:]
	}
	if rust {
		v.define(ctx, files, readers)
	}
	v.Finish()
}

// typesIn reads the structures of a file.
func (v *Reader) typesIn(ctx context.Context, d *units.Data, all []wantedType) {
	for i := range all {
		all[i].key.d = d.Again(all[i].key.d)
	}
	for i := 0; i < len(all) && !v.Meter.Exhausted && ctx.Err() == nil; {
		if all[i].key.d == nil {
			i++
			continue
		}
		_, h, ok := all[i].key.d.UnitAt(all[i].key.off)
		k := i + 1
		for k < len(all) && ok && all[k].key.d == all[i].key.d && all[k].key.off < h.Off+h.Size {
			k++
		}
		if ok && v.typesOf(all[i].key.d, h, all[i:k]) {
			all[i].key.d.Passed(int64(h.Size), nil) // strings are touched again
		}
		i = k
	}
}

// missing returns the types in want that are not known yet.
func (v *Reader) missing(want []wantedType) []wantedType {
	return slices.DeleteFunc(want, func(t wantedType) bool {
		id, known := v.Find(t.hash)
		if known {
			v.found(&t, id)
		}
		return known
	})
}

// wantedType is a structure that a reader met, with that reader's Records.
type wantedType struct {
	structure
	of *varjoin.Records
}

// found records that v has a structure. It keeps only one copy of the name, as names of templates are long.
func (v *Reader) found(t *wantedType, id vars.TypeID) {
	v.SetFound(t.hash, id)
	if name := v.Type(id).Name; name == t.of.Type(t.id).Name {
		t.of.Type(t.id).Name = name
	}
}

// typesOf reads the structures in want from a unit, and the structures that they lead to. It reports whether it had to
// read the unit.
func (v *Reader) typesOf(d *units.Data, h *dwarf.Header, want []wantedType) (read bool) {
	if want = v.missing(want); len(want) == 0 {
		return false // earlier units had all of them
	}
	v.inUnit(d, h, "types of", func(data []byte) {
		if read = v.host.Begin(d, h, data); !read {
			return
		}
		for i := range want {
			t := &want[i]
			if id, known := v.Find(t.hash); known {
				v.found(t, id)
				continue
			}
			v.found(t, v.typeAt(&v.main, dwarf.Value{Kind: dwarf.Ref, U: t.key.off}))
			v.readMembers()
		}
	})
	return read
}

// inUnit opens a unit and calls fn with its data. It is not yet the host's current unit.
func (v *Reader) inUnit(d *units.Data, h *dwarf.Header, what string, fn func(data []byte)) {
	defer func() {
		v.top, v.depth, v.decoding, v.unread = 0, 0, 0, v.unread[:0]
		if p := recover(); p != nil {
			v.host.Problem(h.Off, fmt.Sprintf("%s the unit at %#x", what, h.Off),
				&bin.Error{File: d.File, Section: ".debug_info", Offset: h.Off, Msg: fmt.Sprintf("internal error: %v", p)})
		}
	}()
	v.Reset()
	v.info = slices.Grow(v.info[:0], int(h.Size)) // not what Bytes returns, which may be the section itself
	data, err := d.Info.Bytes(int64(h.Off), int64(h.Size), v.info)
	if err != nil || !v.Meter.Spend(h.Size) {
		return
	}
	all, _, err := v.tables.Get(&d.Sections, h)
	if err == nil && v.main.Open(d, h, data, all, v.Meter) == nil {
		fn(data)
	}
}
