package symfmt

import (
	"fmt"
	"maps"
	"slices"
)

// references checks the numbers with which records refer to a FILE or INLINE_ORIGIN.
type references struct {
	declared idIndex
	last     uint32 // last number found: runs of records use the same file
	any      bool
	pending  map[uint32]pendingUse // uses before the declaration
}

// pendingUse is the first use of a number that is not yet declared. There may be one for every record, so its
// message is made only when it is reported.
type pendingUse struct {
	line, col int
	records   uint32 // number of uses
	kind      Kind
}

// known reports whether id has been declared.
func (u *references) known(id uint32) bool {
	if u.any && id == u.last {
		return true
	}
	if _, ok := u.declared.find(id); !ok {
		return false
	}
	u.last, u.any = id, true
	return true
}

// note records the use of an id that is not yet declared.
func (u *references) note(rec *Record, field int, id uint32) {
	use, ok := u.pending[id]
	if !ok {
		at := rec.FieldPos(field)
		use = pendingUse{line: at.Line, col: at.Col, kind: rec.Kind}
		if u.pending == nil {
			u.pending = make(map[uint32]pendingUse)
		}
	}
	use.records++
	u.pending[id] = use
}

// report reports undeclared numbers of files or origins, each once. If later is true, a declaration
// after the use suffices.
func (u *references) report(rd *Reader, what string, later bool) error {
	ids := slices.SortedFunc(maps.Keys(u.pending), func(a, b uint32) int {
		x, y := u.pending[a], u.pending[b]
		return comparePos(Pos{x.line, x.col}, Pos{y.line, y.col})
	})
	for _, id := range ids {
		use := u.pending[id]
		_, declared := u.declared.find(id)
		if declared && later {
			continue
		}
		if rd.quiet() {
			rd.report.Dropped++
			continue
		}
		err := &SyntaxError{File: rd.opts.File, Line: use.line, Col: use.col, Record: use.kind.String(), Msg: fmt.Sprintf("%s %d is not declared", what, id)}
		lost := "its name, for " + count(int(use.records), "record")
		if declared {
			err.Msg += " before its use"
			lost = ""
		}
		if err := rd.problem(err, lost); err != nil {
			return err
		}
	}
	return nil
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// inlineForms finds out whether a file uses the old form of INLINE, without a
// call file. Only then do its INLINE_ORIGINs have a file number before the
// name: their own text is ambiguous, as a name may begin with a number.
type inlineForms struct {
	old, new bool
	maybeOld []oldOriginAt
	notOld   *SyntaxError // first origin without a number before its name
}

// oldOriginAt is an INLINE_ORIGIN that can be read in the old form.
type oldOriginAt struct {
	origin uint32 // index in Module.Origins
	col    uint32 // of the file number
	line   int
}

// origin notes an INLINE_ORIGIN, which will be number i in the module.
func (x *inlineForms) origin(rec *Record, i int) {
	if x.new || len(rec.Name) == 0 {
		return
	}
	if _, _, ok := rec.OldOrigin(); ok {
		p := rec.FieldPos(2)
		x.maybeOld = append(x.maybeOld, oldOriginAt{uint32(i), uint32(p.Col), p.Line})
		return
	}
	if x.notOld == nil {
		x.notOld = rec.errorf(2, "no file number before the name, which the old form of INLINE records requires")
	}
}

// inline notes the form of an INLINE.
func (x *inlineForms) inline(b *builder, rec *Record) error {
	mixed := x.old && x.new
	x.old = x.old || rec.OldForm
	x.new = x.new || !rec.OldForm
	if mixed || !(x.old && x.new) {
		return nil
	}
	form := "new form (with a call file) after records of the old form"
	if rec.OldForm {
		form = "old form (without a call file) after records of the new form"
	}
	return b.bad(rec, 0, "", "%s", form)
}

// resolve splits the origins of a file in the old form.
func (x *inlineForms) resolve(b *builder) error {
	if !x.old || x.new {
		return nil
	}
	if x.notOld != nil {
		if err := b.rd.problem(x.notOld, ""); err != nil {
			return err
		}
	}
	for _, at := range x.maybeOld {
		if err := x.resolveOne(b, at); err != nil {
			return err
		}
	}
	return nil
}

func (x *inlineForms) resolveOne(b *builder, at oldOriginAt) error {
	o := &b.m.Origins[at.origin]
	file, name, _ := oldOrigin(o.Name)
	o.HasFile, o.File, o.Name = true, file, name
	bad := SyntaxError{File: b.rd.opts.File, Line: at.line, Col: int(at.col), Record: KindInlineOrigin.String()}
	if name == "" {
		bad.Msg = "name is empty"
		if err := b.rd.problem(&bad, ""); err != nil {
			return err
		}
	}
	if file < 0 {
		return nil
	}
	if _, ok := b.files.declared.find(uint32(file)); !ok {
		undeclared := bad
		undeclared.Msg = fmt.Sprintf("file %d is not declared", file)
		return b.rd.problem(&undeclared, "")
	}
	return nil
}
