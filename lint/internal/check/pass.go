package check

import (
	"reflect"
	"slices"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/lint/internal/follow"
	"github.com/symtool/symtool/symfmt"
)

// Pass is a check of one file: it shows the file to rules and takes their findings.
type Pass struct {
	*facts.Facts
	Options  Options
	Result   *finding.Report
	Sieve    Sieve         // nil if all findings count
	Image    *Image        // the binary; nil without one
	Followed *follow.Stats // what STACK CFI was compared with; nil without a binary

	rule   *Rule // rule whose function is running
	owners owners
	states map[reflect.Type]any
	looks  map[*sharedLook]bool // looks that a rule has already taken

	records [symfmt.KindCFI + 1][]listener // by kind of record
	faults  []listener                     // for line records with a fault
	ends    []listener
}

// Options configure a check.
type Options struct {
	File  string // used in messages
	Rules []*Rule
	// MaxPerRule is the number of findings kept for each rule; 0 means DefaultMaxPerRule. Further
	// findings are only counted.
	MaxPerRule int
	// MinCFI is the required share, in percent, of the code with call frame information (see
	// coverage.CodeShare). MinLines is the required share of functions' bytes with lines. 0 means
	// no requirement.
	MinCFI, MinLines float64
	// StorePath is the path of the file in a symbol store,
	// NAME/ID/NAME.sym. If it is empty, File is used if it has this form.
	StorePath string
	// Stored reports whether the store that contains the file also has symbols of the file's module
	// under the given name. It is nil without a store.
	Stored func(name string) bool
}

// DefaultMaxPerRule is the default of Options.MaxPerRule. A single mistake in a writer may cause
// a finding for each of a million records.
const DefaultMaxPerRule = 100

// Sieve decides which findings of a file count.
type Sieve interface {
	// Severity returns the severity of a rule's findings.
	Severity(*finding.Rule) finding.Severity
	// Keep reports whether a finding counts.
	Keep(*finding.Finding) bool
	// KeepUnseen returns how many of n findings without a text count.
	KeepUnseen(rule *finding.Rule, n int) int
	// NeedsWords reports whether Keep needs the text of every finding.
	NeedsWords() bool
}

// listener is a function called for records.
type listener struct {
	rule   *Rule
	record func(*symfmt.Record)
}

// New begins the check of a file.
func New(o Options) *Pass {
	if o.MaxPerRule <= 0 {
		o.MaxPerRule = DefaultMaxPerRule
	}
	known := &facts.Facts{}
	return &Pass{
		Facts: known, Options: o, owners: owners{facts: known},
		Result: &finding.Report{File: o.File, Counts: map[string]int{}, Rules: described(o.Rules)},
		states: map[reflect.Type]any{}, looks: map[*sharedLook]bool{},
	}
}

// described returns the descriptions of the rules.
func described(rules []*Rule) []*finding.Rule {
	list := make([]*finding.Rule, len(rules))
	for i, r := range rules {
		list[i] = r.Rule
	}
	return list
}

// Watch registers a function for records of some kinds. It must be called before Begin, so that the
// function sees each record before rules do.
func (p *Pass) Watch(record func(*symfmt.Record), kinds ...symfmt.Kind) {
	for _, k := range kinds {
		p.records[k] = append(p.records[k], listener{nil, record})
	}
}

// Begin calls the Check function of each rule.
func (p *Pass) Begin() {
	for _, rule := range p.Options.Rules {
		if rule.Check == nil {
			continue
		}
		record, end := rule.Check(p)
		if record != nil {
			p.listen(rule, record)
		}
		if end != nil {
			p.ends = append(p.ends, listener{rule, func(*symfmt.Record) { end() }})
		}
	}
}

func (p *Pass) listen(rule *Rule, record func(*symfmt.Record)) {
	for _, k := range rule.On {
		if k == symfmt.KindLine && rule.Faults != 0 {
			p.faults = append(p.faults, listener{rule, record})
		} else {
			p.records[k] = append(p.records[k], listener{rule, record})
		}
	}
}

// See passes a record to the facts, and then to the rules registered for its kind.
func (p *Pass) See(r *symfmt.Record) {
	p.Facts.See(r)
	records := p.records[r.Kind]
	for i := range records { // by index, to avoid copies: this runs millions of times for a large file
		l := &records[i]
		p.rule = l.rule
		l.record(r)
	}
	if r.Kind == symfmt.KindLine && p.Line != 0 {
		for _, l := range p.faults {
			if l.rule.Faults&p.Line != 0 {
				p.rule = l.rule
				l.record(r)
			}
		}
	}
	p.Last = r.Kind
}

// EndRecords completes the facts once all records have been seen.
func (p *Pass) EndRecords() {
	p.Facts.End()
	p.owners.ended = true
	p.Result.Module = p.module()
}

// EndRules calls the functions that rules registered for the end of the file.
func (p *Pass) EndRules() {
	for _, l := range p.ends {
		p.rule = l.rule
		l.record(nil)
	}
}

// As calls report with the rule of the given ID as the current rule, if that rule is enabled.
func (p *Pass) As(id string, report func()) {
	i := slices.IndexFunc(p.Options.Rules, func(r *Rule) bool { return r.ID == id })
	if i < 0 {
		return
	}
	was := p.rule
	p.rule = p.Options.Rules[i]
	report()
	p.rule = was
}

// State returns state that the rules of a pass share: all callers with the same T get the same
// value.
func State[T any](p *Pass) *T {
	key := reflect.TypeFor[T]()
	if s, ok := p.states[key]; ok {
		return s.(*T)
	}
	s := new(T)
	p.states[key] = s
	return s
}
