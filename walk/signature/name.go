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
	s := text.Fold(name, "<T>", false)
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

// withoutHash cuts the hash at the end of names of Rust's first mangling: "::h" and 16 digits.
func withoutHash(name string) string {
	const digits = 16
	i := len(name) - digits - len("::h")
	if i <= 0 || name[i:i+3] != "::h" || strings.Trim(name[i+3:], "0123456789abcdef") != "" {
		return name
	}
	return name[:i]
}
