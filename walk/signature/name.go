package signature

import (
	"strings"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/text"
)

// maxName is the length in bytes to which names are cut before anything else: those of hostile
// symbol files have megabytes.
const maxName = 4 << 10

// Function returns the name of a function without what differs between its instances: arguments,
// the return type, qualifiers, clones, Rust's hash. Arguments of templates become T.
func Function(name string) string {
	name = text.CutClone(cut(name, maxName))
	if s, ok := goName(name); ok {
		return s
	}
	s := withoutArguments(name)
	s = strings.TrimSpace(withoutReturnType(withoutQualifiers(s)))
	if s == "" {
		return name
	}
	return withoutHash(s)
}

// cut returns at most n bytes of s, and whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// goName returns the name of a function of Go, whose parentheses and brackets are not arguments:
// "main.(*T).Get[...]".
func goName(name string) (string, bool) {
	return name, strings.Contains(name, ".(*") || strings.Contains(name, "[...]")
}

// anonymous is the only text in parentheses that is part of a C++ name.
const anonymous = "(anonymous namespace)"

// withoutArguments removes texts in parentheses, and replaces those in angle brackets.
func withoutArguments(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		switch op := operator(name[i:]); {
		case op > 0 && (i == 0 || !isWord(name[i-1])):
			b.WriteString(name[i : i+op])
			i += op
		case strings.HasPrefix(name[i:], anonymous):
			b.WriteString(anonymous)
			i += len(anonymous)
		case name[i] == '(':
			i += closing(name[i:], '(', ')')
		case name[i] == '<':
			n := closing(name[i:], '<', '>')
			b.WriteString(angle(name[i:i+n], i == 0))
			i += n
		default:
			b.WriteByte(name[i])
			i++
		}
	}
	return b.String()
}

// angle returns what stands for a text in angle brackets. Rust's types with their traits, and names
// that are only such a text, distinguish functions.
func angle(inner string, first bool) string {
	if first || strings.Contains(inner, " as ") {
		return inner
	}
	return "<T>"
}

// operators are the names of operators with brackets, the longest first.
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

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// closing returns the length of the text in brackets at the start of s, to its end if they do not
// close. The > of an arrow closes nothing.
func closing(s string, open, shut byte) int {
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

// qualifiers are behind the arguments of C++ functions.
var qualifiers = []string{" const", " volatile", " &", " &&", " noexcept"}

// withoutQualifiers cuts qualifiers, and what compilers add to the names of pieces of functions.
func withoutQualifiers(name string) string {
	name, _, _ = strings.Cut(name, " [clone ")
	for {
		short := strings.TrimRight(name, " ")
		for _, q := range qualifiers {
			short = strings.TrimSuffix(short, q)
		}
		if short == name {
			return name
		}
		name = short
	}
}

// withoutReturnType cuts what is before the last space outside of brackets. The name of a
// conversion, "operator bool", has a space itself.
func withoutReturnType(name string) string {
	start := 0
	for i := 0; i < len(name); i++ {
		switch {
		case name[i] == '<':
			i += closing(name[i:], '<', '>') - 1
		case strings.HasPrefix(name[i:], anonymous):
			i += len(anonymous) - 1
		case name[i] == '{':
			i += closing(name[i:], '{', '}') - 1
		case strings.HasPrefix(name[i:], "operator ") && (i == 0 || !isWord(name[i-1])):
			return name[start:]
		case name[i] == ' ' && i+1 < len(name):
			start = i + 1
		}
	}
	return name[start:]
}

// withoutHash cuts the hash at the end of names of Rust's first mangling: "::h" and 16 digits.
func withoutHash(name string) string {
	const digits = 16
	i := len(name) - digits - len("::h")
	if i <= 0 || name[i:i+3] != "::h" || strings.Trim(name[i+3:], "0123456789abcdef") != "" {
		return name
	}
	return name[:i]
}
