package symjson

import (
	"encoding/base64"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// appendNumber appends a 64-bit number, as a string of 16 hexadecimal digits if
// a double might not hold it. Such strings sort like their numbers, and after
// all numbers in jq's order.
func appendNumber(dst []byte, v uint64) []byte {
	if v <= maxNumber {
		return strconv.AppendUint(dst, v, 10)
	}
	dst = append(dst, `"0x`...)
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, lowerHex[v>>shift&15])
	}
	return append(dst, '"')
}

const lowerHex = "0123456789abcdef"

// appendString appends s as a JSON string. What could affect a terminal or break a
// line is escaped, as in text.Printable: everything for which strconv.IsPrint is
// false. An invalid byte becomes U+FFFD, and valid is false.
func appendString(dst []byte, s string) (out []byte, valid bool) {
	dst = append(dst, '"')
	plain := 0 // s[plain:i] needs no escape
	valid = true
	for i := 0; i < len(s); {
		c := s[i]
		if ' ' <= c && c <= '~' && c != '"' && c != '\\' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		bad := r == utf8.RuneError && n == 1
		if c >= utf8.RuneSelf && !bad && strconv.IsPrint(r) {
			i += n
			continue
		}
		dst = append(dst, s[plain:i]...)
		if bad {
			dst, valid = append(dst, "\ufffd"...), false
		} else {
			dst = appendEscape(dst, r)
		}
		i += n
		plain = i
	}
	dst = append(dst, s[plain:]...)
	return append(dst, '"'), valid
}

func appendEscape(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return appendUnit(appendUnit(dst, high), low)
	}
	return appendUnit(dst, r)
}

func appendUnit(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', lowerHex[r>>12&15], lowerHex[r>>8&15], lowerHex[r>>4&15], lowerHex[r&15])
}

func appendBase64(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, []byte(s))
	return append(dst, '"')
}
