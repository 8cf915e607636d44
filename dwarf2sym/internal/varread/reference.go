package varread

import (
	"fmt"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt/vars"
)

// A bad reference costs only what it is for: a type becomes void, or a variable is not treated as an instance. Each
// bad target is reported once per unit.

// placeOf returns the place of the DIE that u refers to, like Opener.Locate. It reports signatures that no type unit
// has.
func (v *Reader) placeOf(u *units.Unit, ref dwarf.Value) (*units.Data, uint64, bool) {
	d, off, ok := v.opener.Locate(u, ref)
	if !ok && ref.Kind == dwarf.RefSig && v.newlyBad(dieKey{u.D, ref.U}) {
		v.host.Problem(u.Off, fmt.Sprintf("the type with the signature %#x", ref.U),
			&bin.Error{File: u.D.File, Section: ".debug_info", Offset: u.Off, Msg: fmt.Sprintf("no type unit has the signature %#x", ref.U)})
	}
	return d, off, ok
}

// badReference reports an offset of d that DIEs should not refer to.
func (v *Reader) badReference(d *units.Data, off uint64, format string, args ...any) {
	if d == nil || !v.newlyBad(dieKey{d, off}) {
		return
	}
	v.host.Problem(off, fmt.Sprintf("what refers to the DIE at %#x", off),
		&bin.Error{File: d.File, Section: ".debug_info", Offset: off, Msg: fmt.Sprintf(format, args...)})
}

// newlyBad reports whether a bad target is to be reported: it has not been reported for the unit, and the budget,
// whose exhaustion may be the cause, is not exhausted.
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

// fitting returns fits, which says whether a reference from something called what may lead to the DIE at key. If not,
// it reports the reference.
func (v *Reader) fitting(key dieKey, fits bool, what string) bool {
	if !fits {
		v.badReference(key.d, key.off, "this DIE is of a kind to which %s cannot refer", what)
	}
	return fits
}

// isUnit reports whether tag is that of a unit. Nothing is an instance of a unit.
func isUnit(tag uint16) bool {
	switch tag {
	case dw.TagCompileUnit, dw.TagPartialUnit, dw.TagTypeUnit, dw.TagSkeletonUnit:
		return true
	}
	return false
}

// noType reports whether DIEs with this tag are never types. Vendors' tags may be types.
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

// checkCircle reports a typedef or qualified type that refers to itself. A pointer to itself is a valid Go type.
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
