package cfi

import (
	"slices"
	"strings"
)

// Rule is how to recover one register.
type Rule struct {
	Reg  Reg // may be CFA or RA
	Expr Expr
}

// Rules are the rules of one STACK CFI record, in its order.
type Rules []Rule

// ParseExpr parses an expression. Its errors are faults of form only (see Kind).
func (n *Names) ParseExpr(text string) (Expr, error) {
	p := parser{names: n, text: text, code: n.words[:0]}
	if err := p.expression(false); err != nil {
		return Expr{}, err
	}
	if p.name {
		return Expr{}, p.fail(Colon)
	}
	if len(p.code) == 0 {
		return Expr{}, p.fail(Empty)
	}
	n.words = p.code
	return Expr{slices.Clone(p.code), n}, nil
}

// ParseRules parses the rules of a STACK CFI record, such as ".cfa: $rsp 8 +
// .ra: .cfa -8 + ^". Its errors are faults of form only; Breakpad ignores all
// CFI of a function with such a fault.
func (n *Names) ParseRules(text string) (Rules, error) {
	p := parser{names: n, text: text, code: n.words[:0]}
	rules := make(Rules, 0, min(strings.Count(text, ":"), 16))
	if !p.next() {
		return nil, p.fail(Empty)
	}
	if !p.name {
		return nil, p.fail(NoRegister)
	}
	starts := make([]int, 0, 16)
	for p.name {
		if p.token == ":" {
			return nil, p.fail(NoName)
		}
		reg := n.intern(p.token[:len(p.token)-1])
		if reg == NoReg {
			return nil, p.fail(TooManyNames)
		}
		start := len(p.code)
		if err := p.expression(false); err != nil {
			return nil, err
		}
		if len(p.code) == start {
			return nil, &Error{Kind: Empty, Rule: n.Name(reg)}
		}
		rules = append(rules, Rule{Reg: reg})
		starts = append(starts, start)
	}
	n.words = p.code
	code := slices.Clone(p.code)
	for i := range rules {
		end := len(code)
		if i+1 < len(rules) {
			end = starts[i+1]
		}
		rules[i].Expr = Expr{code[starts[i]:end:end], n}
	}
	return rules, nil
}

// parser turns tokens into code.
type parser struct {
	names *Names
	text  string // unread rest
	token string // the current one
	name  bool   // the current token ends with a colon
	count int    // tokens read
	code  []uint32
}

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// next advances to the next token and reports whether there is one.
func (p *parser) next() bool {
	i := 0
	for i < len(p.text) && isBlank(p.text[i]) {
		i++
	}
	start := i
	for i < len(p.text) && !isBlank(p.text[i]) {
		i++
	}
	p.token, p.text = p.text[start:i], p.text[i:]
	p.name = i > start && p.token[len(p.token)-1] == ':'
	if i > start {
		p.count++
	}
	return i > start
}

func (p *parser) fail(k Kind) error {
	return &Error{Kind: k, Token: p.count, Text: p.token}
}

// expression compiles tokens up to the end or to a register's name, which
// becomes the current token.
func (p *parser) expression(program bool) error {
	for p.next() {
		if p.count > maxTokens {
			return p.fail(TooLong)
		}
		if p.name {
			return nil
		}
		t := p.token
		for len(t) > 1 && t[0] == '=' { // "=$eip" is "= $eip"
			p.code = append(p.code, opAssign)
			t = t[1:]
			if p.count++; p.count > maxTokens {
				return p.fail(TooLong)
			}
		}
		if err := p.compile(t, program); err != nil {
			return err
		}
	}
	return nil
}

// compile appends the code of one token.
func (p *parser) compile(t string, program bool) error {
	if len(t) == 1 {
		if i := strings.IndexByte(opText, t[0]); i >= 0 {
			p.code = append(p.code, opAdd+uint32(i))
			return nil
		}
	}
	switch t {
	case ".cfa":
		p.code = append(p.code, opCFA)
		return nil
	case ".undef":
		p.code = append(p.code, opUndef)
		return nil
	}
	op := uint32(opReg)
	if program {
		op = opVar
	}
	if isNumeric(t) {
		if v, ok := p.names.parseConst(t); ok {
			p.code = appendConst(p.code, v)
			return nil
		}
		op = opBad
	}
	reg := p.names.intern(t)
	if reg == RA { // RA is a value only outside expressions; here it is a name like any other
		reg = p.names.internOther(t)
	}
	if reg == NoReg {
		return p.fail(TooManyNames)
	}
	p.code = append(p.code, uint32(reg)<<opBits|op)
	return nil
}

// isNumeric reports whether a token starts like a number.
func isNumeric(t string) bool {
	c := t[0]
	if (c == '-' || c == '+') && len(t) > 1 {
		c = t[1]
	}
	return '0' <= c && c <= '9'
}

// parseConst returns a decimal constant, wrapped. Its digits must fit the word;
// a minus negates modulo the word size, as in Breakpad.
func (n *Names) parseConst(t string) (uint64, bool) {
	negative := t[0] == '-'
	if negative || t[0] == '+' {
		t = t[1:]
	}
	var v uint64
	for i := range len(t) {
		d := uint64(t[i] - '0')
		if d > 9 || v > (n.mask-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	if negative {
		v = -v
	}
	return n.wrap(v), true
}

// String returns the text of the rules in their order.
func (r Rules) String() string { return string(r.appendTo(nil)) }

// appendTo appends the text of the rules in their order.
func (r Rules) appendTo(dst []byte) []byte {
	for i, rule := range r {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = appendRule(dst, rule)
	}
	return dst
}

func appendRule(dst []byte, r Rule) []byte {
	if r.Expr.IsZero() {
		return dst
	}
	dst = append(dst, r.Expr.names.Name(r.Reg)...)
	return r.Expr.appendTo(append(dst, ": "...))
}
