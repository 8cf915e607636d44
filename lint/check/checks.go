package check

import (
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
)

// Func is the form of Rule.Check.
type Func = func(p *Pass) (record func(*symfmt.Record), end func())

// PerRecord returns a check of single records.
func PerRecord(check func(p *Pass, r *symfmt.Record)) Func {
	return func(p *Pass) (func(*symfmt.Record), func()) {
		return func(r *symfmt.Record) { check(p, r) }, nil
	}
}

// AtEnd returns a check that runs once the whole file has been read.
func AtEnd(check func(p *Pass)) Func {
	return func(p *Pass) (func(*symfmt.Record), func()) {
		return nil, func() { check(p) }
	}
}

type sharedLook struct{ look func(p *Pass) }

// SharedAtEnd returns a check for several rules that runs once, at the end, for the first of them
// that is enabled. look assigns each finding to its rule with Pass.As.
func SharedAtEnd(look func(p *Pass)) Func {
	shared := &sharedLook{look}
	return func(p *Pass) (func(*symfmt.Record), func()) {
		if p.looks[shared] {
			return nil, nil
		}
		p.looks[shared] = true
		return nil, func() { shared.look(p) }
	}
}

// Ascending is a check that reports the first record whose address is below the
// previous record's, and how many there are.
func Ascending(p *Pass) (record func(*symfmt.Record), end func()) {
	var last, rva, above symfmt.RVA
	line, n := 0, 0
	var kind symfmt.Kind
	return func(r *symfmt.Record) {
			if r.RVA < last {
				if n++; n == 1 {
					line, rva, above, kind = r.Pos().Line, r.RVA, last, r.Kind
				}
			}
			last = r.RVA
		}, func() {
			if n > 0 {
				p.ReportFirst(line, rva, "%v %x after %x; %s below the one before", kind, rva, above, text.Count(n, "address"))
			}
		}
}
