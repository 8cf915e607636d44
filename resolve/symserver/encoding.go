package symserver

import (
	"strconv"
	"strings"
)

// accepts reports whether a client accepts an encoding (RFC 9110, section 12.5.3). Without the
// field it may accept any; it then gets the text, as a client that knows no encodings does.
func accepts(field, encoding string) bool {
	any := false
	for item := range strings.SplitSeq(field, ",") {
		name, rest, _ := strings.Cut(item, ";")
		switch name = strings.TrimSpace(name); {
		case strings.EqualFold(name, encoding), encoding == "gzip" && strings.EqualFold(name, "x-gzip"):
			return weight(rest) > 0
		case name == "*":
			any = weight(rest) > 0
		}
	}
	return any
}

// weight returns the q of an item; 0 if it is not a number.
func weight(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(p), "=")
		if ok && strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				return 0
			}
			return q
		}
	}
	return 1
}

func hexOf(n uint64) string { return strconv.FormatUint(n, 16) }
func itoa64(n int64) string { return strconv.FormatInt(n, 10) }
