package check

import (
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
)

// Func is the form of Rule.Check.
type Func = func(p *Pass) (record func(*symfmt.Record), end func())

// PerRecord makes a check of records one by one.
func PerRecord(check func(p *Pass, r *symfmt.Record)) Func {
	return func(p *Pass) (func(*symfmt.Record), func()) {
		return func(r *symfmt.Record) { check(p, r) }, nil
	}
}

// AtEnd makes a check that runs when the whole file was read.
func AtEnd(check func(p *Pass)) Func {
	return func(p *Pass) (func(*symfmt.Record), func()) {
		return nil, func() { check(p) }
	}
}

type sharedLook struct{ look func(p *Pass) }

// SharedAtEnd makes a check for several rules, which is run once: at the end, for the first of them
// that is checked. look assigns each finding to its rule by Pass.As.
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

// Ascending makes a check that reports the first record whose address is below that of the one
// before, and how many there are.
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
