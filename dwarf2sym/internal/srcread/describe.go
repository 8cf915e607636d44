package srcread

import (
	"crypto"
	"unsafe"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt"
)

// dieKey identifies the DIE at off of d, and fileKey a file of the line table of the unit at off.
type (
	dieKey struct {
		d   *units.Data
		off uint64
	}
	fileKey struct {
		unit   dieKey
		number uint64
	}
)

// describe returns the description of the function with the DIE d of the current unit. Descriptions of the
// DIEs that instances refer to are cached, as many refer to the same one.
func (r *Reader) describe(d *dwarf.DIE) (own description) {
	u := &r.main
	own.add(r, u, d)
	next := reference(d)
	if !next.IsRef() || own.complete() {
		return own
	}
	data, off, ok := r.opener.Locate(u, next)
	if !ok {
		return own
	}
	key := dieKey{data, off}
	rest, known := r.described[key]
	if !known {
		rest = r.chain(next)
		r.described[key] = rest
	}
	own.join(&rest)
	return own
}

// chain returns the description in the DIE that next refers to, completed by the DIEs that this one refers
// to.
func (r *Reader) chain(next dwarf.Value) (out description) {
	u := &r.main
	var d dwarf.DIE
	for range units.MaxChain - 1 {
		var ok bool
		if u, _, ok = r.opener.PeekDIE(u, next, &d); !ok {
			break
		}
		out.add(r, u, &d)
		if next = reference(&d); !next.IsRef() || out.complete() {
			break
		}
	}
	return out
}

// reference returns the reference to the DIE that completes d.
func reference(d *dwarf.DIE) dwarf.Value {
	if next := d.Value(dw.AtAbstractOrigin); next.IsRef() {
		return next
	}
	return d.Value(dw.AtSpecification)
}

// add fills in what is missing from d, a DIE of u.
func (out *description) add(r *Reader, u *units.Unit, d *dwarf.DIE) {
	var own description
	if own.linkage = u.Str(d.Value(dw.AtLinkageName)); own.linkage == "" {
		own.linkage = u.Str(d.Value(dw.AtMIPSLinkageName))
	}
	own.name = u.Str(d.Value(dw.AtName))
	if v := d.Value(dw.AtDeclFile); !out.haveFile && v.Kind == dwarf.Const {
		own.file, own.haveFile = r.declared(u, v.U), true
	}
	if v := d.Value(dw.AtDeclLine); v.Kind == dwarf.Const {
		own.line, own.haveLine = uint32(v.U), true
	}
	out.join(&own)
}

// join fills in what is missing from another description.
func (out *description) join(other *description) {
	if out.linkage == "" {
		out.linkage = other.linkage
	}
	if out.name == "" {
		out.name = other.name
	}
	if !out.haveFile {
		out.file, out.haveFile = other.file, other.haveFile
	}
	if !out.haveLine {
		out.line, out.haveLine = other.line, other.haveLine
	}
}

func (out *description) complete() bool {
	return out.linkage != "" && out.name != "" && out.haveFile && out.haveLine
}

// declared returns the ID of a file of the line table of u.
func (r *Reader) declared(u *units.Unit, number uint64) fileID {
	if u == &r.main {
		return r.file(number)
	}
	key := fileKey{dieKey{u.D, u.Off}, number}
	if id, ok := r.unit.fileIDs[key]; ok {
		return id
	}
	if r.elsewhere != key.unit {
		r.elsewhere = key.unit
		r.other.Clear()
		if u.StmtList.Kind == dwarf.SecOff || u.StmtList.Kind == dwarf.Const {
			// Damage costs only the name of a file, which is rarely printed.
			_ = r.other.ReadFiles(&u.Unit, r.otherLines)
		}
		r.meter.Spend(uint64(r.other.HeaderSize()))
	}
	return r.addFile(key, &r.other, &u.Unit)
}

// file returns the ID of a file of the unit's own line table.
func (r *Reader) file(number uint64) fileID {
	key := fileKey{number: number}
	if id, ok := r.unit.fileIDs[key]; ok {
		return id
	}
	return r.addFile(key, &r.table, r.lineUnit())
}

// addFile appends a file of the line table of u to the index.
func (r *Reader) addFile(key fileKey, t *dwarf.LineTable, u *dwarf.Unit) (id fileID) {
	if path, ok := t.Path(u, key.number); ok {
		f := symfmt.SourceFile{Path: path, Relative: t.RelativePath(u, key.number), InCompDir: t.InCompDir(key.number)}
		f.Contents.Size = t.FileSize(key.number)
		if sum := t.MD5(key.number); sum != "" {
			f.Contents.Hash, f.Contents.Sum = crypto.MD5, sum
		}
		id = fileID(len(r.unit.files))
		r.unit.files = append(r.unit.files, f)
		r.hold(int(unsafe.Sizeof(f)+2*unsafe.Sizeof(key)) + len(f.Path) + len(f.Relative) + len(f.Contents.Sum))
	}
	r.unit.fileIDs[key] = id
	return id
}
