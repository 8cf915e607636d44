package code

import (
	"strconv"
	"strings"
)

var names = map[string]int{"$rax": 0, "$rdx": 1, "$rcx": 2, "$rbx": 3, "$rsi": 4, "$rdi": 5, "$rbp": 6, "$rsp": 7, "$r8": 8, "$r9": 9, "$r10": 10, "$r11": 11, "$r12": 12, "$r13": 13, "$r14": 14, "$r15": 15}

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
			if r, ok := names[t]; ok {
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

// Known reports whether a row can be written.
func (s *state) Known() bool {
	return s.CFA() != "" && s.hasReturn()
}

// CFA returns an expression for the CFA.
func (s *state) CFA() string {
	for _, r := range [...]int{amdSP, amdBP, amdBX, 12, 13, 14, 15, 10, 11, amdAX, 8, 9} {
		if v := s.regs[r]; v.base == cfa {
			return "r" + strconv.Itoa(r) + " " + strconv.FormatInt(-v.off, 10) + " +"
		}
	}
	if sp := s.regs[amdSP]; sp.base == aligned {
		for _, k := range s.slots {
			if k.place.base == aligned && k.value.base == cfa && k.place.off >= sp.off {
				return "rsp " + strconv.FormatInt(k.place.off-sp.off, 10) + " + ^ " + strconv.FormatInt(-k.value.off, 10) + " +"
			}
		}
	}
	return ""
}

// Agrees compares with rules in text: "" if they agree.
func (s *state) Agrees(text string) string {
	rules := map[string][]string{}
	var k string
	for _, w := range strings.Fields(text) {
		if strings.HasSuffix(w, ":") {
			k = w[:len(w)-1]
			continue
		}
		rules[k] = append(rules[k], w)
	}
	if v := s.eval(rules[".cfa"]); v != (value{base: cfa}) {
		if v.base != cfa {
			return "cfa?"
		}
		return "cfa"
	}
	for _, r := range []string{"$rbx", "$rbp", "$r12", "$r13", "$r14", "$r15"} {
		want := value{base: initial, off: int64(names[r])}
		rule, ok := rules[r]
		if !ok {
			if s.regs[names[r]] != want {
				return r + " not kept"
			}
			continue
		}
		if v := s.eval(rule); v != want {
			return r
		}
	}
	return ""
}

// Same is for the proof.
func (s *state) Same(o *state) bool { return s.regs == o.regs && sameSlots(s.slots, o.slots) }
