package symbolizer

import (
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/demangle"
	"github.com/symtool/symtool/internal/demangle/itanium"
)

// demangle returns the source form of a name. LLVM keeps the hash of older names of Rust, and what is behind a dot.
func (s *Symbolizer) demangle(name string) string {
	if !s.Style.ofLLVM() {
		return demangled(name)
	}
	if plain, suffix, dotted := strings.Cut(name, "."); dotted && strings.HasPrefix(name, "_R") {
		if out, err := demangle.Append(nil, plain); err == nil {
			return string(out) + " (." + suffix + ")"
		}
	}
	if !strings.HasPrefix(name, "_Z") {
		return demangled(name)
	}
	if out, err := itanium.Append(nil, name); err == nil {
		return asLLVM(string(out))
	}
	dot := strings.LastIndex(name, ".llvm.") // behind names of Rust, which have dots of their own
	if dot < 0 {
		dot = strings.IndexByte(name, '.')
	}
	if dot < 0 {
		return name
	}
	out, err := itanium.Append(nil, name[:dot])
	if err != nil {
		return name
	}
	return asLLVM(string(out)) + " (" + name[dot:] + ")"
}

// demangled returns the source form of a name, or the name itself.
func demangled(name string) string {
	if out, err := demangle.Append(nil, name); err == nil {
		return string(out)
	}
	return name
}

// asLLVM writes a name as LLVM does, from what c++filt prints:
//
//	f() [clone .cold] [clone .1]    f() (.cold.1)
//	A<B<int> >                      A<B<int>>
//	operator< <int>                 operator<<int>
//	A<int, >                        A<int>; the last argument is an empty pack
//	{lambda(int)#1}                 'lambda'(int); the second is 'lambda0'
//	{unnamed type#1}                'unnamed'
func asLLVM(name string) string {
	name, clones, cloned := strings.Cut(name, " [clone ")
	name = strings.ReplaceAll(name, ", >", ">")
	name = strings.ReplaceAll(name, "<()...>", "<...>") // an empty pack that is expanded
	name = strings.ReplaceAll(name, "> >", ">>")
	name = strings.ReplaceAll(name, "> >", ">>") // of > > >
	name = strings.ReplaceAll(name, "operator< <", "operator<<")
	name = strings.ReplaceAll(name, "operator<< <", "operator<<<")
	name = lambdas(name)
	if cloned {
		name += " (" + strings.ReplaceAll(strings.TrimSuffix(clones, "]"), "] [clone ", "") + ")"
	}
	return name
}

// lambdas writes the names of lambdas and of types without names as LLVM does.
func lambdas(name string) string {
	for _, kind := range []struct{ theirs, ours string }{{"{lambda(", "'lambda"}, {"{unnamed type#", "'unnamed"}} {
		for {
			start := strings.LastIndex(name, kind.theirs) // the innermost
			if start < 0 {
				break
			}
			end := start + len(kind.theirs)
			params := ""
			if strings.HasSuffix(kind.theirs, "(") {
				params = parenthesized(name[end-1:])
				end += len(params)
			}
			n := strings.IndexByte(name[end:], '}')
			if n < 0 {
				return name
			}
			number, err := strconv.Atoi(name[end : end+n])
			if err != nil || number < 1 {
				return name
			}
			text := kind.ours
			if number > 1 {
				text += strconv.Itoa(number - 2)
			}
			name = name[:start] + text + "'" + params + name[end+n+1:]
		}
	}
	return name
}

// parenthesized returns the start of a text up to the parenthesis that closes the first one.
func parenthesized(text string) string {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return text[:i+1]
			}
		}
	}
	return text
}
