package text

import "strings"

// Anonymous is the only parenthesized text that is part of a C++ name.
const Anonymous = "(anonymous namespace)"

// Fold returns the name of a function with template instead of each text in angle brackets. Texts in parentheses are
// removed unless arguments is set.
func Fold(name, template string, arguments bool) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		switch op := operator(name[i:]); {
		case op > 0 && (i == 0 || !IsWord(name[i-1])):
			b.WriteString(name[i : i+op])
			i += op
		case strings.HasPrefix(name[i:], Anonymous):
			b.WriteString(Anonymous)
			i += len(Anonymous)
		case name[i] == '(' && !arguments:
			i += Closing(name[i:], '(', ')')
		case name[i] == '<':
			n := Closing(name[i:], '<', '>')
			b.WriteString(angle(name[i:i+n], template, i == 0))
			i += n
		default:
			b.WriteByte(name[i])
			i++
		}
	}
	return b.String()
}

// angle returns the replacement for a text in angle brackets. Rust's types with their traits are kept, and so are names
// that consist of such a text only: they distinguish functions.
func angle(inner, template string, first bool) string {
	if first || strings.Contains(inner, " as ") {
		return inner
	}
	return template
}

// operators lists the names of operators with brackets, longest first.
var operators = []string{"operator()", "operator<=>", "operator<<=", "operator>>=", "operator->*", "operator<<", "operator>>", "operator<=", "operator>=", "operator->", "operator<", "operator>"}

// operator returns the length of an operator's name at the start of s, or 0.
func operator(s string) int {
	if !strings.HasPrefix(s, "operator") {
		return 0
	}
	for _, op := range operators {
		if strings.HasPrefix(s, op) {
			return len(op)
		}
	}
	return 0
}

// IsWord reports whether c may be part of a word in a name.
func IsWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// Closing returns the length of the bracketed text at the start of s, which is all of s if the bracket is not closed.
// The > of an arrow closes nothing.
func Closing(s string, open, shut byte) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == open:
			depth++
		case s[i] == shut && !(shut == '>' && i > 0 && s[i-1] == '-'):
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}
