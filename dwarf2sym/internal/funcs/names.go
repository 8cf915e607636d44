package funcs

import (
	"bytes"
	"fmt"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/names"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
)

// NoName stands for a function that the debug information does not name. Other dumpers use the same words,
// so that users find it with the same search.
const NoName = "<name omitted>"

// foundName is what a chain of DIEs says about a function's name.
type foundName struct {
	linkage []byte
	plain   []byte
	die     uint64      // the last DIE of the chain: its scopes are the function's
	u       *units.Unit // the unit of that DIE
	flat    bool        // the unit's language has no scopes
}

// nameOf returns the name of the DIE at off with attributes a: its linkage name, or else its plain name with
// its scopes. In C the plain name takes precedence, as a linkage name there is an asm label (__GI_abort for
// abort).
func (w *Worker) nameOf(u *units.Unit, off uint64, a *dwarf.NameAttrs) (names.ID, Naming) {
	if id, ok := w.placedName(u, a); ok {
		return id, Named
	}
	found := w.chase(u, off, a)
	switch {
	case len(found.linkage) > 0:
		return w.Names.Intern(found.linkage), Named
	case len(found.plain) == 0:
		return 0, Nameless
	case found.flat || !found.u.Scoped():
		return w.Names.Intern(found.plain), Named
	}
	plain := found.plain
	w.plainBuf = nil // looking up the names of scopes follows chains, too
	w.nameBuf = append(w.appendScopes(w.nameBuf[:0], found.u, found.die), plain...)
	w.plainBuf = plain
	return w.Names.Intern(w.nameBuf), Scoped
}

// placedName is like nameOf, for names that need no scopes and are in .debug_str, as nearly all are. It
// examines the bytes of each name only once.
func (w *Worker) placedName(u *units.Unit, a *dwarf.NameAttrs) (names.ID, bool) {
	if d, off, ok := w.namePlace(u, a); ok {
		return w.Names.At(d, off)
	}
	return 0, false
}

// namePlace returns the offset of such a name in .debug_str, with its Data. It reports false for other
// names.
func (w *Worker) namePlace(u *units.Unit, a *dwarf.NameAttrs) (*units.Data, uint64, bool) {
	attrs := *a
	flat := false
	for range units.MaxChain {
		first := attrs.Linkage
		if flat = u.FlatBehind(flat); flat {
			first = attrs.Name
		}
		switch first.Kind {
		case dwarf.Strp:
			return u.D, first.U, true
		case dwarf.StrpSup:
			return u.D.Sup, first.U, u.D.Sup != nil
		case dwarf.Strx:
			off, ok := u.StrOffset(first.U)
			return u.D, off, ok
		}
		next, ok := attrs.Next()
		if !ok || first.Kind != dwarf.None {
			return nil, 0, false
		}
		var off uint64
		if u, off, ok = w.opener.PeekFunc(u, next, &attrs); !ok {
			return nil, 0, false
		}
		w.follow(u, off)
	}
	return nil, 0, false
}

// chase follows DW_AT_abstract_origin and DW_AT_specification until it finds a linkage name.
func (w *Worker) chase(u *units.Unit, off uint64, a *dwarf.NameAttrs) (found foundName) {
	attrs := *a
	for range units.MaxChain {
		found.die, found.u, found.flat = off, u, u.FlatBehind(found.flat)
		w.checkNames(u, off, &attrs)
		if name, ok := u.Text(attrs.Linkage); ok && len(name) > 0 {
			w.Spend(uint64(len(name)))
			if found.linkage = name; !found.flat {
				return found
			}
			found.linkage = bytes.Clone(name) // cloned for the same reason as below
		}
		if len(found.plain) == 0 {
			// Copied, as the next peek may reuse the bytes.
			name, _ := u.Text(attrs.Name)
			w.Spend(uint64(len(name)))
			w.plainBuf = append(w.plainBuf[:0], name...)
			found.plain = w.plainBuf[:len(name):len(name)]
		}
		if len(found.plain) > 0 && found.flat {
			found.linkage = nil
			return found
		}
		next, ok := attrs.Next()
		if !ok {
			return found
		}
		from := u
		if u, off, ok = w.opener.PeekFunc(u, next, &attrs); !ok {
			w.noDIE(from, found.die, next)
			return found
		}
	}
	w.badName(u, off, u.Errorf(int(off-u.Off), "references in a circle, or more than %d of them", units.MaxChain))
	return found
}

// checkNames reports attributes of the DIE at off of u that should hold or lead to its name but do not.
func (w *Worker) checkNames(u *units.Unit, off uint64, a *dwarf.NameAttrs) {
	pos := int(off - u.Off)
	for _, v := range a.Values() {
		switch {
		case v.Kind == dwarf.Unfit:
			w.badName(u, off, u.MisfitError(pos, v.Misfit()))
		case v.Kind == dwarf.None || v.IsRef() || v.Kind == dwarf.StrpSup && u.D.Sup == nil: // the missing file was reported
		default:
			if _, ok := u.Text(v); !ok {
				w.badName(u, off, u.TextError(pos, v))
			}
		}
	}
}

// noDIE reports that the DIE at off of u, whose name is looked up, refers to something that is not a DIE.
func (w *Worker) noDIE(u *units.Unit, off uint64, ref dwarf.Value) {
	_, to, ok := w.opener.Locate(u, ref)
	switch {
	case w.Exhausted || ref.Kind == dwarf.RefSup && u.D.Sup == nil:
		return // reported for the file
	case ref.Kind == dwarf.RefSig:
		w.badName(u, off, u.Errorf(int(off-u.Off), "no type unit has the signature %#x", ref.U))
	case ok:
		w.badName(u, off, u.Errorf(int(off-u.Off), "reference to %#x, where no DIE of a function can be read", to))
	}
}

func (w *Worker) badName(u *units.Unit, off uint64, err error) {
	if u.D == w.u.D || u.D == w.d.Sup {
		w.problem(off, fmt.Sprintf("name of the function at %#x", off), err)
	}
}
