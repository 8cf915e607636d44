package demangle

import "strings"

// dSpecials are the mangled last names of what D's compilers add to a symbol, with the text that
// LLVM writes before the symbol.
var dSpecials = []struct{ name, text string }{
	{"6__initZ", "initializer for "}, {"6__vtblZ", "vtable for "}, {"7__ClassZ", "ClassInfo for "},
	{"11__InterfaceZ", "Interface for "}, {"12__ModuleInfoZ", "ModuleInfo for "},
}

// AppendD appends the source form of a name of D, as far as LLVM knows it: the program's main function, variables of type
// int, and what compilers add to a module, class or other symbol. It returns ErrNotMangled for other names.
func AppendD(dst []byte, name string) ([]byte, error) {
	rest, ok := strings.CutPrefix(name, "_D")
	if !ok || rest == "" {
		return dst, ErrNotMangled
	}
	if rest == "main" {
		return append(dst, "D main"...), nil
	}
	prefix, end := "", "i"
	for _, s := range dSpecials {
		if before, ok := strings.CutSuffix(rest, s.name); ok {
			rest, prefix, end = before, s.text, ""
		}
	}
	rest, ok = strings.CutSuffix(rest, end)
	if !ok || rest == "" {
		return dst, ErrNotMangled
	}
	out := append(dst, prefix...)
	for first := true; rest != ""; first = false {
		id, after, ok := dIdentifier(rest)
		if !ok {
			return dst, ErrNotMangled
		}
		if !first {
			out = append(out, '.')
		}
		out, rest = append(out, id...), after
	}
	return out, nil
}

// dIdentifier cuts an identifier off, which its length precedes.
func dIdentifier(s string) (id, after string, ok bool) {
	n, digits := 0, 0
	for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' && n <= len(s) {
		n, digits = 10*n+int(s[digits]-'0'), digits+1
	}
	if n == 0 || n > len(s)-digits {
		return "", "", false
	}
	return s[digits : digits+n], s[digits+n:], true
}
