package variables

import (
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

// reader collects the records of variables, and counts the INLINEs of each FUNC.
type reader struct {
	p       *check.Pass
	watched bool

	parser  vars.Parser
	started bool
	passed  int // number of records that readers skip
	first   int // line of the first of these records

	inlines facts.Table[uint32] // number of INLINEs of each FUNC, in file order
}

// watch is the check of all rules of the family. The first rule that is enabled checks for all.
func watch(p *check.Pass) (record func(*symfmt.Record), end func()) {
	r := check.State[reader](p)
	if r.watched {
		return nil, nil
	}
	r.p, r.watched = p, true
	return r.see, r.end
}

func (r *reader) see(rec *symfmt.Record) {
	switch rec.Kind {
	case symfmt.KindFunc:
		r.inlines.Add(0)
	case symfmt.KindInline:
		if n := r.inlines.Len(); n > 0 && rec.Owner == symfmt.OwnerRead {
			*r.inlines.At(n - 1)++
		}
	case symfmt.KindInfo:
		if facts.IsVariable(rec) {
			r.variables(rec)
		}
	}
}

// variables reads a record of variables.
func (r *reader) variables(rec *symfmt.Record) {
	r.started = r.started || vars.IsStart(rec.Name)
	if !r.parser.Knows(rec.Name) {
		if r.passed++; r.passed == 1 {
			r.first = rec.Pos().Line
		}
		return
	}
	if bad := r.parser.Add(rec.Name, rec.Pos().Line); bad != nil {
		r.bad(bad)
	}
}

// bad reports a record that cannot be used.
func (r *reader) bad(e *vars.BadRecord) {
	rule := badRecord
	switch e.Kind {
	case vars.Undeclared:
		rule = undeclared
	case vars.Overlapping:
		rule = twice
	}
	pos := symfmt.Pos{Line: e.Line}
	if e.Off > 0 {
		pos.Col = len(vars.Prefix) + e.Off + 1
	}
	r.p.As(rule, func() { r.p.ReportPos(pos, "%s", e.Msg) })
}

// end checks the records once the file has been read.
func (r *reader) end() {
	if r.passed > 0 {
		r.p.As(unknown, func() {
			r.p.ReportLine(r.first, "unknown version or word; %s of this kind", text.Count(r.passed, "record"))
		})
	}
	if !r.started {
		return
	}
	info, _ := r.parser.Finish(func(e *vars.BadRecord) error {
		r.bad(e)
		return nil
	})
	c := newChecker(r, info)
	c.functions()
	c.expressions()
	c.types()
}
