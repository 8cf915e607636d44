package code

import (
	"strconv"
	"strings"
)

// numbers are DWARF numbers by name.
var numbers = map[string]int{"$rax": 0, "$rdx": 1, "$rcx": 2, "$rbx": 3, "$rsi": 4, "$rdi": 5, "$rbp": 6, "$rsp": 7, "$r8": 8, "$r9": 9, "$r10": 10, "$r11": 11, "$r12": 12, "$r13": 13, "$r14": 14, "$r15": 15}

// eval evaluates a postfix expression.
func (s *state) eval(expr []string) value {
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
			if r, ok := numbers[t]; ok {
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

// judge compares a state with the rules of a table.
func (s *state) judge(rules map[string][]string) verdict {
	if _, ok := s.row(); !ok {
		return uncertain
	}
	bp := value{base: initial, off: amdBP}
	restored := s.regs[amdBP] == bp && rules["$rbp"] != nil && s.eval(rules["$rbp"]) != bp
	if v := s.eval(rules[".cfa"]); v != (value{base: cfa}) {
		return s.differs(v, restored)
	}
	result := right
	for _, reg := range savedAMD64 {
		name := amd64Name(reg)
		want := value{base: initial, off: int64(reg)}
		switch rule, ok := rules[name]; {
		case !ok && s.regs[reg] != want:
			result = max(result, loose)
		case ok && s.eval(rule) != want:
			result = max(result, s.differs(s.eval(rule), restored))
		}
	}
	return result
}

// differs returns the verdict on a rule that gives another value than it should. restored means that the frame pointer
// has the caller's value already, which the table does not say.
func (s *state) differs(v value, restored bool) verdict {
	switch {
	case restored:
		return late
	case v.base == unknown:
		return unproven
	}
	return wrong
}

func amd64Name(reg uint8) string {
	for name, n := range numbers {
		if n == int(reg) {
			return name
		}
	}
	return ""
}
