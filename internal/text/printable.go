// Package text formats names and counts for messages, escapes characters that could affect a
// terminal, and removes the marks of copies from functions' names.
package text

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// Printable replaces control characters, direction marks, other invisible characters and invalid
// UTF-8 with Go's escapes. Everything else is unchanged, including backslashes.
func Printable(s string) string {
	if IsPrintable(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case strconv.IsPrint(r) && !Invisible(r):
			b.WriteString(s[:n])
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// IsPrintable reports whether Printable leaves s unchanged.
func IsPrintable(s string) bool {
	return allPrint(s[PlainString(s):])
}

func allPrint(s string) bool {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return false
			}
		}
		if !strconv.IsPrint(r) || Invisible(r) {
			return false
		}
	}
	return true
}

// Invisible reports whether r is a direction mark, a line separator, or another rune without a
// glyph. Joiners and variation selectors may follow a letter in words and emojis, but have no
// place in a symbol.
func Invisible(r rune) bool {
	return unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || r == '\u3164' || r == '\uffa0' ||
		0x115f <= r && r <= 0x1160 || 0xfe00 <= r && r <= 0xfe0f || 0xe0000 <= r && r <= 0xe0fff
}

// Count returns n, which must not be negative, with its noun: "1 file", "2 files", "3 addresses".
func Count[N int | int64 | uint64 | uint32](n N, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return strconv.FormatUint(uint64(n), 10) + " " + noun
}

// Base returns the last element of a path of any system: what follows the last slash or backslash.
func Base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// Plain returns the number of bytes at the start of name that are ASCII and not control characters:
// usually all. It examines eight at a time, as a program has a hundred megabytes of names, which
// are examined when they are made and when they are written.
func Plain(name []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; len(name)-i >= 8; i += 8 {
		w := binary.LittleEndian.Uint64(name[i:])
		// The three terms find bytes from 0x80 on, 0x7f, and bytes below 0x20. If a carry makes a
		// byte look like one of these, the byte below it is one.
		if (w|(w+ones)|(w-' '*ones)&^w)&high != 0 {
			break
		}
	}
	for ; i < len(name); i++ {
		if name[i] < ' ' || name[i] > '~' {
			return i
		}
	}
	return i
}

// PlainString is like [Plain], for a string.
func PlainString(name string) int { return Plain(unsafe.Slice(unsafe.StringData(name), len(name))) }
