// Package check defines what lint's rules are made of: a Rule is a value with one function, which
// sees the records of a file through a Pass and reports findings. Package lint runs the rules.
package check

import (
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// Rule is one check of a symbol file.
type Rule struct {
	*finding.Rule
	// With, if non-nil, sets the options for checking Bad and Good.
	With func(*Options)

	// On lists the kinds of records for which Check's first function is called.
	On []symfmt.Kind
	// Faults restricts the line records among them to those with one of these faults; if empty, the
	// function is called for all. Nine in ten records are line records without a fault.
	Faults facts.LineFaults
	// Check begins a run. It returns the functions to call for each record in On and at the end;
	// either may be nil. Check itself is nil for rules that other rules report.
	Check func(p *Pass) (record func(*symfmt.Record), end func())
}

// Beginnings and parts of the rules' examples.
const (
	// Head is the first line of most examples.
	Head = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\n"
	// HeadFunc is Head with a FUNC that has a line.
	HeadFunc = Head + "FUNC 1000 40 0 f\n1000 40 1 0\n"
	// Init is call frame information for the function of HeadFunc.
	Init = "STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	// Inlined is a FUNC with an INLINE and a line, without the FILE and INLINE_ORIGIN that they
	// refer to.
	Inlined = "FUNC 1000 10 0 f\nINLINE 0 5 0 0 1004 4\n1000 10 1 0\n"
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

// SharedAtEnd returns a check that several rules share. It runs once, at the end, for the first of
// them that is enabled. look assigns each finding to its rule with Pass.As.
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

// Ascending is a check that reports the first record whose address is below the previous record's,
// and the number of such records.
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
