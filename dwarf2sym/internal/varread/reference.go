package varread

import (
	"fmt"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt/vars"
)

// A reference that leads nowhere costs what it is for: a type is void, a variable is not the instance of another. Each
// place that is wrongly referred to is reported once for a unit.

// placeOf returns the place of the DIE that u refers to, as Opener.Locate, and reports a signature that no type has.
func (v *Reader) placeOf(u *units.Unit, ref dwarf.Value) (*units.Data, uint64, bool) {
	d, off, ok := v.opener.Locate(u, ref)
	if !ok && ref.Kind == dwarf.RefSig && v.newlyBad(dieKey{u.D, ref.U}) {
		v.host.Problem(u.Off, fmt.Sprintf("the type with the signature %#x", ref.U),
			&bin.Error{File: u.D.File, Section: ".debug_info", Offset: u.Off, Msg: fmt.Sprintf("no type unit has the signature %#x", ref.U)})
	}
	return d, off, ok
}

// badReference reports a place in d to which DIEs should not refer.
func (v *Reader) badReference(d *units.Data, off uint64, format string, args ...any) {
	if d == nil || !v.newlyBad(dieKey{d, off}) {
		return
	}
	v.host.Problem(off, fmt.Sprintf("what refers to the DIE at %#x", off),
		&bin.Error{File: d.File, Section: ".debug_info", Offset: off, Msg: fmt.Sprintf(format, args...)})
}

// newlyBad reports whether a place was not reported for the unit. If the budget is spent, that is the reason.
func (v *Reader) newlyBad(key dieKey) bool {
	if v.Meter.Exhausted || v.bad[key] {
		return false
	}
	if v.bad == nil {
		v.bad = make(map[dieKey]bool)
	}
	v.bad[key] = true
	return true
}

// fitting returns fits: whether the DIE at key may be what others, called what, refer to. It is reported if not.
func (v *Reader) fitting(key dieKey, fits bool, what string) bool {
	if !fits {
		v.badReference(key.d, key.off, "this DIE is of a kind to which %s cannot refer", what)
	}
	return fits
}

// isUnit reports whether a tag is that of a unit, which nothing is an instance of.
func isUnit(tag uint16) bool {
	switch tag {
	case dw.TagCompileUnit, dw.TagPartialUnit, dw.TagTypeUnit, dw.TagSkeletonUnit:
		return true
	}
	return false
}

// noType reports whether DIEs with a tag are never types. Tags of vendors may be.
func noType(tag uint16) bool {
	switch tag {
	case dw.TagNamespace,
		dw.TagInlinedSubroutine, dw.TagLexicalBlock, dw.TagTryBlock, dw.TagCatchBlock, dw.TagWithStmt,
		dw.TagFormalParameter, dw.TagVariable, dw.TagMember, dw.TagInheritance, dw.TagEnumerator, dw.TagUnspecifiedParams,
		dw.TagCallSite, dw.TagCallSiteParameter, dw.TagGNUCallSite, dw.TagGNUCallSiteParam:
		return true
	}
	return isUnit(tag)
}

// checkCircle reports another name for a type that is this type itself. A pointer to itself is a type of Go.
func (v *Reader) checkCircle(key dieKey, id vars.TypeID) {
	if id == 0 {
		return
	}
	switch t := v.Type(id); t.Kind {
	case vars.Typedef, vars.Const, vars.Volatile, vars.Restrict, vars.Atomic:
		if t.Elem == id {
			v.badReference(key.d, key.off, "a type that is defined as itself")
		}
	}
}
