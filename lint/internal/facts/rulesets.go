package facts

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/lint/internal/follow"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// ruleSets caches the analyses of texts of STACK CFI rules. A module has hundreds of thousands of
// records and a few thousand different texts.
type ruleSets struct {
	Rules symfmt.RuleTable
	Names *cfi.Names
	kinds []regKind         // by cfi.Reg
	known []*RuleSet        // by symfmt.RuleID
	exprs map[string]uint32 // numbers of expressions, by code
	next  uint32            // never reused, so that rows stay comparable
	bytes int               // size of the texts in table
	keyed []byte
}

// The tables are cleared at the next record when they exceed these limits.
const (
	maxSets      = 1 << 15
	maxSetsBytes = 8 << 20
)

// RuleSet is the analysis of the text of a record.
type RuleSet struct {
	ID    symfmt.RuleID
	rules []setRule
	Fault *RuleFault // why the text does not parse: readers drop it entirely
	// Each of these is reported by a separate rule.
	Failing  []RuleFault // expressions that no reader can compute
	Unknown  []RuleFault // registers that the CPU does not have, in expressions
	Foreign  []RuleFault // registers that the CPU does not have, with a rule
	Repeated []RuleFault // registers with a second rule
	Ends     []RuleFault // marks of the end of the stack that other readers do not recognise

	Changes *follow.Changes // changes to the rows that are compared with a binary; nil until needed
}

// setRule is one rule of a set. It takes 20 bytes.
type setRule struct {
	reg     cfi.Reg
	expr    uint32  // number of the expression
	Saved   cfi.Reg // for .cfa: a callee-saved register in it
	Scratch cfi.Reg // for .cfa: a register in it that calls do not preserve
	fails   bool    // no reader can compute it
	undef   bool
}

// regKind says what a call does to a register.
type regKind uint8

const (
	regScratch regKind = iota
	regSaved
	regFrame // stack pointer, return address, program counter
)

// fresh makes room by clearing full tables.
func (s *ruleSets) fresh(a *arch.Arch) {
	if s.Names != nil && len(s.known) < maxSets && len(s.exprs) < maxSets && s.bytes <= maxSetsBytes {
		return
	}
	*s = ruleSets{exprs: map[string]uint32{}, next: s.next}
	s.Rules.SetArch(a)
	s.Names = s.Rules.Names()
	if a == nil {
		return
	}
	s.kinds = make([]regKind, s.Names.Len())
	for _, name := range a.CalleeSaved {
		s.kinds[s.Names.Lookup(name)] = regSaved
	}
	for _, name := range []string{a.SP, a.PC, a.RA} {
		if name != "" {
			s.kinds[s.Names.Lookup(name)] = regFrame
		}
	}
}

// of returns the analysis of a text.
func (s *ruleSets) of(text []byte) *RuleSet {
	id := s.Rules.Parse(text)
	if int(id) == len(s.known) {
		s.known = append(s.known, s.analyse(id))
		s.bytes += len(text)
	}
	return s.known[id]
}

func (s *ruleSets) analyse(id symfmt.RuleID) *RuleSet {
	rules, err := s.Rules.Rules(id)
	set, text := &RuleSet{ID: id}, s.Rules.Text(id)
	if err != nil {
		set.Fault = &RuleFault{faultField(text, err), exprFault(err).Text}
		return set
	}
	starts := ruleStarts(text)
	for i, rule := range rules {
		field := starts[min(i, len(starts)-1)]
		name := s.Names.Name(rule.Reg)
		for _, before := range rules[:min(i, maxRepeated)] {
			if before.Reg == rule.Reg {
				set.Repeated = append(set.Repeated, RuleFault{field, fmt.Sprintf("%s has a second rule in this record: the first is lost", quote(name))})
				break
			}
		}
		if s.Names.Arch() != nil && !s.Names.Known(rule.Reg) {
			set.Foreign = append(set.Foreign, RuleFault{field, s.stranger(name)})
		}
		set.rules = append(set.rules, s.rule(set, rule, field))
	}
	return set
}

// maxRepeated is the number of a record's rules among which duplicates are searched for: no CPU has
// more registers.
const maxRepeated = 256

// rule analyses one rule.
func (s *ruleSets) rule(set *RuleSet, rule cfi.Rule, field int) setRule {
	out := setRule{reg: rule.Reg, Saved: cfi.NoReg, Scratch: cfi.NoReg, undef: rule.Expr.IsUndef()}
	name := s.Names.Name(rule.Reg)
	if f := checkExpr(rule.Expr); f != nil {
		set.Failing = append(set.Failing, RuleFault{field + f.Field, quote(name) + ": " + f.Text})
		out.fails = true
	}
	rule.Expr.Uses(func(reg cfi.Reg) {
		switch {
		case reg == cfi.CFA:
			if rule.Reg == cfi.CFA && !out.fails {
				set.Failing = append(set.Failing, RuleFault{field, ".cfa: .cfa has no value in its own rule"})
				out.fails = true
			}
		case s.Names.Arch() == nil:
		case !s.Names.Known(reg):
			if !out.fails {
				set.Unknown = append(set.Unknown, RuleFault{field, quote(name) + ": " + s.stranger(s.Names.Name(reg))})
			}
			out.fails = true
		case rule.Reg == cfi.CFA && s.kinds[reg] == regSaved:
			out.Saved = reg
		case rule.Reg == cfi.CFA && s.kinds[reg] == regScratch:
			out.Scratch = reg
		}
	})
	if out.undef && rule.Reg == cfi.CFA {
		set.Failing = append(set.Failing, RuleFault{field, ".cfa: .undef: without a frame address there is no caller"})
	}
	if rule.Reg == cfi.RA && (out.undef || s.Names.Arch() == arch.X86_64 && rule.Expr.String() == "0") {
		set.Ends = append(set.Ends, RuleFault{field, "the end of the stack is marked by .ra: " + rule.Expr.String() + fmt.Sprintf(", want .ra: %d", cfi.EndOfStack)})
	}
	out.expr = s.number(rule.Expr)
	return out
}

// number returns the number of an expression. Sums, and loads of sums, with the same effect have
// the same number.
func (s *ruleSets) number(e cfi.Expr) uint32 {
	if base, offset, ok := e.AsOffset(); ok {
		e = s.Names.Offset(base, offset)
	} else if base, offset, ok := e.AsLoad(); ok {
		e = s.Names.Load(base, offset)
	}
	s.keyed = e.AppendCode(s.keyed[:0])
	n, ok := s.exprs[string(s.keyed)]
	if !ok {
		s.next++
		n = s.next
		s.exprs[string(s.keyed)] = n
	}
	return n
}

// stranger describes a register that the CPU does not have. It adds a suggestion, as the dollar
// sign is part of a name.
func (s *ruleSets) stranger(name string) string {
	msg := fmt.Sprintf("%s has no register %s", s.Names.Arch().Name, quote(name))
	other := "$" + name
	if bare, ok := strings.CutPrefix(name, "$"); ok {
		other = bare
	}
	if _, ok := s.Names.Arch().RegIndex(other); ok {
		msg += ", want " + other
	}
	return msg
}
