package vars

import (
	"bytes"
	"fmt"
)

// scanner reads the text of a record.
type scanner struct {
	text []byte
	pos  int
	line int

	opsLeft int // operations that the expression may still have
}

func (s *scanner) fail(format string, args ...any) *BadRecord {
	return &BadRecord{s.line, s.pos, Malformed, fmt.Sprintf(format, args...)}
}

func (s *scanner) undeclared(what string, id uint64) *BadRecord {
	return &BadRecord{s.line, s.pos, Undeclared, fmt.Sprintf("%s %x is not declared", what, id)}
}

// skip skips c if it comes next, and reports whether it did.
func (s *scanner) skip(c byte) bool {
	if s.pos < len(s.text) && s.text[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// end reports whether a token ends here.
func (s *scanner) end() bool { return s.pos == len(s.text) || s.text[s.pos] == ' ' }

// hex reads a number of up to 64 bits.
func (s *scanner) hex() (n uint64, ok bool) {
	start := s.pos
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return n, s.pos > start
		}
		if n>>60 != 0 {
			return 0, false
		}
		n = n<<4 | uint64(c)
		s.pos++
	}
	return n, s.pos > start
}

// hex32 reads a number of up to 32 bits.
func (s *scanner) hex32() (uint32, bool) {
	n, ok := s.hex()
	return uint32(n), ok && n>>32 == 0
}

// signed reads a signed number of 64 bits.
func (s *scanner) signed() (int64, bool) {
	minus := s.skip('-')
	n, ok := s.hex()
	if minus {
		return -int64(n), ok && n <= 1<<63
	}
	return int64(n), ok && n < 1<<63
}

// number reads a number of up to 64 bits in the 16 digits that begin with zero.
func (s *scanner) number(zero byte) (n uint64, ok bool) {
	start := s.pos
	for s.pos < len(s.text) && s.text[s.pos]-zero < 16 {
		if n>>60 != 0 {
			return 0, false
		}
		n = n<<4 | uint64(s.text[s.pos]-zero)
		s.pos++
	}
	return n, s.pos > start
}

// boundary reads a number whose digits, except the last, are from g to v.
func (s *scanner) boundary() (n uint64, ok bool) {
	n, _ = s.number(lowDigits)
	if s.pos == len(s.text) || n>>60 != 0 {
		return 0, false
	}
	last := scanner{text: s.text[s.pos : s.pos+1]}
	digit, ok := last.hex()
	s.pos++
	return n<<4 | digit, ok
}

// digits reports whether a range comes next.
func (s *scanner) digits() bool {
	if s.pos == len(s.text) {
		return false
	}
	c := s.text[s.pos]
	return c == '~' || c-lowDigits < 16 || c-highDigits < 16
}

// each calls fn at each token. After an error it continues with the next token; the first error
// is returned.
func (s *scanner) each(fn func() *BadRecord) (first *BadRecord) {
	for s.pos < len(s.text) {
		if s.skip(' ') {
			continue
		}
		err := fn()
		if err == nil && !s.end() {
			err = s.fail("want a space")
		}
		if first == nil {
			first = err
		}
		s.token()
	}
	return first
}

// token skips to the end of a token, and returns what it skipped.
func (s *scanner) token() []byte {
	start := s.pos
	if n := bytes.IndexByte(s.text[s.pos:], ' '); n >= 0 {
		s.pos += n
	} else {
		s.pos = len(s.text)
	}
	return s.text[start:s.pos]
}

// name reads a name up to the end of the token.
func (s *scanner) name() string {
	raw := s.token()
	if bytes.IndexByte(raw, '%') < 0 && bytes.IndexByte(raw, '~') < 0 {
		return string(raw)
	}
	name := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '~' {
			c = ' '
		}
		if c == '%' && i+2 < len(raw) {
			e := scanner{text: raw[i+1 : i+3]}
			if n, ok := e.hex(); ok && e.pos == 2 {
				c = byte(n)
				i += 2
			}
		}
		name = append(name, c)
	}
	return string(name)
}

// variable reads: p or l, type, [+ label], ":", name.
func (s *scanner) variable() (v Variable, err *BadRecord) {
	letter := byte(0)
	if !s.end() {
		letter = s.text[s.pos]
		s.pos++
	}
	v.Param = letter|0x20 == 'p'
	v.Artificial = letter < 'a'
	typ, ok := s.hex32()
	if letter|0x20 != 'p' && letter|0x20 != 'l' || !ok {
		return Variable{}, s.fail("want p or l and the type of a variable")
	}
	v.Type = TypeID(typ)
	if s.skip('+') {
		if v.Label, ok = s.hex32(); !ok {
			return Variable{}, s.fail("want a label")
		}
	}
	if !s.skip(':') {
		return Variable{}, s.fail("want ':' and the name of a variable")
	}
	v.Name = s.name()
	return v, nil
}

// group reads numbers of variables, separated by commas.
func (s *scanner) group() (g []VarID, err *BadRecord) {
	last := uint32(0)
	for {
		if s.end() || s.text[s.pos] == ',' {
			last++
		} else {
			var ok bool
			if last, ok = s.hex32(); !ok {
				return nil, s.fail("want the number of a variable")
			}
		}
		g = append(g, VarID(last))
		if !s.skip(',') {
			return g, nil
		}
	}
}

var opCodes = func() map[string]OpCode {
	codes := make(map[string]OpCode, len(opNames))
	for code, name := range opNames {
		codes[name] = OpCode(code)
	}
	return codes
}()

// ops reads operations, separated by commas. If one is unknown, the expression has no value.
func (s *scanner) ops(depth int) (ops []Op, err *BadRecord) {
	if depth > maxSub {
		return nil, s.fail("operations are nested more than %d deep", maxSub)
	}
	if depth == 0 {
		s.opsLeft = MaxOps
	}
	for {
		if s.opsLeft--; s.opsLeft < 0 {
			return nil, s.fail("more than %d operations", MaxOps)
		}
		op, err := s.op(depth)
		if err != nil {
			return nil, err
		}
		ops = append(ops, op)
		if !s.skip(',') {
			break
		}
	}
	for i := range ops {
		if op := &ops[i]; (op.Code == OpSkip || op.Code == OpBranch) && op.To > len(ops) {
			return nil, s.fail("operation %x jumps to operation %x of %x", i, op.To, len(ops))
		}
	}
	return ops, nil
}

func (s *scanner) op(depth int) (op Op, err *BadRecord) {
	start := s.pos
	for s.pos < len(s.text) && ('a' <= s.text[s.pos] && s.text[s.pos] <= 'z') {
		s.pos++
	}
	code, ok := opCodes[string(s.text[start:s.pos])]
	if !ok {
		s.pos = start
		return op, s.fail("want an operation")
	}
	op.Code = code
	if code == OpEntryValue {
		if !s.skip('(') {
			return op, s.fail("want '(' and operations")
		}
		if op.Sub, err = s.ops(depth + 1); err == nil && !s.skip(')') {
			err = s.fail("want ')'")
		}
		return op, err
	}
	has := parts[code]
	number := func(part uint8) (n uint64) {
		if has&part != 0 && ok {
			if ok = s.skip(':'); ok {
				n, ok = s.hex()
			}
		}
		return n
	}
	number32 := func(part uint8) uint32 {
		n := number(part)
		ok = ok && n>>32 == 0
		return uint32(n)
	}
	op.Reg = number32(hasReg)
	op.U = number(hasU)
	if has&hasS != 0 && ok {
		if ok = s.skip(':'); ok {
			op.S, ok = s.signed()
		}
	}
	op.To = int(number32(hasTo))
	op.Type = TypeID(number32(hasType))
	op.Label = number32(hasLabel)
	op.Expr = ExprID(number32(hasExpr))
	if has&hasData != 0 && ok {
		if ok = s.skip(':'); ok {
			op.Data, ok = s.data()
		}
	}
	if !ok {
		return Op{}, s.fail("invalid operand of %s", code)
	}
	return op, nil
}

// data reads bytes as pairs of digits.
func (s *scanner) data() (data []byte, ok bool) {
	data = []byte{}
	for s.pos+1 < len(s.text) {
		e := scanner{text: s.text[s.pos : s.pos+2]}
		n, ok := e.hex()
		if !ok || e.pos != 2 {
			return data, e.pos == 0
		}
		data = append(data, byte(n))
		s.pos += 2
	}
	return data, s.end() || s.text[s.pos] == ',' || s.text[s.pos] == ')'
}
