// Package demangle prints mangled names as they are in the source: C++ (Itanium ABI,
// section 5.1, and Microsoft's scheme) and Rust, legacy and v0 (RFC 2603). Its only function
// is Append.
//
// A decoder (cpp.go) reads names of the Itanium ABI into nodes (cppnode.go) and prints them
// (cppprint.go). What it does not know, such as a vendor's operators, is left to a library:
// library.go decides which names are cheap enough for that. Another (msvc.go) does the same
// for Microsoft's names; both read with scan.go. rustlegacy.go and rustname.go read Rust.
package demangle

import (
	"errors"
	"strings"
)

// What Append returns for names that it leaves as they are.
var (
	ErrNotMangled = errors.New("not a mangled name")
	ErrCostly     = errors.New("a mangled name that takes more than its length allows")
)

// Longer names are not read, and none becomes longer than maxDemangled: nested
// substitutions let a name of n bytes stand for 2^n, and 64 KiB are unreadable.
const (
	maxMangled   = 16 << 10
	maxDemangled = 1 << demangledPow
	demangledPow = 16
)

// A mangled name of n bytes may stand for 2^n, as substitutions nest, and may cost the
// demangler the square of n. So each name may take as many steps as its length allows,
// which ties the work on all names of a file to their bytes.
//
// The C++ names of libLLVM, libclang-cpp, libstdc++ and Ceph take a step a byte, the worst
// of them 8, and become 3 times as long, at most 55 times.
const (
	StepsPerByte = 128
	leastSteps   = 16 << 10
	growth       = 64 // bytes of a demangled name for a byte of the mangled one
	leastGrown   = 2 << 10
)

func stepsAllowed(name string) int { return leastSteps + StepsPerByte*len(name) }

// lengthAllowed returns below maxDemangled.
func lengthAllowed(name string) int { return min(leastGrown+growth*len(name), maxDemangled-1) }

// Append appends the source form of a mangled name to dst.
//
//   - C++ is printed as c++filt does, clone suffixes as "f(int) [clone .cold]";
//   - names of Microsoft's scheme, which begin with a question mark, are printed as PDBs have
//     names with the arguments behind them: ns::C<T>::f(int, char const*) const;
//   - Rust is printed without the hash that distinguishes crates and instances, and
//     without LLVM's suffix;
//   - _GLOBAL__I_x is "global constructors keyed to x".
//
// For any other name, and for one that does not follow the grammar of its mangling to
// the end, it returns dst and ErrNotMangled; where the work would be more than the
// length of the name allows, ErrCostly. Identifiers are copied: control characters in
// the name are in the result.
func Append(dst []byte, name string) ([]byte, error) {
	if len(name) < 4 || len(name) > maxMangled || name[0] != '_' && name[0] != '.' && name[0] != '?' {
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
		return appendMSVC(dst, name, msRecord)
	case name[1] == 'Z' || name[1] == 'R':
		return appendMangled(dst, name)
	case name[0] == '.' && name[1] == '_':
		// The code of a function on 64-bit PowerPC, whose plain name is that
		// of its descriptor.
		return appendMangled(append(dst, '.'), name[1:])
	case strings.HasPrefix(name, globalKeyed):
		return appendKeyed(dst, name[len(globalKeyed):])
	}
	return nil, ErrNotMangled
}

// appendMangled wants a name that begins with _Z or _R. A panic of the library's
// leaves the name as it is.
func appendMangled(dst []byte, name string) (out []byte, err error) {
	if len(name) < 4 || name[1] != 'Z' && name[1] != 'R' {
		return nil, ErrNotMangled
	}
	defer func() {
		if recover() != nil {
			err = ErrNotMangled
		}
	}()
	switch rest, legacy := isRustLegacy(name); {
	case name[1] == 'R':
		out, err = appendRust(dst, name)
	case legacy:
		if out, ok := appendLegacy(dst, rest); ok {
			return out, nil
		}
		fallthrough
	default:
		out, err = appendCPP(dst, name)
	}
	if err == nil && len(out) == len(dst) {
		err = ErrNotMangled
	}
	return out, err
}

const globalKeyed = "_GLOBAL_"

// appendKeyed reads what follows _GLOBAL_ in _GLOBAL__I_ and _GLOBAL__D_, which name the
// constructors and destructors of a file by the first global symbol in it (GCC,
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

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
