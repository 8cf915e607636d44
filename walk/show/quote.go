package show

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/text"
)

// quote returns text in quotation marks. Characters that could affect a terminal, that are
// invisible or that are not UTF-8 are escaped.
func quote(s []byte) string {
	var b strings.Builder
	b.WriteByte('"')
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n == 1 {
			b.WriteString(`\x` + hexByte(s[0]))
		} else {
			b.WriteString(escaped(r, '"'))
		}
		s = s[n:]
	}
	b.WriteByte('"')
	return b.String()
}

const hexDigits = "0123456789abcdef"

func hexByte(c byte) string { return string([]byte{hexDigits[c>>4], hexDigits[c&15]}) }

// escaped returns a rune as it appears between quotation marks.
func escaped(r rune, mark rune) string {
	if r == mark || r == '\\' {
		return `\` + string(r)
	}
	if strconv.IsPrint(r) && !text.Invisible(r) {
		return string(r)
	}
	q := strconv.QuoteRuneToASCII(r)
	return q[1 : len(q)-1]
}

// character returns the character with a code, in single quotation marks, or "" if there
// is none.
func character(code uint64, size int) string {
	r := rune(code)
	switch {
	case code > utf8.MaxRune || size > 1 && !utf8.ValidRune(r):
		return ""
	case size == 1 && code >= utf8.RuneSelf:
		return `'\x` + hexByte(byte(code)) + "'"
	}
	return "'" + escaped(r, '\'') + "'"
}

// runes converts characters of 2 or 4 bytes to UTF-8. Invalid ones become U+FFFD.
func runes(codes []uint64) []byte {
	var b []byte
	for _, c := range codes {
		if c > utf8.MaxRune {
			c = utf8.RuneError
		}
		b = utf8.AppendRune(b, rune(c))
	}
	return b
}
