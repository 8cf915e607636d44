// Package demangle prints mangled names as they are in the source: C++ (Itanium ABI, section 5.1, and
// Microsoft's scheme) and Rust, legacy and v0 (RFC 2603). Append finds the scheme of a name; each
// scheme has its own package below. AppendSource turns any name into one that a symbol file can have.
package demangle

import (
	"strings"

	"github.com/symtool/symtool/internal/demangle/itanium"
	"github.com/symtool/symtool/internal/demangle/mangled"
	"github.com/symtool/symtool/internal/demangle/msvc"
	"github.com/symtool/symtool/internal/demangle/rust"
)

// Append returns these errors for names that it leaves as they are.
var (
	ErrNotMangled = mangled.ErrNotMangled
	ErrCostly     = mangled.ErrCostly
)

// StepsPerByte is how many steps of work each byte of a name allows.
const StepsPerByte = mangled.StepsPerByte

// Append appends the source form of a mangled name to dst.
//
//   - C++ is printed as c++filt does, clone suffixes as "f(int) [clone .cold]";
//   - names of Microsoft's scheme, which begin with a question mark, are printed like names in
//     PDBs, followed by the arguments: ns::C<T>::f(int, char const*) const;
//   - Rust is printed without the hash that distinguishes crates and instances, and
//     without LLVM's suffix;
//   - _GLOBAL__I_x is "global constructors keyed to x";
//   - ___Z1fv_block_invoke_2 is "invocation function for block in f()", as llvm-cxxfilt prints it.
//
// For any other name, and for one that does not match the grammar of its mangling to the
// end, it returns dst and ErrNotMangled; if the work would be more than the length of the
// name allows, ErrCostly. Identifiers are copied: control characters in the name are in the
// result.
func Append(dst []byte, name string) ([]byte, error) {
	if len(name) < 4 || len(name) > mangled.MaxMangled || name[0] != '_' && name[0] != '.' && name[0] != '?' {
		return dst, ErrNotMangled
	}
	out, err := appendAny(dst, name)
	if err != nil {
		return dst, err
	}
	return out, nil
}

func appendAny(dst []byte, name string) ([]byte, error) {
	switch {
	case name[0] == '?':
		return msvc.Append(dst, name)
	case name[1] == 'Z' || name[1] == 'R':
		return appendMangled(dst, name)
	case name[0] == '.' && name[1] == '_':
		// The code of a function on 64-bit PowerPC; the plain name is its descriptor's.
		return appendMangled(append(dst, '.'), name[1:])
	case strings.HasPrefix(name, globalKeyed):
		return appendKeyed(dst, name[len(globalKeyed):])
	case strings.HasPrefix(name, blockPrefix):
		return appendBlock(dst, name[len(blockPrefix)-2:])
	}
	return nil, ErrNotMangled
}

// appendMangled appends the source form of a name that begins with _Z or _R. Rust's legacy
// names look like C++ names with a hash: a name without one is C++.
func appendMangled(dst []byte, name string) (out []byte, err error) {
	switch {
	case len(name) < 4 || name[1] != 'Z' && name[1] != 'R':
		return nil, ErrNotMangled
	case name[1] == 'R':
		out, err = rust.Append(dst, name)
	default:
		if out, err = rust.AppendLegacy(dst, name); err != nil {
			out, err = itanium.Append(dst, name)
		}
	}
	if err == nil && len(out) == len(dst) {
		err = ErrNotMangled
	}
	return out, err
}

const globalKeyed = "_GLOBAL_"

// appendKeyed reads the part after _GLOBAL_ in _GLOBAL__I_ and _GLOBAL__D_, which name the
// constructors and destructors of a file after the first global symbol in it (GCC,
// get_file_function_name).
func appendKeyed(dst []byte, rest string) ([]byte, error) {
	if len(rest) < 4 || !strings.ContainsRune("._$", rune(rest[0])) || rest[2] != '_' {
		return nil, ErrNotMangled
	}
	switch rest[1] {
	case 'I':
		dst = append(dst, "global constructors keyed to "...)
	case 'D':
		dst = append(dst, "global destructors keyed to "...)
	default:
		return nil, ErrNotMangled
	}
	key := rest[3:]
	if strings.HasPrefix(key, "_Z") {
		return appendMangled(dst, key)
	}
	return append(dst, key...), nil
}

// The code of a block is named after the function that it is in, with the function's name between
// these.
const (
	blockPrefix = "___Z"
	blockSuffix = "_block_invoke"
)

// appendBlock reads the name of a block's code, whose function begins at _Z. From the second block on a number
// follows, and then whatever LLVM adds to copies.
func appendBlock(dst []byte, name string) ([]byte, error) {
	end := strings.LastIndex(name, blockSuffix)
	if end < 0 {
		return nil, ErrNotMangled
	}
	number, _, _ := strings.Cut(name[end+len(blockSuffix):], ".")
	digits := strings.TrimPrefix(number, "_")
	if number == "_" || strings.Trim(digits, "0123456789") != "" {
		return nil, ErrNotMangled
	}
	return appendMangled(append(dst, "invocation function for block in "...), name[:end])
}
