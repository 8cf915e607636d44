package names

import (
	"bytes"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/symfmt"
)

// scheme is a name mangling scheme.
type scheme uint8

const (
	notMangled scheme = iota
	itanium
	rustV0
	microsoft
	swift
)

var schemeNames = [...]string{"", "C++", "Rust", "Microsoft's C++", "Swift"}

// mangledNames returns a check for mangled names: Swift's if ofSwift is true, otherwise all others.
func mangledNames(ofSwift bool) check.Func {
	return func(p *check.Pass) (func(*symfmt.Record), func()) {
		var tallies [swift + 1]tally
		return func(r *symfmt.Record) {
				name := originName(r)
				if len(name) < 4 || name[0] != '_' && name[0] != '?' && name[0] != '$' {
					return
				}
				if s := schemeOf(name); s != notMangled && (s == swift) == ofSwift {
					tallies[s].add(r, name)
				}
			}, func() {
				for s := range tallies {
					of := " mangled as " + schemeNames[s]
					tallies[s].report(p, "is"+of, "are"+of)
				}
			}
	}
}

// schemeOf returns the mangling scheme of a name by its prefix. C names that only look mangled
// (_Zero, _RNG_init) have none.
func schemeOf(name []byte) scheme {
	if bytes.IndexByte(name, ' ') >= 0 {
		name = name[:bytes.IndexByte(name, ' ')] // "_ZN1aE [clone .cold]"
	}
	switch {
	case isItanium(bytes.TrimPrefix(name, []byte("_"))) || isItanium(name):
		return itanium
	case isRustV0(name):
		return rustV0
	case len(name) > 1 && name[0] == '?' && bytes.Contains(name, []byte("@@")):
		return microsoft
	case isSwift(name):
		return swift
	}
	return notMangled
}

// isItanium reports whether a name follows the Itanium ABI: _Z and the start of an encoding, rather than the rest of a
// word.
func isItanium(name []byte) bool {
	if len(name) < 4 || name[0] != '_' || name[1] != 'Z' {
		return false
	}
	c, next := name[2], name[3]
	switch {
	case isDigit(c):
		return true
	case c == 'N':
		return isNested(name[3:])
	case c == 'L':
		return isDigit(next)
	case c == 'Z':
		return isDigit(next) || next == 'N' || next == 'L'
	case c == 'S':
		return strings.IndexByte("abdiost", next) >= 0 && hasDigit(name)
	case c == 'T' && (next == 'h' || next == 'v'): // thunks: an offset follows
		return len(name) > 4 && (name[4] == 'n' || isDigit(name[4]))
	case c == 'T':
		return strings.IndexByte("VTISHWCc", next) >= 0 && len(name) > 4
	case c == 'G' && isVector(name[3:]):
		return false
	case c == 'G':
		return strings.IndexByte("VRAI", next) >= 0 && len(name) > 4 || next == 'T' && len(name) > 7 && (hasDigit(name) || isAllocation(name[5:]))
	case 'a' <= c && c <= 'z':
		return isOperator(c, next) && len(name) > 4 && (hasDigit(name) || isAllocation(name[2:]))
	}
	return false
}

// isVector reports whether V and what follows it belong to the vector function ABI, whose names no demangler knows: an
// instruction set, N or M, and a number of lanes, as in _ZGVbN2v_acos. In the Itanium ABI, the name of an object
// follows V.
func isVector(rest []byte) bool {
	return bytes.HasPrefix(rest, []byte("V_LLVM_")) || len(rest) > 3 && rest[0] == 'V' && 'a' <= rest[1] && rest[1] <= 'z' && (rest[2] == 'N' || rest[2] == 'M') &&
		(rest[3] == 'x' || isDigit(rest[3]))
}

// isNested reports whether a nested name follows N: qualifiers, then a part with its length or a
// substitution, and an end.
func isNested(rest []byte) bool {
	rest = bytes.TrimLeft(rest, "rVKRO")
	if len(rest) < 3 || bytes.IndexByte(rest, 'E') < 0 {
		return false
	}
	switch c, next := rest[0], rest[1]; c {
	case 'S': // std::string and the like, or an earlier component
		return strings.IndexByte("abdiost_", next) >= 0 || isDigit(next)
	case 'L':
		return isDigit(next)
	case 'T':
		return next == '_' || isDigit(next)
	case 'D':
		return strings.IndexByte("tTC", next) >= 0 && hasDigit(rest)
	default:
		return isDigit(c)
	}
}

// isAllocation reports whether an encoding means operator new or delete. It has no digits; the size or a pointer
// follows.
func isAllocation(rest []byte) bool {
	switch string(rest[:2]) {
	case "nw", "na":
		return strings.IndexByte("mjy", rest[2]) >= 0 && len(rest) == 3
	case "dl", "da":
		return bytes.HasPrefix(rest[2:], []byte("Pv")) && len(rest) <= 5
	}
	return false
}

// isOperator reports whether two letters are an operator's code.
func isOperator(a, b byte) bool {
	const codes = " nw na dl da ps ng ad de co pl mi ml dv rm an or eo aS pL mI mL dV rM aN oR eO ls rs lS rS eq ne lt gt le ge ss nt aa oo pp mm cm pm pt cl ix qu li aw "
	return strings.Contains(codes, string([]byte{' ', a, b, ' '}))
}

// isRustV0 reports whether a name follows Rust's v0 scheme: _R, an optional version, and a path.
func isRustV0(name []byte) bool {
	if len(name) < 6 || name[0] != '_' || name[1] != 'R' {
		return false
	}
	rest := bytes.TrimLeft(name[2:], "0123456789")
	if len(rest) < 4 || !hasDigit(rest) {
		return false
	}
	switch rest[0] {
	case 'N': // a namespace, then a path
		return strings.IndexByte("vtCSacfimpsu", rest[1]) >= 0 && strings.IndexByte("CNMXYI", rest[2]) >= 0
	case 'M', 'X':
		return rest[1] == 's' && (rest[2] == '_' || isDigit(rest[2]) || isDigit(rest[3]) || rest[3] == '_') || rest[1] == 'C' && (isDigit(rest[2]) || rest[2] == 's')
	case 'I', 'Y':
		return rest[1] == 'N' && strings.IndexByte("vtCS", rest[2]) >= 0
	case 'C':
		return isDigit(rest[1]) || rest[1] == 's' && bytes.IndexByte(rest, '_') > 0
	}
	return false
}

// isSwift reports whether a name follows Swift's scheme.
func isSwift(name []byte) bool {
	name = bytes.TrimPrefix(name, []byte("_"))
	if len(name) < 4 {
		return false
	}
	if name[0] == 'T' && name[1] == '0' {
		return isDigit(name[2]) || 'A' <= name[2] && name[2] <= 'Z'
	}
	return name[0] == '$' && strings.IndexByte("sSe", name[1]) >= 0 &&
		(isDigit(name[2]) || 'A' <= name[2] && name[2] <= 'Z')
}

func hasDigit(name []byte) bool { return bytes.ContainsAny(name, "0123456789") }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// withoutSuffix returns the name without the suffixes for compiler-made parts and copies of a function, either bare
// (.part.0) or as demanglers print them ([clone .part.0]).
func withoutSuffix(name []byte) []byte {
	for {
		shorter := cutSuffix(name)
		if len(shorter) == len(name) {
			return name
		}
		name = shorter
	}
}

func cutSuffix(name []byte) []byte {
	if !bytes.HasSuffix(name, []byte("]")) {
		return text.CutClone(name)
	}
	if i := bytes.LastIndex(name, []byte(" [clone .")); i >= 0 {
		if bare := name[i+len(" [clone") : len(name)-1]; len(text.CutClone(bare)) > len(" ") {
			return name
		}
		return name[:i]
	}
	return bytes.TrimSuffix(name, []byte(" [cold]"))
}
