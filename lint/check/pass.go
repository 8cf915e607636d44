package check

import (
	"reflect"
	"slices"

	"github.com/symtool/symtool/lint/facts"
	"github.com/symtool/symtool/symfmt"
)

// Pass is a check of one file: what rules see, and what they report with.
type Pass struct {
	*facts.Facts
	Options Options
	Result  *Report
	Sieve   Sieve // nil if all findings count

	rule   *Rule // whose function runs
	owners owners
	states map[reflect.Type]any
	looks  map[*sharedLook]bool // that a rule takes

	records [symfmt.KindCFI + 1][]listener // by kind of record
	faults  []listener                     // for line records with a fault
	ends    []listener
}

// Options are what rules may ask of a check.
type Options struct {
	File  string // name for messages
	Rules []*Rule
	// MaxPerRule is how many findings of a rule are kept; the others are counted.
	// 0 is DefaultMaxPerRule.
	MaxPerRule int
	// MinCFI and MinLines are the shares of functions' bytes, in percent, that must
	// have call frame information and lines; 0 for no limit.
	MinCFI, MinLines float64
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

// Sieve decides which findings of a file count.
type Sieve interface {
	// Severity returns the severity of a rule's findings.
	Severity(*Rule) Severity
	// Keep reports whether a finding counts.
	Keep(*Finding) bool
	// KeepUnseen returns how many count of n findings that were not put in words.
	KeepUnseen(rule *Rule, n int) int
	// NeedsWords reports whether every finding must be put in words, for Keep.
	NeedsWords() bool
}

// listener is a function for records.
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
		Result: &Report{File: o.File, Counts: map[string]int{}, Facts: known, rules: o.Rules},
		states: map[reflect.Type]any{}, looks: map[*sharedLook]bool{},
	}
}

// Watch registers a function for records of some kinds. Call it before Begin: rules see a record
// later.
func (p *Pass) Watch(record func(*symfmt.Record), kinds ...symfmt.Kind) {
	for _, k := range kinds {
		p.records[k] = append(p.records[k], listener{nil, record})
	}
}

// Begin calls the rules' Check.
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
	for i := range records { // by index, without a copy: a large file has millions of these calls
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

// EndRecords completes the facts: all records were seen.
func (p *Pass) EndRecords() {
	p.Facts.End()
	p.owners.ended = true
}

// EndRules calls the rules' functions for the end.
func (p *Pass) EndRules() {
	for _, l := range p.ends {
		p.rule = l.rule
		l.record(nil)
	}
}

// As calls report with another rule as the current one, if the rule of this ID is checked.
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

// State returns what rules share in a pass: one T for all that ask for it.
func State[T any](p *Pass) *T {
	key := reflect.TypeFor[T]()
	if s, ok := p.states[key]; ok {
		return s.(*T)
	}
	s := new(T)
	p.states[key] = s
	return s
}
