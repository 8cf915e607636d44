package symfmt

import (
	"fmt"
	"slices"
)

// references checks the numbers by which records name a FILE or INLINE_ORIGIN.
type references struct {
	declared idIndex
	last     uint32 // found last: runs of records name one file
	any      bool
	pending  map[uint32]*pendingUse // used before they were declared
}

// pendingUse is the first use of a number that was not declared then.
type pendingUse struct {
	err     *SyntaxError
	records int // that name it
}

// known reports whether id is declared by now.
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

// note keeps the use of id, which is not declared yet.
func (u *references) note(rec *Record, field int, id uint32, format string) {
	use := u.pending[id]
	if use == nil {
		use = &pendingUse{err: rec.Errorf(field, format, id)}
		if u.pending == nil {
			u.pending = make(map[uint32]*pendingUse)
		}
		u.pending[id] = use
	}
	use.records++
}

// report reports the uses that were not declared, one for each number. When
// later is true, a declaration behind the use is as good as one before it.
func (u *references) report(rd *Reader, later bool) error {
	var uses []*pendingUse
	for id, use := range u.pending {
		_, declared := u.declared.find(id)
		if declared && later {
			continue
		}
		if declared {
			use.err.Msg += " before its use"
			use.records = 0
		}
		uses = append(uses, use)
	}
	slices.SortFunc(uses, func(a, b *pendingUse) int {
		return comparePos(Pos{a.err.Line, a.err.Col}, Pos{b.err.Line, b.err.Col})
	})
	for _, use := range uses {
		lost := ""
		if use.records > 0 {
			lost = "its name, for " + count(use.records, "record")
		}
		if err := rd.problem(use.err, lost); err != nil {
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

// inlineForms finds out whether a file has the old form of INLINE, without a
// call file. Only then its INLINE_ORIGINs have a file number before the name:
// their own text is ambiguous, for a name may begin with a number.
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

// origin notes an INLINE_ORIGIN, which will be number i of the module.
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
		x.notOld = rec.Errorf(2, "no file number before the name, which the old form of INLINE records asks for")
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
	form := "new form (with a call file) after records of the old"
	if rec.OldForm {
		form = "old form (without a call file) after records of the new"
	}
	return b.bad(rec, 0, "", "%s", form)
}

// resolve splits the origins of an old file.
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
