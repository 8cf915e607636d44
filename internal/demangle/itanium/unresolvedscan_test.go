package itanium

import (
	"strings"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

// unresolvedPlaces returns where sr is in a mangled name, outside identifiers.
func unresolvedPlaces(raw string) (places []int) {
	if !strings.Contains(raw, "sr") {
		return nil
	}
	lambdas := strings.Contains(raw, "Ul")
	for i := len("_Z"); i < len(raw) && len(places) < maxUnresolved; {
		if strings.HasPrefix(raw[i:], "sr") && i+2 < len(raw) && strings.IndexByte("0123456789NSTD", raw[i+2]) >= 0 {
			places = append(places, i)
			i += len("sr")
			continue
		}
		i = nextToken(raw, i, lambdas)
	}
	return places
}

// nextToken returns the end of the token of a mangled name that begins at i. Only
// numbers need care: most of them say how long an identifier is.
func nextToken(raw string, i int, lambdas bool) int {
	switch c := raw[i]; {
	case mangled.IsDigit(c):
		return pastIdentifier(raw, i)
	case c == 'S' || c == 'T' || c == 'A':
		return pastNumber(raw, i+1)
	case c == 'L':
		return pastLiteral(raw, i)
	case c == '_' && i+1 < len(raw) && raw[i-1] != 'E' && raw[i-1] != '_':
		return pastDiscriminator(raw, i)
	case c == 'E' && lambdas:
		// The number of a lambda has one digit, or its name would be longer than any.
		if i+2 < len(raw) && mangled.IsDigit(raw[i+1]) && raw[i+2] == '_' {
			return i + 3
		}
	case c == 'f' && i+1 < len(raw) && (raw[i+1] == 'p' || raw[i+1] == 'L'):
		return pastNumber(raw, i+2)
	case c == 'U' && i+1 < len(raw) && raw[i+1] == 't':
		return pastNumber(raw, i+2)
	}
	return i + 1
}

// digitsEnd returns where the digits at i end.
func digitsEnd(raw string, i int) int {
	for i < len(raw) && mangled.IsDigit(raw[i]) {
		i++
	}
	return i
}

// pastIdentifier returns the end of the identifier whose length is at i, or, where the
// name is shorter, the end of the number.
func pastIdentifier(raw string, i int) int {
	n, end := 0, digitsEnd(raw, i)
	for ; i < end && n <= len(raw); i++ {
		n = 10*n + int(raw[i]-'0')
	}
	if n > len(raw)-end {
		return end
	}
	return end + n
}

// pastNumber returns the end of a number in base 36 and "_" at i, or i.
func pastNumber(raw string, i int) int {
	end := i
	for end < len(raw) && (mangled.IsDigit(raw[end]) || 'A' <= raw[end] && raw[end] <= 'Z') {
		end++
	}
	if end < len(raw) && raw[end] == '_' {
		return end + 1
	}
	return i
}

// pastLiteral returns the end of a literal of a builtin type (Lj10E) or of an
// enumeration (L4enum5E) at i, or of the L.
func pastLiteral(raw string, i int) int {
	at := i + 1
	switch {
	case at == len(raw):
		return at
	case 'a' <= raw[at] && raw[at] <= 'z':
		at++
	case mangled.IsDigit(raw[at]):
		at = pastIdentifier(raw, at)
	default:
		return at
	}
	end := at
	for end < len(raw) && (mangled.IsDigit(raw[end]) || 'a' <= raw[end] && raw[end] <= 'f' || raw[end] == 'n') {
		end++
	}
	if end > at && end < len(raw) && raw[end] == 'E' {
		return end + 1
	}
	return at
}

// pastDiscriminator returns the end of the number that separates local entities of the
// same name, _0 or __10_.
func pastDiscriminator(raw string, i int) int {
	if raw[i+1] != '_' {
		return min(i+2, len(raw))
	}
	end := digitsEnd(raw, i+2)
	if end > i+2 && end < len(raw) && raw[end] == '_' {
		return end + 1
	}
	return i + 1
}
