package text

import (
	"strconv"
	"strings"
)

// Count returns a number, which is not negative, with its noun: "1 file", "2 files", "3 addresses".
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

// Base returns the last part of a path of any system: what follows its last slash or backslash.
func Base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
