package rust

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

// Parameters of Punycode, RFC 3492, section 5.
const (
	punyBase        = 36
	punyTMin        = 1
	punyTMax        = 26
	punySkew        = 38
	punyDamp        = 700
	punyInitialBias = 72
	punyInitialN    = 0x80
)

// maxPunycode is how long an identifier in Punycode may be, in bytes: each character moves those
// after it.
const maxPunycode = 2048

// punycode decodes an identifier (RFC 3492, section 6.2) in which rustc replaced
// the '-' that ends the ASCII part by '_'. The result has no more
// characters than s. It refuses identifiers above maxPunycode.
func punycode(s string) (string, bool) {
	if len(s) > maxPunycode {
		return "", false
	}
	var out []rune
	if i := strings.LastIndexByte(s, '_'); i >= 0 {
		out, s = []rune(s[:i]), s[i+1:]
	}
	n, i, bias := punyInitialN, 0, punyInitialBias
	for first := true; len(s) > 0; first = false {
		delta, rest, ok := punyDelta(s, bias)
		if !ok || delta > math.MaxInt32-i {
			return "", false
		}
		s = rest
		i += delta
		size := len(out) + 1
		n, i = n+i/size, i%size
		if n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			return "", false
		}
		out = slices.Insert(out, i, rune(n))
		i++
		bias = punyAdapt(delta, size, first)
	}
	return string(out), true
}

// punyDelta reads a generalised variable-length integer.
func punyDelta(s string, bias int) (delta int, rest string, ok bool) {
	weight := 1
	for k := punyBase; len(s) > 0; k += punyBase {
		digit := punyDigit(s[0])
		s = s[1:]
		if digit < 0 || digit > (math.MaxInt32-delta)/weight {
			return 0, "", false
		}
		delta += digit * weight
		t := min(max(k-bias, punyTMin), punyTMax)
		if digit < t {
			return delta, s, true
		}
		if weight > math.MaxInt32/(punyBase-t) {
			return 0, "", false
		}
		weight *= punyBase - t
	}
	return 0, "", false
}

func punyDigit(c byte) int {
	switch {
	case 'a' <= c && c <= 'z':
		return int(c - 'a')
	case mangled.IsDigit(c):
		return int(c-'0') + 26
	}
	return -1
}

// punyAdapt adapts the bias (section 6.1).
func punyAdapt(delta, size int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / size
	k := 0
	for delta > (punyBase-punyTMin)*punyTMax/2 {
		delta /= punyBase - punyTMin
		k += punyBase
	}
	return k + (punyBase-punyTMin+1)*delta/(delta+punySkew)
}
