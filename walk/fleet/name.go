package fleet

import (
	"strings"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/text"
)

// maxFunction is the length in bytes to which names are cut before anything else: hostile symbol files
// have names of megabytes.
const maxFunction = 4 << 10

// functionName returns the name of a function without the parts that differ between its instances:
// arguments, the return type, qualifiers, clones, Rust's hash. Arguments of templates become T.
func functionName(name string) string {
	name = text.CutClone(cut(name, maxFunction))
	if s, ok := goName(name); ok {
		return s
	}
	s := text.Fold(name, "<T>", false)
	s = strings.TrimSpace(withoutReturnType(withoutQualifiers(s)))
	if s == "" {
		return name
	}
	return withoutHash(s)
}

// cut returns at most n bytes of s, ending with a whole character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// goName returns the name of a Go function, whose parentheses and brackets are not arguments:
// "main.(*T).Get[...]".
func goName(name string) (string, bool) {
	return name, strings.Contains(name, ".(*") || strings.Contains(name, "[...]")
}

// qualifiers follow the arguments of C++ functions.
var qualifiers = []string{" const", " volatile", " &", " &&", " noexcept"}

// withoutQualifiers removes qualifiers, and the suffixes that compilers add to the names of parts
// of functions.
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

// withoutReturnType removes the text up to the last space outside brackets. The name of a
// conversion, "operator bool", itself contains a space.
func withoutReturnType(name string) string {
	start := 0
	for i := 0; i < len(name); i++ {
		switch {
		case name[i] == '<':
			i += text.Closing(name[i:], '<', '>') - 1
		case strings.HasPrefix(name[i:], text.Anonymous):
			i += len(text.Anonymous) - 1
		case name[i] == '`': // `anonymous namespace', as Microsoft's compiler writes it
			i += max(strings.IndexByte(name[i:], '\''), 0)
		case name[i] == '{':
			i += text.Closing(name[i:], '{', '}') - 1
		case strings.HasPrefix(name[i:], "operator ") && (i == 0 || !text.IsWord(name[i-1])):
			return name[start:]
		case name[i] == ' ' && i+1 < len(name):
			start = i + 1
		}
	}
	return name[start:]
}

// withoutHash removes the hash at the end of names in Rust's legacy mangling: "::h" and 16 digits.
func withoutHash(name string) string {
	const digits = 16
	i := len(name) - digits - len("::h")
	if i <= 0 || name[i:i+3] != "::h" || strings.Trim(name[i+3:], "0123456789abcdef") != "" {
		return name
	}
	return name[:i]
}
