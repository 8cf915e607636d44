package varread

import (
	"iter"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/dwarf2sym/internal/varjoin"
	"github.com/symtool/symtool/internal/dw"
)

// place returns the target for a function that is identified by one of its DIEs.
func (v *Reader) place(key dieKey) varjoin.Target {
	t := varjoin.Target{Off: key.d.Tag | key.off}
	if v.skeleton != nil {
		t.Skeleton = v.skeleton.Off + 1
	}
	return t
}

// addTargets records that the function with DIE d of the current unit starts at entry. Calls refer to that DIE, to
// the DIE that it is an instance or the definition of, or, in other units, to a declaration with its name.
func (v *Reader) addTargets(d *dwarf.DIE, entry uint64) {
	defer v.release(v.top)
	for u, d := range v.chain(&v.main, d) {
		v.AddTarget(v.place(dieKey{u.D, u.Off + uint64(d.Pos)}), entry)
		if t, ok := v.named(u, d); ok {
			v.AddTarget(t, entry)
			return
		}
	}
}

// chain yields d, a DIE of u, the DIE that it is an instance or the definition of, and so on.
func (v *Reader) chain(u *units.Unit, d *dwarf.DIE) iter.Seq2[*units.Unit, *dwarf.DIE] {
	return func(yield func(*units.Unit, *dwarf.DIE) bool) {
		for hops, ok := 0, true; ok && hops < units.MaxChain && yield(u, d); hops++ {
			ref := originOrSpec(d)
			if !ref.IsRef() {
				return
			}
			if hops == units.MaxChain-1 {
				v.badReference(u.D, u.Off+uint64(d.Pos), "references in a circle, or more than %d of them", units.MaxChain)
			}
			u, d, ok = v.dieAt(u, ref)
		}
	}
}

func originOrSpec(d *dwarf.DIE) dwarf.Value {
	if ref := d.Value(dw.AtAbstractOrigin); ref.IsRef() {
		return ref
	}
	return d.Value(dw.AtSpecification)
}

// named returns the target for a function that is identified by its name. It reports false unless the name is
// unique in the module: the name of the linker's symbol, which without DW_AT_linkage_name is the name in the
// source.
func (v *Reader) named(u *units.Unit, d *dwarf.DIE) (t varjoin.Target, ok bool) {
	if !d.Flag(dw.AtExternal) {
		return t, false
	}
	for _, at := range []uint16{dw.AtLinkageName, dw.AtMIPSLinkageName, dw.AtName} {
		if name, ok := u.Text(d.Value(at)); ok && len(name) > 0 {
			return v.Named(name), v.Meter.Spend(uint64(len(name))) // many functions may share a long name
		}
	}
	return t, false
}

// callee returns the function that a call leads to. It is identified by its name if it may be in another unit.
func (v *Reader) callee(origin dwarf.Value) varjoin.Target {
	if !origin.IsRef() {
		return varjoin.Target{}
	}
	d, off, ok := v.placeOf(&v.main, origin)
	if !ok {
		return varjoin.Target{}
	}
	first := dieKey{d, off}
	t, known := v.callees[first]
	if !known {
		t = v.findCallee(first)
		v.callees[first] = t
	}
	return t
}

func (v *Reader) findCallee(first dieKey) varjoin.Target {
	defer v.release(v.top)
	if u, d, ok := v.dieIn(first.d, first.off); ok && v.fitting(first, !isUnit(d.Tag), "a call") {
		for u, d := range v.chain(u, d) {
			if t, ok := v.named(u, d); ok {
				return t
			}
		}
	}
	return v.place(first)
}
