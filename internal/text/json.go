package text

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// EscapeJSON returns a JSON document in which the characters that Printable replaces are written as
// \u escapes, so that a terminal shows them while a program reads the same strings. Those below
// U+0020 are already escaped, or between values; others occur only in strings.
func EscapeJSON(b []byte) []byte {
	var out []byte
	done := 0
	for i, n := 0, 0; i < len(b); i += n {
		if n = 1; b[i] < 0x7f {
			continue
		}
		var r rune
		r, n = utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 || strconv.IsPrint(r) && !Invisible(r) {
			continue
		}
		out = append(out, b[done:i]...)
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
		done = i + n
	}
	if out == nil {
		return b
	}
	return append(out, b[done:]...)
}
