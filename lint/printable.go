package lint

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// printable replaces control characters, marks of direction, other characters that
// are not seen, and bytes that are not UTF-8 by Go's escapes. Everything else
// stays. Every text of a finding goes through it on the way to an output.
func printable(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = s[i] >= ' ' && s[i] < 0x7f
	}
	if clean {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case strconv.IsPrint(r) && !isInvisible(r):
			b.WriteString(s[:n])
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return b.String()
}
