package dwarf2sym

import (
	"strings"
	"unicode/utf8"
)

// Names longer than this stay as they are, mangled or demangled: nested
// substitutions let a name of n bytes stand for 2^n, and 64 KiB are unreadable.
const (
	maxMangled   = 16 << 10
	maxDemangled = 1 << demangledPow
	demangledPow = 16
)

// demangleName returns the source form of a symbol's name, or raw without full.
//
//   - C++ (Itanium ABI, section 5.1) as c++filt prints it, clone suffixes as
//     "f(int) [clone .cold]";
//   - Rust, legacy and v0 (RFC 2603), without the hash that distinguishes crates
//     and instances, and without LLVM's suffix;
//   - "global constructors keyed to x" for _GLOBAL__I_x.
//
// A plain name loses the commas that GCC writes for empty argument packs, f<, int> and
// f<int, >; c++filt and llvm-cxxfilt print f<int>.
//
// Anything else, and what does not follow the grammar of its mangling to the
// end, stays raw. No result contains a control character.
func demangleName(raw string, full bool) string {
	name, _ := demangleWithin(raw, full)
	return name
}

// demangleWithin is demangleName. costly reports that the name stays raw because it
// would take more work than its length allows.
func demangleWithin(raw string, full bool) (name string, costly bool) {
	if !full || len(raw) < 4 || len(raw) > maxMangled {
		return printable(raw), false
	}
	if raw[0] != '_' && raw[0] != '.' {
		return printable(withoutEmptyPacks(raw)), false
	}
	name, ok, costly := demangleAny(raw)
	if !ok || costly {
		name = raw
	}
	return printable(name), costly
}

// withoutEmptyPacks removes commas beside which there is no argument.
func withoutEmptyPacks(name string) string {
	if !strings.Contains(name, ", >") && !strings.Contains(name, "<, ") && !strings.Contains(name, ", , ") {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if strings.HasPrefix(name[i:], ", ") && lacksArgument(b.String(), name[i+2:]) {
			i++
			continue
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// lacksArgument reports whether a comma is behind "<", or before ">" or another comma.
// The < of an operator's name opens no arguments.
func lacksArgument(before, behind string) bool {
	if strings.HasPrefix(behind, ">") || strings.HasPrefix(behind, ", ") {
		return true
	}
	before, open := strings.CutSuffix(before, "<")
	return open && !strings.HasSuffix(before, "operator") && !strings.HasSuffix(before, "operator<")
}

func demangleAny(raw string) (name string, ok, costly bool) {
	switch {
	case raw[1] == 'Z' || raw[1] == 'R':
		return demangleMangled(raw)
	case raw[0] == '.' && raw[1] == '_':
		// The code of a function on 64-bit PowerPC, whose plain name is that
		// of its descriptor.
		name, ok, costly := demangleMangled(raw[1:])
		return "." + name, ok, costly
	case strings.HasPrefix(raw, globalKeyed):
		return demangleKeyed(raw)
	}
	return "", false, false
}

// demangleMangled wants a name that begins with _Z or _R. A panic of the
// demangler leaves the name raw.
func demangleMangled(raw string) (name string, ok, costly bool) {
	if len(raw) < 4 || raw[1] != 'Z' && raw[1] != 'R' {
		return "", false, false
	}
	defer func() {
		if recover() != nil {
			name, ok = "", false
		}
	}()
	if raw[1] == 'R' {
		return demangleRust(raw)
	}
	if rest, ok := isRustLegacy(raw); ok {
		if name, ok := demangleLegacy(rest); ok {
			return name, true, false
		}
	}
	return demangleCPP(raw)
}

const globalKeyed = "_GLOBAL_"

// demangleKeyed reads _GLOBAL__I_ and _GLOBAL__D_, which name the constructors
// and destructors of a file by the first global symbol in it (GCC,
// get_file_function_name).
func demangleKeyed(raw string) (name string, ok, costly bool) {
	rest := raw[len(globalKeyed):]
	if len(rest) < 4 || !strings.ContainsRune("._$", rune(rest[0])) || rest[2] != '_' {
		return "", false, false
	}
	kind := ""
	switch rest[1] {
	case 'I':
		kind = "constructors"
	case 'D':
		kind = "destructors"
	default:
		return "", false, false
	}
	key := rest[3:]
	if strings.HasPrefix(key, "_Z") {
		if key, ok, costly = demangleMangled(key); !ok || costly {
			return "", false, costly
		}
	}
	return "global " + kind + " keyed to " + key, true, false
}

// printable replaces what would break a line of a symbol file, or the terminal
// that it is shown on, by '?': C0 and C1 control characters and Unicode's two
// line separators. Other bytes stay, valid UTF-8 or not.
func printable(name string) string {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c < ' ' || c >= 0x7f {
			return replaceControls(name)
		}
	}
	return name
}

func replaceControls(name string) string {
	var b strings.Builder
	b.Grow(len(name))
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		switch {
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029':
			b.WriteByte('?')
		default:
			b.WriteString(name[i : i+n])
		}
		i += n
	}
	return b.String()
}
