package srcread

import (
	"crypto"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt"
)

// frames returns a frame for each function that was found. Without one there is a frame with the position, if
// that is known.
func (r *Reader) frames(at dwarf.Position, known bool) (frames []symfmt.SourceFrame) {
	for _, pos := range slices.Backward(r.found) {
		var d dwarf.DIE
		if r.main.Head(pos, &d) != nil {
			return frames
		}
		if _, err := r.main.Take(&d); err != nil {
			return frames
		}
		f := symfmt.SourceFrame{Inlined: d.Tag == dw.TagInlinedSubroutine}
		if known {
			r.place(&f, at)
		}
		r.describe(&f, &d)
		frames = append(frames, f)
		at, known = callOf(&d), true
	}
	if len(frames) == 0 && known {
		frames = append(frames, symfmt.SourceFrame{})
		r.place(&frames[0], at)
	}
	return frames
}

// callOf returns where an inlined function is called.
func callOf(d *dwarf.DIE) dwarf.Position {
	number := func(at uint16) uint64 {
		if v := d.Value(at); v.Kind == dwarf.Const {
			return v.U
		}
		return 0
	}
	return dwarf.Position{
		File: number(dw.AtCallFile), Line: uint32(number(dw.AtCallLine)),
		Column: uint32(number(dw.AtCallColumn)), Discriminator: uint32(number(dw.AtGNUDiscriminator)),
	}
}

// place fills in where a frame is in the source.
func (r *Reader) place(f *symfmt.SourceFrame, at dwarf.Position) {
	f.File = fileOf(&r.table, r.lineUnit(), at.File)
	f.Line, f.Column, f.Discriminator = at.Line, at.Column, at.Discriminator
}

func fileOf(t *dwarf.LineTable, u *dwarf.Unit, file uint64) (f symfmt.SourceFile) {
	if path, ok := t.Path(u, file); ok {
		f.Path, f.Relative = path, t.RelativePath(u, file)
		f.Contents.Size = t.FileSize(file)
		if sum := t.MD5(file); sum != "" {
			f.Contents.Hash, f.Contents.Sum = crypto.MD5, sum
		}
	}
	return f
}

// describe fills in what a function's DIE has, or the DIEs that it refers to.
func (r *Reader) describe(f *symfmt.SourceFrame, d *dwarf.DIE) {
	start, _ := r.code(d)
	f.HasStart = d.Has(dw.AtLowPC)
	f.Start = symfmt.RVA(start)
	u, haveFile, haveLine := &r.main, false, false
	for range units.MaxChain {
		if f.Linkage == "" {
			if f.Linkage = u.Str(d.Value(dw.AtLinkageName)); f.Linkage == "" {
				f.Linkage = u.Str(d.Value(dw.AtMIPSLinkageName))
			}
		}
		if f.Name == "" {
			f.Name = u.Str(d.Value(dw.AtName))
		}
		if v := d.Value(dw.AtDeclFile); !haveFile && v.Kind == dwarf.Const {
			f.StartFile, haveFile = r.declared(u, v.U), true
		}
		if v := d.Value(dw.AtDeclLine); !haveLine && v.Kind == dwarf.Const {
			f.StartLine, haveLine = uint32(v.U), true
		}
		next := d.Value(dw.AtAbstractOrigin)
		if !next.IsRef() {
			next = d.Value(dw.AtSpecification)
		}
		if u, d = r.dieAt(u, next); d == nil {
			return
		}
	}
}

// dieAt reads the DIE that u refers to; it returns nil if there is none.
func (r *Reader) dieAt(u *units.Unit, ref dwarf.Value) (*units.Unit, *dwarf.DIE) {
	if !ref.IsRef() {
		return nil, nil
	}
	d, off, ok := r.opener.Locate(u, ref)
	if !ok {
		return nil, nil
	}
	if u = r.opener.Unit(d, off); u == nil {
		return nil, nil
	}
	die := &dwarf.DIE{}
	if u.Head(int(off-u.Off), die) != nil || die.Tag == 0 {
		return nil, nil
	}
	if _, err := u.Take(die); err != nil {
		return nil, nil
	}
	return u, die
}

// declared returns a file of the line table of u.
func (r *Reader) declared(u *units.Unit, file uint64) symfmt.SourceFile {
	if u == &r.main {
		return fileOf(&r.table, r.lineUnit(), file)
	}
	if r.elsewhere != &u.Unit {
		r.elsewhere = &u.Unit
		r.other.Clear()
		if u.StmtList.Kind == dwarf.SecOff || u.StmtList.Kind == dwarf.Const {
			// Damage costs the name of a file that is rarely printed.
			_ = r.other.ReadFiles(&u.Unit, r.lines)
		}
	}
	return fileOf(&r.other, &u.Unit, file)
}
