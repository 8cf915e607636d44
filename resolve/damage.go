package resolve

import (
	"errors"
	"fmt"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// Damage implements Symbols. Line and INLINE records of functions are read only when an address in
// the function is looked up.
func (r *Resolver) Damage() []symfmt.Problem {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clip(r.damage)
}

// DoubtOf returns why the answers of s may be wrong although nothing is damaged, or "" if there is
// no such reason.
func DoubtOf(s Symbols) string {
	if r, ok := s.(*Resolver); ok {
		return r.doubt
	}
	return ""
}

// noteDamage records the damage in a function's records, once for each function.
func (r *Resolver) noteDamage(function uint64, p *functionParser) {
	if p.bad == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := function + uint64(p.badAt)
	if len(r.damage)-r.indexed >= maxProblems || r.damagedAt[at] {
		return
	}
	lost := "1 record"
	if p.lost > 1 {
		lost = fmt.Sprintf("%d records", p.lost)
	}
	if r.damagedAt == nil {
		r.damagedAt = map[uint64]bool{}
	}
	r.damagedAt[at] = true
	r.damage = append(r.damage, symfmt.Problem{Err: r.errorf(at, bareSyntax(p.bad)), Lost: lost})
}

// noteVariables records what is wrong with the records of variables, once.
func (r *Resolver) noteVariables(problems []symfmt.Problem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.varsRead {
		return
	}
	r.varsRead = true
	r.damage = append(r.damage, problems[:min(len(problems), maxProblems)]...)
}

// bareSyntax removes the place of an error, which is relative to the function.
func bareSyntax(err error) error {
	var bad *symfmt.SyntaxError
	if errors.As(err, &bad) {
		return fmt.Errorf("%s: %s", bad.Record, bad.Msg)
	}
	return err
}
