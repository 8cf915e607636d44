package itanium

import (
	"strconv"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

// printExpression prints an expression.
func (d *decoder) printExpression(n *node) {
	switch n.kind {
	case kNullary:
		d.text(operators[n.op].name)
	case kUnary:
		d.printUnary(n)
	case kConvert:
		d.byte('(')
		d.print(d.nodes[n.f[0]].f[0])
		d.byte(')')
		d.printOperand(n.f[1])
	case kBinary:
		d.printBinary(n)
	case kTrinary:
		d.printTrinary(n)
	case kFold:
		d.printFold(n)
	case kPackExpansion:
		if n.f[1] != 0 {
			d.print(n.f[0])
			return
		}
		if d.style == asLLVM {
			d.print(n.f[0])
		} else {
			d.printOperand(n.f[0])
		}
		d.text("...")
	case kSizeofPack:
		d.int(int(d.nodes[n.f[0]].f[1]))
	case kSizeofArgs:
		d.printSizeofArgs(n)
	case kSubobject:
		d.print(n.f[1])
		d.text(".<")
		d.print(n.f[0])
		d.text(" at offset ")
		d.int(int(n.f[2]))
		d.byte('>')
	case kPtrMemCast:
		d.byte('(')
		d.print(n.f[0])
		d.text(")(")
		d.print(n.f[1])
		d.byte(')')
	case kNew:
		d.printNew(n)
	case kLiteral:
		d.printLiteral(n)
	case kString:
		d.text(`"<`)
		d.print(n.f[0])
		d.text(`>"`)
	case kLambda:
		d.text("[]")
		d.printLambda(&d.nodes[n.f[0]])
		d.text("{...}")
	case kBraced:
		d.printBraced(n)
	case kRequires, kExprReq, kTypeReq, kNestedReq:
		d.printRequires(n)
	default:
		d.Fail()
	}
}

// printOperand prints an operand, in parentheses unless it is a name or braces.
func (d *decoder) printOperand(r ref) {
	n := &d.nodes[r]
	switch n.kind {
	case kName, kText, kNumber, kParamText, kBraced, kFunctionParam:
		d.print(r)
		return
	case kScoped:
		if n.op == 0 {
			d.print(r)
			return
		}
	}
	d.byte('(')
	d.print(r)
	d.byte(')')
}

func (d *decoder) printUnary(n *node) {
	info := &operators[n.op]
	operand := n.f[0]
	if f := &d.nodes[operand]; info.form == opAddress && f.kind == kTyped && d.kind(f.f[1]) == kFunction {
		operand = f.f[0] // the address of a function is printed without parameters
	}
	if n.f[1]&unarySuffix != 0 {
		d.printOperand(operand)
		d.text(info.name)
		return
	}
	d.text(info.name)
	switch {
	case info.form == opScope:
		d.print(operand)
	case n.f[1]&unaryType != 0 || info.form == opAlways:
		d.byte('(')
		d.print(operand)
		d.byte(')')
	default:
		d.printOperand(operand)
	}
}

// initializes reports whether an expression is part of a braced list, such as .x = 1.
func (d *decoder) initializes(r ref) bool {
	n := &d.nodes[r]
	if n.kind != kBinary && n.kind != kTrinary {
		return false
	}
	switch operators[n.op].form {
	case opElement, opRange:
		return true
	case opField:
		return d.kind(n.f[0]) != kLiteral
	}
	return false
}

func (d *decoder) printBinary(n *node) {
	info := &operators[n.op]
	switch info.form {
	case opCast:
		d.text(info.name)
		d.byte('<')
		d.print(n.f[0])
		d.text(">(")
		d.print(n.f[1])
		d.byte(')')
		return
	case opElement:
		d.byte('[')
		d.print(n.f[0])
		d.byte(']')
		d.printInitial(n.f[1])
		return
	case opField:
		if d.kind(n.f[0]) != kLiteral {
			d.byte('.')
			d.print(n.f[0])
			d.printInitial(n.f[1])
			return
		}
	case opCall, opParenCall:
		d.printCall(n)
		return
	case opIndex:
		d.printOperand(n.f[0])
		d.byte('[')
		d.print(n.f[1])
		d.byte(']')
		return
	case opGreater: // must not look like the end of template arguments
		d.byte('(')
		defer d.byte(')')
	}
	d.printOperand(n.f[0])
	d.text(info.name)
	d.printOperand(n.f[1])
}

// printInitial prints the value of a part of a braced list.
func (d *decoder) printInitial(r ref) {
	if d.initializes(r) {
		d.print(r)
		return
	}
	d.byte('=')
	d.printOperand(r)
}

// printCall prints a call. The function is printed without the types of its parameters,
// unless its result is known.
func (d *decoder) printCall(n *node) {
	left := n.f[0]
	plain := false
	if f := &d.nodes[left]; f.kind == kTyped {
		t := &d.nodes[f.f[1]]
		if t.kind == kFunction && t.f[0] != 0 {
			plain = operators[n.op].form != opParenCall
		} else {
			left = f.f[0]
		}
	}
	if plain {
		d.print(left)
	} else {
		d.printOperand(left)
	}
	d.printOperand(n.f[1])
}

func (d *decoder) printTrinary(n *node) {
	if operators[n.op].form == opRange {
		d.byte('[')
		d.print(n.f[0])
		d.text(" ... ")
		d.print(n.f[1])
		d.byte(']')
		d.printInitial(n.f[2])
		return
	}
	d.printOperand(n.f[0])
	d.byte('?')
	d.printOperand(n.f[1])
	d.text(" : ")
	d.printOperand(n.f[2])
}

func (d *decoder) printFold(n *node) {
	op := operators[n.op].name
	d.byte('(')
	switch {
	case n.f[1] != 0:
		d.printOperand(n.f[0])
		d.text(op)
		d.text("...")
		d.text(op)
		d.printOperand(n.f[1])
	case n.f[2] != 0:
		d.text("...")
		d.text(op)
		d.printOperand(n.f[0])
	default:
		d.printOperand(n.f[0])
		d.text(op)
		d.text("...")
	}
	d.byte(')')
}

func (d *decoder) printSizeofArgs(n *node) {
	count := 0
	for _, r := range d.list(n) {
		switch arg := &d.nodes[r]; arg.kind {
		case kArgPack, kExprList:
			count += int(arg.f[1])
		default:
			count++
		}
	}
	d.int(count)
}

func (d *decoder) printNew(n *node) {
	d.text("new")
	if d.style == asFilt || n.f[0] == 0 {
		d.byte(' ')
	}
	if n.f[0] != 0 {
		d.printOperand(n.f[0])
		d.byte(' ')
	}
	d.print(n.f[1])
	if n.f[2] != 0 {
		d.printOperand(n.f[2])
	}
}

// printLiteral prints a literal in the form of its type.
func (d *decoder) printLiteral(n *node) {
	form := castLiteral
	if t := &d.nodes[n.f[0]]; t.kind == kBuiltin {
		form = t.op
	}
	value := d.Src[n.f[1]:][:n.f[2]]
	switch {
	case form >= intLiteral:
		d.printValue(n, value)
		d.text(literalSuffixes[form-intLiteral])
		return
	case form == boolLiteral && n.op == 0 && value == "0":
		d.text("false")
		return
	case form == boolLiteral && n.op == 0 && value == "1":
		d.text("true")
		return
	case form == nullLiteral && (value == "" || value == "0"):
		d.print(n.f[0])
		return
	}
	d.byte('(')
	d.print(n.f[0])
	d.byte(')')
	if form == floatLiteral {
		d.byte('[')
	}
	d.printValue(n, value)
	if form == floatLiteral {
		d.byte(']')
	}
}

func (d *decoder) printValue(n *node, value string) {
	if n.op != 0 {
		d.byte('-')
	}
	d.text(value)
}

// printBraced prints a braced list; an array of char is printed as a string if its
// values are characters.
func (d *decoder) printBraced(n *node) {
	exprs := &d.nodes[n.f[1]]
	if n.f[0] != 0 {
		if t := &d.nodes[n.f[0]]; t.kind == kArray && t.f[1] == fixed.char && exprs.kind == kExprList && d.printChars(d.list(exprs)) {
			return
		}
		d.print(n.f[0])
	}
	d.byte('{')
	d.print(n.f[1])
	d.byte('}')
}

// charEscapes lists the escape sequences of characters that have one.
var charEscapes = [256]string{
	'\a': `\a`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\v': `\v`, '"': `\"`, '\\': `\\`,
}

// printChars prints literals as a string, and reports whether they are characters.
func (d *decoder) printChars(list []ref) bool {
	from := len(d.out)
	d.out = append(d.out, '"')
	numeric := false // the last was an escape sequence that a digit would continue
	for _, r := range list {
		c, ok := d.charValue(r)
		if !ok {
			d.out = d.out[:from]
			return false
		}
		if numeric && (mangled.IsDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
			d.out = append(d.out, `""`...)
		}
		if numeric = charEscapes[c] == "" && (c < ' ' || c == 0x7f); numeric {
			d.out = appendNumericEscape(d.out, c)
		} else if charEscapes[c] != "" {
			d.out = append(d.out, charEscapes[c]...)
		} else {
			d.out = append(d.out, c)
		}
	}
	d.byte('"')
	return true
}

func (d *decoder) charValue(r ref) (byte, bool) {
	n := &d.nodes[r]
	if n.kind != kLiteral || n.op != 0 {
		return 0, false
	}
	c, err := strconv.Atoi(d.Src[n.f[1]:][:n.f[2]])
	return byte(c), err == nil && c >= 0 && c <= 255
}

func appendNumericEscape(b []byte, c byte) []byte {
	const hex = "0123456789ABCDEF"
	b = append(b, '\\')
	if c > 7 {
		b = append(b, 'x')
	}
	if c >= 16 {
		b = append(b, hex[c>>4])
	}
	return append(b, hex[c&15])
}

// printRequires prints a requires expression, or a requirement in one.
func (d *decoder) printRequires(n *node) {
	switch n.kind {
	case kRequires:
		d.text("requires")
		if n.f[0] != 0 {
			if params := d.list(&d.nodes[n.f[0]]); len(params) > 0 {
				d.text(" (")
				d.printArgs(params)
				d.byte(')')
			}
		}
		d.text(" {")
		for _, r := range d.list(n) {
			d.print(r)
		}
		d.text(" }")
	case kExprReq:
		d.printExprReq(n)
	case kTypeReq:
		d.text(" typename ")
		d.print(n.f[0])
		d.byte(';')
	case kNestedReq:
		d.text(" requires ")
		d.print(n.f[0])
		d.byte(';')
	}
}

func (d *decoder) printExprReq(n *node) {
	braces := n.op != 0 || n.f[1] != 0
	d.byte(' ')
	if braces {
		d.byte('{')
	}
	d.print(n.f[0])
	if braces {
		d.byte('}')
	}
	if n.op != 0 {
		d.text(" noexcept")
	}
	if n.f[1] != 0 {
		d.text(" -> ")
		d.print(n.f[1])
	}
	d.byte(';')
}
