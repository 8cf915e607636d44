package demangle

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/text"
)

// AppendSource appends a symbol's name in the form of a symbol file: demangled, if full. A plain
// name loses the commas that GCC writes for empty argument packs, f<, int> and f<int, >; c++filt
// and llvm-cxxfilt print f<int>. The result has no control characters.
//
// costly means that the name stays mangled because demangling would take more work than its
// length allows.
func AppendSource(dst []byte, raw string, full bool) (out []byte, costly bool) {
	from := len(dst)
	switch out, err := demangleIf(dst, raw, full); {
	case err == nil:
		dst = out
	case full && raw != "" && strings.IndexByte("_.?", raw[0]) < 0:
		dst = appendWithoutEmptyPacks(dst, raw)
	default:
		dst, costly = append(dst, raw...), err == ErrCostly
	}
	return dst[:from+printable(dst[from:])], costly
}

func demangleIf(dst []byte, raw string, full bool) ([]byte, error) {
	if !full {
		return dst, ErrNotMangled
	}
	return Append(dst, raw)
}

// appendWithoutEmptyPacks omits commas next to which an argument is missing.
func appendWithoutEmptyPacks(dst []byte, name string) []byte {
	from := len(dst)
	for {
		i := strings.Index(name, ", ")
		if i < 0 {
			return append(dst, name...)
		}
		dst, name = append(dst, name[:i]...), name[i+2:]
		if !lacksArgument(dst[from:], name) {
			dst = append(dst, ", "...)
		}
	}
}

// lacksArgument reports whether a comma follows "<", or precedes ">" or another comma. The < in
// an operator's name opens no arguments.
func lacksArgument(before []byte, behind string) bool {
	if strings.HasPrefix(behind, ">") || strings.HasPrefix(behind, ", ") {
		return true
	}
	before, open := bytes.CutSuffix(before, []byte("<"))
	return open && !bytes.HasSuffix(before, []byte("operator")) && !bytes.HasSuffix(before, []byte("operator<"))
}

// printable replaces, by '?', what would break a line of a symbol file, or could affect the
// terminal that it is shown on: C0 and C1 control characters and Unicode's two line separators.
// Other bytes stay, valid UTF-8 or not. It returns the length of the result.
func printable(name []byte) int {
	plain := text.Plain(name)
	return plain + replaceControls(name[plain:])
}

func replaceControls(name []byte) (n int) {
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRune(name[i:])
		switch {
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029':
			name[n] = '?'
			n++
		default:
			n += copy(name[n:], name[i:i+size])
		}
		i += size
	}
	return n
}
