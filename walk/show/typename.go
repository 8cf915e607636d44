package show

import (
	"strings"

	"github.com/symtool/symtool/symfmt/vars"
)

// TypeName returns the name of a type for people: a std::vector without its allocator, and std::string instead of the
// type for which it is a typedef.
func TypeName(in *vars.Info, id vars.TypeID) string { return plainName(in.TypeName(id)) }

// Limits of names that are shortened; others are left as they are.
const (
	maxPlainName  = 1 << 14
	maxPlainDepth = 32
)

func plainName(name string) string {
	if len(name) > maxPlainName || !strings.Contains(name, "<") || strings.Contains(name, "operator") || !balanced(name) {
		return name
	}
	out, _ := plainPart(name, 0)
	return out
}

// balanced reports whether each < has a matching >.
func balanced(name string) bool {
	depth := 0
	for i := range len(name) {
		switch {
		case name[i] == '<':
			depth++
		case name[i] == '>' && (i == 0 || name[i-1] != '-'): // not ->
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// plainPart returns the text up to the comma or bracket that ends it, in the plain form, and what follows.
func plainPart(name string, depth int) (out, rest string) {
	var b strings.Builder
	for {
		i := strings.IndexAny(name, "<>,([)]")
		switch {
		case i < 0:
			b.WriteString(name)
			return withoutABI(b.String()), ""
		case name[i] == '<' && depth < maxPlainDepth:
			b.WriteString(name[:i])
			args, after := plainArguments(name[i+1:], depth+1)
			owner := withoutABI(b.String())
			b.Reset()
			b.WriteString(withArguments(owner, args))
			name = after
		case name[i] == '(' || name[i] == '[': // parameters, and arrays of Rust
			end := closing(name[i:])
			b.WriteString(name[:i+end])
			name = name[i+end:]
		case depth == 0:
			b.WriteString(name[:i+1])
			name = name[i+1:]
		default:
			b.WriteString(name[:i])
			return withoutABI(b.String()), name[i:]
		}
	}
}

// plainArguments returns arguments in the plain form, and what follows their closing bracket.
func plainArguments(name string, depth int) (args []string, rest string) {
	for {
		arg, after := plainPart(name, depth)
		args = append(args, strings.TrimSpace(arg))
		if !strings.HasPrefix(after, ",") {
			return args, strings.TrimPrefix(after, ">")
		}
		name = after[1:]
	}
}

// closing returns the end of the brackets that a text begins with.
func closing(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

func withoutABI(name string) string { return strings.ReplaceAll(name, "std::__cxx11::", "std::") }

// defaults are the first words of type arguments that the libraries of C++ and Rust use by default.
var defaults = []string{
	"std::allocator<", "std::less<", "std::hash<", "std::equal_to<", "std::char_traits<", "std::default_delete<",
	"alloc::alloc::Global", "std::hash::random::RandomState",
}

// stringNames are the names of C++ strings, by the type of their characters.
var stringNames = map[string]string{
	"char": "string", "wchar_t": "wstring", "char8_t": "u8string", "char16_t": "u16string", "char32_t": "u32string",
}

// withArguments returns a name with its arguments, except those that are the default of a library's type.
func withArguments(name string, args []string) string {
	_, last := cutLast(name)
	plain := name[strings.LastIndexAny(name, " &*")+1:] // without "const " and the like
	if strings.HasPrefix(plain, "std::") || strings.HasPrefix(plain, "alloc::") {
		for len(args) > 1 && last != "pair" && last != "tuple" && last != "variant" && isDefault(args[len(args)-1]) {
			args = args[:len(args)-1]
		}
		if text := stringNames[args[0]]; text != "" && len(args) == 1 && strings.HasPrefix(last, "basic_string") {
			return strings.TrimSuffix(name, last) + text + strings.TrimPrefix(last, "basic_string")
		}
	}
	return name + "<" + strings.Join(args, ", ") + ">"
}

func isDefault(arg string) bool {
	for _, d := range defaults {
		if strings.HasPrefix(arg, d) {
			return true
		}
	}
	return false
}

// cutLast returns a name without its last part, and that part.
func cutLast(name string) (scope, last string) {
	at := strings.LastIndex(name, "::")
	if at < 0 {
		return "", name
	}
	return name[:at], name[at+2:]
}
