package varjoin

import "github.com/symtool/symtool/symfmt/vars"

// Undefined returns the names of the structures that no reader met a definition of, although variables with values,
// or members of other structures, contain them rather than point to them.
func Undefined(readers []*Records) map[string]bool {
	u := undefined{names: map[string]bool{}}
	for _, r := range readers {
		u.seen = make([]bool, r.types.len())
		for i := range r.variables {
			if r.located[i] {
				u.value(r, r.variables[i].typ)
			}
		}
		for i := range r.types.len() {
			u.members(r, r.types.at(vars.TypeID(i)))
		}
	}
	if len(u.names) == 0 {
		return nil
	}
	for _, r := range readers {
		for i := range r.types.len() {
			if t := r.types.at(vars.TypeID(i)); isAggregate(t) && !t.Incomplete {
				delete(u.names, t.Name)
			}
		}
	}
	return u.names
}

type undefined struct {
	names map[string]bool
	seen  []bool // by type of the Records
}

// members notes the types of all members of t.
func (u *undefined) members(r *Records, t *vars.Type) {
	for _, m := range t.Members {
		u.value(r, m.Type)
	}
	if t.Parts == nil {
		return
	}
	for i := range t.Parts.Variants {
		for _, variant := range t.Parts.Variants[i].Variants {
			for _, m := range variant.Members {
				u.value(r, m.Type)
			}
		}
	}
}

// value notes a type that something has a value of.
func (u *undefined) value(r *Records, id vars.TypeID) {
	for !u.seen[id] {
		u.seen[id] = true
		t := r.types.at(id)
		switch t.Kind {
		case vars.Typedef, vars.Const, vars.Volatile, vars.Restrict, vars.Atomic, vars.Array:
			id = t.Elem
			continue
		}
		if isAggregate(t) && t.Incomplete && t.Name != "" {
			u.names[t.Name] = true
		}
		return
	}
}
