package rust

import (
	"math/bits"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

// legacyHash is the length of the last part of a name that rustc mangled before
// v0: "17h", 16 hexadecimal digits, "E".
const legacyHash = 20

// cutLegacy reports whether a name has the form of rustc's old mangling, which
// is C++'s with a hash as its last part. As in c++filt, a hash has at least five
// different digits, so that C++ names are not mistaken for it. rest is the name
// without "_ZN", hash and suffix.
func cutLegacy(raw string) (rest string, ok bool) {
	raw, ok = strings.CutPrefix(raw, "_ZN")
	if !ok {
		return "", false
	}
	if !endsInHash(raw) {
		if strings.IndexByte(raw, '.') < 0 { // most have none, and IndexByte is much faster
			return "", false
		}
		i := strings.LastIndex(raw, "E.") // before a suffix, as LLVM adds
		if raw = raw[:i+1]; !endsInHash(raw) {
			return "", false
		}
	}
	n := len(raw) - legacyHash
	seen := uint16(0)
	for _, c := range []byte(raw[n+3 : len(raw)-1]) {
		switch {
		case mangled.IsDigit(c):
			seen |= 1 << (c - '0')
		case 'a' <= c && c <= 'f':
			seen |= 1 << (c - 'a' + 10)
		default:
			return "", false
		}
	}
	return raw[:n], bits.OnesCount16(seen) >= 5
}

// endsInHash reports whether the last part of a name may be a hash.
func endsInHash(raw string) bool {
	n := len(raw) - legacyHash
	return n > 0 && raw[n:n+3] == "17h" && raw[len(raw)-1] == 'E'
}

// AppendLegacy appends the source form of a name in rustc's old mangling, which begins with
// _ZN: parts, each after its length. For any other name it returns ErrNotMangled. The library
// is not used because it removes an underscore from "__rust_begin_short_backtrace", which is
// in most Rust stacks.
func AppendLegacy(dst []byte, raw string) ([]byte, error) {
	rest, ok := cutLegacy(raw)
	if !ok {
		return nil, mangled.ErrNotMangled
	}
	for first := true; rest != ""; first = false {
		digits := 0
		for digits < len(rest) && mangled.IsDigit(rest[digits]) {
			digits++
		}
		n, err := strconv.Atoi(rest[:digits])
		if err != nil || n == 0 || n > len(rest)-digits {
			return nil, mangled.ErrNotMangled
		}
		if !first {
			dst = append(dst, "::"...)
		}
		dst = appendLegacyPart(dst, rest[digits:digits+n])
		rest = rest[digits+n:]
	}
	return dst, nil
}

// appendLegacyPart undoes the escapes of rustc's old mangling (rustc_symbol_mangling,
// legacy). An unknown one leaves the rest of the part as it is.
func appendLegacyPart(dst []byte, part string) []byte {
	if strings.HasPrefix(part, "_$") {
		part = part[1:] // a part must not begin with an escape
	}
	for part != "" {
		i := 0
		for i < len(part) && part[i] != '$' && part[i] != '.' { // a quarter of IndexAny's time
			i++
		}
		if i == len(part) {
			break
		}
		dst = append(dst, part[:i]...)
		part = part[i:]
		switch {
		case strings.HasPrefix(part, ".."):
			dst = append(dst, "::"...)
			part = part[2:]
		case part[0] == '.':
			dst = append(dst, '.')
			part = part[1:]
		default:
			end := strings.IndexByte(part[1:], '$')
			if end < 0 {
				return append(dst, part...)
			}
			s, ok := legacyEscape(part[1 : 1+end])
			if !ok {
				return append(dst, part...)
			}
			dst = append(dst, s...)
			part = part[end+2:]
		}
	}
	return append(dst, part...)
}

func legacyEscape(code string) (string, bool) {
	switch code {
	case "SP":
		return "@", true
	case "BP":
		return "*", true
	case "RF":
		return "&", true
	case "LT":
		return "<", true
	case "GT":
		return ">", true
	case "LP":
		return "(", true
	case "RP":
		return ")", true
	case "C":
		return ",", true
	}
	hex, ok := strings.CutPrefix(code, "u")
	if !ok {
		return "", false
	}
	v, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || v > unicode.MaxRune || !utf8.ValidRune(rune(v)) || unicode.IsControl(rune(v)) {
		return "", false
	}
	return string(rune(v)), true
}
