package code

import (
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// judge compares states with the rules of a table.
type judge struct {
	*cpu
	names   [maxRegs]string
	numbers map[string]uint8
	row     row
}

func newJudge(a *arch.Arch) *judge {
	j := &judge{cpu: cpus[a], numbers: map[string]uint8{}}
	for i := range j.names {
		if name, ok := a.RegName(j.dwarf(uint8(i))); ok {
			j.names[i], j.numbers[name] = name, uint8(i)
		}
	}
	return j
}

// eval evaluates a postfix expression.
func (j *judge) eval(s *state, expr []string) value {
	var st []value
	for _, t := range expr {
		switch t {
		case "+", "-":
			if len(st) < 2 {
				return value{}
			}
			a, b := st[len(st)-2], st[len(st)-1]
			st = st[:len(st)-2]
			if b.base != constant {
				a, b = b, a
			}
			if b.base != constant {
				st = append(st, value{})
				continue
			}
			n := b.off
			if t == "-" {
				n = -n
			}
			st = append(st, a.plus(n))
		case "^":
			if len(st) < 1 {
				return value{}
			}
			a := st[len(st)-1]
			v := value{}
			if a.base == cfa || a.base == aligned {
				v = s.load(place{a.base, a.off})
			}
			st[len(st)-1] = v
		case ".cfa":
			st = append(st, value{base: cfa})
		default:
			if r, ok := j.numbers[t]; ok {
				st = append(st, s.regs[r])
				continue
			}
			n, err := strconv.ParseInt(t, 10, 64)
			if err != nil {
				return value{}
			}
			st = append(st, value{base: constant, off: n})
		}
	}
	if len(st) != 1 {
		return value{}
	}
	return st[0]
}

// verdict is what a state says about the rules of a table.
type verdict uint8

const (
	right     verdict = iota
	uncertain         // the state has no rules
	late              // the table has the rules of an earlier instruction: compilers describe some epilogues so
	loose             // the table says that a register is unchanged, which an instruction changed: assembly
	unproven          // the table's rule reads what the state does not know
	wrong
)

// rulesOf splits the text of rules.
func rulesOf(text string) map[string][]string {
	rules := map[string][]string{}
	var of string
	for _, w := range strings.Fields(text) {
		if strings.HasSuffix(w, ":") {
			of = w[:len(w)-1]
			rules[of] = nil
			continue
		}
		rules[of] = append(rules[of], w)
	}
	return rules
}

// marks are those of a return address, by the n of its value.
var marks = [...]symfmt.CFIMarks{0, keyA: symfmt.MarkSigned, keyB: symfmt.MarkSigned | symfmt.MarkKeyB}

// verdict compares a state with rules.
func (j *judge) verdict(s *state, rules map[string][]string, m symfmt.CFIMarks) verdict {
	if !j.cpu.row(s, &j.row) {
		return uncertain
	}
	fp, name := initially(j.fp), j.names[j.fp]
	restored := s.regs[j.fp] == fp && rules[name] != nil && (j.eval(s, rules[name]) != fp || slices.Contains(rules[".cfa"], name))
	if v := j.eval(s, rules[".cfa"]); v != (value{base: cfa}) {
		return differs(v, restored)
	}
	result := right
	switch v := j.eval(s, rules[".ra"]); {
	case v.base != initial || v.off != int64(j.ra):
		return differs(v, restored)
	case marks[v.n] != m && s.regs[j.ra] == v: // clang describes a signature before the instruction that signs
		result = late
	case marks[v.n] != m:
		return wrong
	}
	for _, reg := range j.saved {
		name, want := j.names[reg], initially(reg)
		rule, ok := rules[name]
		if !ok && name[0] == 'd' { // GCC has the halves of arm's d8 to d15
			n, _ := strconv.Atoi(name[1:])
			rule, ok = rules["s"+strconv.Itoa(2*n)]
		}
		switch {
		case !ok && s.regs[reg] != want:
			result = max(result, loose)
		case ok && j.eval(s, rule) != want:
			result = max(result, differs(j.eval(s, rule), restored))
		}
	}
	return result
}

// differs returns the verdict on a rule that gives another value than it should. restored means that the frame pointer
// has the caller's value already, which the table does not say.
func differs(v value, restored bool) verdict {
	switch {
	case restored:
		return late
	case v.base == unknown:
		return unproven
	}
	return wrong
}
