package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/lint/facts"
	"github.com/symtool/symtool/symfmt"
)

// Options configures a check. The zero value checks all rules.
type Options struct {
	File string // name for messages
	// Rules are those that are checked; nil for all.
	Rules []*Rule
	// MaxPerRule is how many findings of a rule are kept; the others are counted.
	// 0 is DefaultMaxPerRule.
	MaxPerRule int
	// MinCFI and MinLines are the shares of functions' bytes, in percent, that must
	// have call frame information and lines; 0 for no limit.
	MinCFI, MinLines float64
	// Binary is the file that the symbols are of; nil for none.
	Binary *object.File
	// OwnBinary says that the symbols were made of Binary, whatever their id is.
	OwnBinary bool
	// Filter changes severities and takes findings away; nil for none. One filter
	// is for all files that are checked together.
	Filter *Filter
	// StorePath is the path at which the file is found in a symbol store,
	// NAME/ID/NAME.sym; if it is empty, File, when that has this form.
	StorePath string
	// Stored reports whether the store that the file is in also has its module's symbols under
	// another name; nil without a store.
	Stored func(name string) bool
}

// DefaultMaxPerRule is the default of Options.MaxPerRule. One mistake of a writer gives a finding
// for each of a million records.
const DefaultMaxPerRule = 100

// Pass is a check of one file.
type Pass struct {
	*facts.Facts
	Options Options

	report      *Report
	rule        *Rule // whose function runs
	filter      *fileFilter
	names       nameCache
	empty       int        // records that the reader and SYM601 complain of
	binary      *elfBinary // nil without Options.Binary
	otherBinary bool       // SYM501 says that the binary is not the file's
	unreadable  bool       // the file has another encoding: nothing is known of it
	owners      owners

	blocksCompared, winsCompared bool // their clashes were reported
}

// listener is a rule's function for records.
type listener struct {
	rule   *Rule
	record func(*symfmt.Record)
}

// listeners are the functions for records, by kind.
type listeners struct {
	kinds  [symfmt.KindCFI + 1][]listener
	faults []listener // for line records with a fault
}

func (ls *listeners) add(rule *Rule, record func(*symfmt.Record)) {
	if record == nil {
		return
	}
	for _, k := range rule.On {
		if k == symfmt.KindLine && rule.Faults != 0 {
			ls.faults = append(ls.faults, listener{rule, record})
		} else {
			ls.kinds[k] = append(ls.kinds[k], listener{rule, record})
		}
	}
}

// dispatch passes a record to the rules registered for its kind.
func (p *Pass) dispatch(r *symfmt.Record, ls *listeners) {
	for _, l := range ls.kinds[r.Kind] {
		p.rule = l.rule
		l.record(r)
	}
	if r.Kind != symfmt.KindLine || p.Line == 0 {
		return
	}
	for _, l := range ls.faults {
		if l.rule.Faults&p.Line != 0 {
			p.rule = l.rule
			l.record(r)
		}
	}
}

// Run checks a symbol file. The error is that of reading, or the context's; damage is a finding.
func Run(ctx context.Context, in io.Reader, o Options) (*Report, error) {
	if o.MaxPerRule <= 0 {
		o.MaxPerRule = DefaultMaxPerRule
	}
	if o.Rules == nil {
		o.Rules = Rules()
	}
	facts := &facts.Facts{}
	p := &Pass{Facts: facts, Options: o, report: &Report{File: o.File, Counts: map[string]int{}, Facts: facts}}
	if o.Filter != nil {
		p.filter = o.Filter.file(o.File)
	}
	p.owners.facts = facts
	if o.Binary != nil {
		p.binary = openBinary(o.Binary)
	}
	var on listeners
	var ends []listener
	for _, rule := range o.Rules {
		p.rule = rule
		record, end := rule.Check(p)
		on.add(rule, record)
		if end != nil {
			ends = append(ends, listener{rule, func(*symfmt.Record) { end() }})
		}
	}
	if err := p.read(ctx, in, &on); err != nil {
		return nil, err
	}
	p.report.Coverage = p.coverage(o.MinCFI, o.MinLines)
	if p.unreadable {
		p.report.Coverage.Reasons = []string{"the text is in UTF-16: no reader accepts the file"}
	} else {
		for _, l := range ends {
			p.rule = l.rule
			l.record(nil)
		}
	}
	p.report.contradicted(o.MinCFI)
	if why := p.report.refusal(); why != "" && p.HasModule {
		p.report.Coverage.Reasons = append(p.report.Coverage.Reasons, why)
	}
	if p.filter != nil {
		p.filter.close()
	}
	sortFindings(p.report.Findings)
	return p.report, nil
}

// sortFindings puts findings of a file in order: by place.
func sortFindings(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Rule.ID, b.Rule.ID))
	})
}

// checkEvery is how many records are read between looks at the context.
const checkEvery = 1 << 14

// read dispatches the records.
func (p *Pass) read(ctx context.Context, in io.Reader, on *listeners) error {
	rd := symfmt.NewReader(in, symfmt.ReadOptions{File: p.Options.File, Tolerant: true, MaxProblems: p.Options.MaxPerRule})
	for {
		r, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if p.encoding(err) {
				break
			}
			return err
		}
		p.See(r)
		if p.filter != nil {
			p.filter.see(p.Facts, r)
		}
		if p.binary != nil {
			p.binary.see(r, &p.CFI, p.Arch)
		}
		p.dispatch(r, on)
		p.Last = r.Kind
		if p.Records%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	p.End()
	p.owners.ended = true
	rep := rd.Report()
	p.report.Bytes, p.report.Lines = rep.Bytes, rep.Lines
	p.Lines, p.Layout = rep.Lines, rep.Layout
	p.report.Damage = rep.Damage
	p.syntax(rep)
	return nil
}

// encoding reports a file whose encoding no reader accepts, and returns whether err says so.
func (p *Pass) encoding(err error) bool {
	var se *symfmt.SyntaxError
	if !errors.As(err, &se) {
		return false
	}
	p.unreadable = true
	p.rule = utf16Text
	if slices.Contains(p.Options.Rules, utf16Text) {
		p.add(Finding{Line: se.Line, Col: se.Col, Message: se.Msg})
	}
	return true
}

// syntax reports the lines that are not records.
func (p *Pass) syntax(rep symfmt.Report) {
	if !slices.Contains(p.Options.Rules, badRecord) {
		return
	}
	p.rule = badRecord
	dropped := rep.Dropped - p.empty
	for _, problem := range rep.Problems {
		var se *symfmt.SyntaxError
		if !errors.As(problem.Err, &se) {
			p.add(Finding{Message: bin.Bare(problem.Err, p.Options.File)})
			continue
		}
		if p.empty > 0 && se.Msg == emptyNameMsg && se.Record != symfmt.KindModule.String() {
			dropped++
			continue
		}
		p.add(Finding{Line: se.Line, Col: se.Col, Message: fmt.Sprintf("%s: %s", cmp.Or(se.Record, "line"), se.Msg)})
	}
	p.count(badRecord, dropped)
}

// emptyNameMsg is the reader's complaint of a record without a name, which is of
// SYM601 where that is checked.
const emptyNameMsg = "name is empty"
