package varread

import (
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/dwarf2sym/internal/varjoin"
	"github.com/symtool/symtool/internal/dw"
)

// place returns the target that stands for a function by a DIE of it.
func (v *Reader) place(key dieKey) varjoin.Target {
	t := varjoin.Target{Off: key.d.Tag | key.off}
	if v.skeleton != nil {
		t.Skeleton = v.skeleton.Off + 1
	}
	return t
}

// isTarget records that the function of a DIE of the current unit starts at entry. Calls refer to the DIE, to the
// one that it is an instance or the definition of, or, in other units, to a declaration with its name.
func (v *Reader) isTarget(d *dwarf.DIE, entry uint64) {
	defer v.release(v.top)
	u, off := &v.main, v.main.Off+uint64(d.Pos)
	for hops := 0; hops < units.MaxChain; hops++ {
		v.AddTarget(v.place(dieKey{u.D, off}), entry)
		if t, ok := v.named(u, d); ok {
			v.AddTarget(t, entry)
			return
		}
		ref := originOrSpec(d)
		if !ref.IsRef() {
			return
		}
		od, ooff, ok := v.opener.Locate(u, ref)
		if !ok {
			return
		}
		off = ooff
		if u, d, ok = v.dieIn(od, off); !ok {
			return
		}
	}
}

func originOrSpec(d *dwarf.DIE) dwarf.Value {
	if ref := d.Value(dw.AtAbstractOrigin); ref.IsRef() {
		return ref
	}
	return d.Value(dw.AtSpecification)
}

// named returns the target that stands for a function by its name, if it has one of the whole module: that of the
// linker's symbol, which without DW_AT_linkage_name is the one in the source.
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

// callee returns the function that a call leads to, by its name if other units may have it.
func (v *Reader) callee(origin dwarf.Value) varjoin.Target {
	if !origin.IsRef() {
		return varjoin.Target{}
	}
	d, off, ok := v.opener.Locate(&v.main, origin)
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
	u, d, ok := v.dieIn(first.d, first.off)
	for hops := 0; ok && hops < units.MaxChain; hops++ {
		if t, ok := v.named(u, d); ok {
			return t
		}
		ref := originOrSpec(d)
		if !ref.IsRef() {
			break
		}
		u, d, ok = v.dieAt(u, ref)
	}
	return v.place(first)
}
