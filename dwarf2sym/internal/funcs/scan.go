package funcs

import (
	"bytes"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/dw"
)

// scanFrame is an entry whose children are being read, and what they belong to.
type scanFrame struct {
	fn    int32 // index of the open function, or -1
	inl   int32 // index of the enclosing inlined subroutine in it, or -1
	scope int32 // innermost scope, or -1
	outer int32 // position in the unit of the enclosing function, up to the innermost scope; 0 if there is none
	opens uint8 // what ends with this entry: opensFunc, opensScope
}

// outside is the frame of the children of a unit's own DIE.
var outside = scanFrame{fn: -1, inl: -1, scope: -1}

const (
	opensFunc  = 1 << iota // the function fn
	opensScope             // the scope
)

// scan visits the DIEs of the unit once. Functions are closed at their end;
// those that an error cuts short are closed with what they have.
func (w *Worker) scan() error {
	return w.scanOnly(nil)
}

// scanOnly is like scan, for only the DIEs around positions; nil means all.
func (w *Worker) scanOnly(positions []int) error {
	w.cursor.Reset(&w.u.Unit, w.u.Scoped() && !w.Indexing, w.u.Flat())
	w.cursor.Only(positions)
	if w.namesOnly || positions != nil {
		return w.cursor.Walk(w, outside, false)
	}
	w.starts.Reset(w.u.Len())
	w.cursor.Mark(&w.starts, w.Vars != nil)
	err := w.cursor.Walk(w, outside, false)
	w.u.Starts = &w.starts
	return err
}

// scanFunc visits the function at pos in the unit, and everything below it. It does nothing if the
// last call already got past pos: a function inside another one was read with it.
func (w *Worker) scanFunc(pos int) error {
	if w.cursor.At() > pos {
		return nil
	}
	w.cursor.Seek(pos)
	return w.cursor.Walk(w, outside, true)
}

// Inlines reports whether inlined subroutines directly below an entry are wanted.
func (w *Worker) Inlines(f *scanFrame) bool { return w.wantsInlines(f.fn) }

// Enter handles an entry. f is the enclosing frame, and becomes the frame of its children.
func (w *Worker) Enter(e *dwarf.Entry, f *scanFrame) {
	f.opens = 0
	if w.brief && !e.Children {
		if e.Class != dwarf.ClassScope {
			w.noteLambda(&e.Attrs, f)
		}
		w.bodies = append(w.bodies, body{start: e.Start, end: w.cursor.At(), around: *f})
		return
	}
	switch e.Class {
	case dwarf.ClassInline:
		w.enterInline(&e.Attrs, e.Start, f)
	case dwarf.ClassFunc, dwarf.ClassBare:
		w.lastFunc = w.u.Off + uint64(e.Start)
		w.noteLambda(&e.Attrs, f)
		w.enterFunc(&e.Attrs, e.Start, f)
	case dwarf.ClassScope:
		w.enterScope(e, f)
	}
}

// Leave ends what a DIE opened; end is where its children end.
func (w *Worker) Leave(f *scanFrame, end int) {
	if f.opens&opensFunc != 0 {
		w.closeFunc()
	}
	if f.opens&opensScope != 0 {
		w.leaveScope(int(f.scope), end)
	}
	f.opens = 0
}

// leaveScope ends a scope. Most scopes are types that contain no function. They are dropped, as only names of
// functions need scopes, unless variables are read: then names of types need them, too.
func (w *Worker) leaveScope(i, end int) {
	s := &w.scopes[i]
	s.End = w.u.Off + uint64(end)
	if i == len(w.scopes)-1 && w.lastFunc < s.Start && !w.namesOnly && w.Vars == nil {
		w.scopes = w.scopes[:i]
	}
}

// lambdaName is the name of a lambda's type, in the form that c++filt uses. Names composed from
// scopes have neither parameters nor numbers of lambdas.
const lambdaName = "{lambda}"

// noteLambda names the structure around a member function with attributes a if it is a lambda's:
// GCC gives the structure no name, and calls its constructors and destructor <lambda> and
// ~<lambda>.
func (w *Worker) noteLambda(a *dwarf.Attrs, f *scanFrame) {
	if f.scope < 0 || f.outer != 0 {
		return
	}
	s := &w.scopes[f.scope]
	if s.Tag != dw.TagStructureType || s.Name.Kind != dwarf.None || s.Text != "" {
		return
	}
	if name, ok := w.u.Text(a.Name); ok && string(bytes.TrimPrefix(name, []byte("~"))) == "<lambda>" {
		s.Text = lambdaName
	}
}

// enterScope records a namespace or type whose name is part of the names of functions below it.
func (w *Worker) enterScope(e *dwarf.Entry, f *scanFrame) {
	u := &w.u
	s := units.Scope{Start: u.Off + uint64(e.Start), End: u.Off + u.Size, Parent: f.scope, Outer: f.outer, Name: e.Attrs.Name, Tag: e.Tag}
	s.Next, _ = e.Attrs.Next()
	w.scopes = append(w.scopes, s)
	f.scope, f.outer, f.opens = int32(len(w.scopes)-1), 0, opensScope
}
