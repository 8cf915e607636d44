package itanium

import "github.com/symtool/symtool/internal/demangle/mangled"

// operator is an index into operators.
type operator uint8

// operatorInfo says how an operator is printed, and how many operands follow it in an
// expression.
type operatorInfo struct {
	code string
	name string
	args int8
	form opForm
}

// opForm is the special form of an operator, if it has one.
type opForm uint8

const (
	opPlain opForm = iota
	opCast         // static_cast<type>(x)
	opCall
	opParenCall // of a function in parentheses
	opIndex
	opMember // . and ->, whose right side is a name
	opGreater
	opField      // .x = in an initializer
	opElement    // [x] = in an initializer
	opRange      // [x ... y] = in an initializer
	opAddress    // &
	opScope      // ::
	opAlways     // always parentheses around the operand
	opUnaryFold  // (... + x)
	opBinaryFold // (x + ... + y)
	opNew
)

// Operators that are not among the others.
const (
	opNone operator = iota
	opConvert
	opLiteral
)

var operators = [...]operatorInfo{
	opNone:    {},
	opConvert: {"cv", "", 1, opPlain},
	opLiteral: {"li", `operator"" `, 1, opPlain},

	{"aN", "&=", 2, opPlain}, {"aS", "=", 2, opField}, {"aa", "&&", 2, opPlain}, {"ad", "&", 1, opAddress},
	{"an", "&", 2, opPlain}, {"at", "alignof ", 1, opPlain}, {"aw", "co_await ", 1, opPlain}, {"az", "alignof ", 1, opPlain},
	{"cc", "const_cast", 2, opCast}, {"cl", "()", 2, opCall}, {"cp", "() ", 2, opParenCall}, {"cm", ",", 2, opPlain},
	{"co", "~", 1, opPlain}, {"dV", "/=", 2, opPlain}, {"dX", "[...]=", 3, opRange}, {"da", "delete[] ", 1, opPlain},
	{"dc", "dynamic_cast", 2, opCast}, {"de", "*", 1, opPlain}, {"di", "=", 2, opField}, {"dl", "delete ", 1, opPlain},
	{"ds", ".*", 2, opPlain}, {"dt", ".", 2, opMember}, {"dv", "/", 2, opPlain}, {"dx", "]=", 2, opElement},
	{"eO", "^=", 2, opPlain}, {"eo", "^", 2, opPlain}, {"eq", "==", 2, opPlain}, {"fl", "...", 2, opUnaryFold},
	{"fr", "...", 2, opUnaryFold}, {"fL", "...", 3, opBinaryFold}, {"fR", "...", 3, opBinaryFold}, {"ge", ">=", 2, opPlain},
	{"gs", "::", 1, opScope}, {"gt", ">", 2, opGreater}, {"ix", "[]", 2, opIndex}, {"lS", "<<=", 2, opPlain},
	{"le", "<=", 2, opPlain}, {"ls", "<<", 2, opPlain}, {"lt", "<", 2, opPlain}, {"mI", "-=", 2, opPlain},
	{"mL", "*=", 2, opPlain}, {"mi", "-", 2, opPlain}, {"ml", "*", 2, opPlain}, {"mm", "--", 1, opPlain},
	{"na", "new[]", 3, opNew}, {"ne", "!=", 2, opPlain}, {"ng", "-", 1, opPlain}, {"nt", "!", 1, opPlain},
	{"nw", "new", 3, opNew}, {"nx", "noexcept", 1, opAlways}, {"oR", "|=", 2, opPlain}, {"oo", "||", 2, opPlain},
	{"or", "|", 2, opPlain}, {"pL", "+=", 2, opPlain}, {"pl", "+", 2, opPlain}, {"pm", "->*", 2, opPlain},
	{"pp", "++", 1, opPlain}, {"ps", "+", 1, opPlain}, {"pt", "->", 2, opMember}, {"qu", "?", 3, opPlain},
	{"rM", "%=", 2, opPlain}, {"rS", ">>=", 2, opPlain}, {"rc", "reinterpret_cast", 2, opCast}, {"rm", "%", 2, opPlain},
	{"rs", ">>", 2, opGreater}, {"sP", "sizeof...", 1, opPlain}, {"sZ", "sizeof...", 1, opPlain}, {"sc", "static_cast", 2, opCast},
	{"ss", "<=>", 2, opPlain}, {"st", "sizeof ", 1, opPlain}, {"sz", "sizeof ", 1, opPlain}, {"te", "typeid ", 1, opPlain},
	{"ti", "typeid ", 1, opPlain}, {"tr", "throw", 0, opPlain}, {"tw", "throw ", 1, opPlain},
}

// operatorCodes finds an operator by its code: a lower-case letter, and any letter.
var operatorCodes = func() (codes [26][64]operator) {
	for i := opConvert; int(i) < len(operators); i++ {
		code := operators[i].code
		codes[code[0]-'a'][code[1]-'A'] = i
	}
	return codes
}()

// operator reads the code of an operator. A vendor's operators are refused.
func (d *decoder) operator() operator {
	c, c2 := d.Peek(), d.Behind()
	if !mangled.IsLower(c) || c2 < 'A' || c2 >= 'A'+64 {
		d.Fail()
		return opNone
	}
	op := operatorCodes[c-'a'][c2-'A']
	if op == opNone {
		d.Fail()
		return opNone
	}
	d.Pos += 2
	return op
}

func operatorCode(code string) operator { return operatorCodes[code[0]-'a'][code[1]-'A'] }
