package symbolizer

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// longestSource is the maximum size in bytes of the source files that are read.
const longestSource = 16 << 20

// context returns the source lines around a line, with their numbers, or "" if there are none.
func (s *Symbolizer) context(path string, line uint32) string {
	if s.Context <= 0 || line == 0 || path == "" {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > longestSource {
		return "" // debug information may name a device file
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return numbered(text, int(line), s.Context)
}

// numbered returns n lines of text with their numbers, and marks one of them.
func numbered(text []byte, marked, n int) string {
	first := max(1, marked-n/2)
	last := first + n - 1
	// LLVM's width, the width of the last number except for powers of 10.
	width := len(strconv.Itoa(max(last-1, 1)))
	var b strings.Builder
	for at := 1; at <= last && len(text) > 0; at++ {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		if at < first {
			continue
		}
		mark := "  : "
		if at == marked {
			mark = " >: "
		}
		fmt.Fprintf(&b, "%*d%s%s\n", width, at, mark, line)
	}
	return b.String()
}
