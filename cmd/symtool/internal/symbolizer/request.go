package symbolizer

import (
	"strconv"
	"strings"
)

// requestKind is what a request asks for.
type requestKind uint8

const (
	codeRequest requestKind = iota
	dataRequest
	frameRequest
)

// request is a line of input.
type request struct {
	kind  requestKind
	file  string
	ok    bool // it has an address
	addr  uint64
	place uint64 // the address in the file
}

// kinds are the words at the beginning of a request, with the space after each.
var kinds = []struct {
	word string
	kind requestKind
}{{"CODE ", codeRequest}, {"DATA ", dataRequest}, {"FRAME ", frameRequest}}

// parse reads a request: [CODE|DATA|FRAME] [FILE] ADDR. FILE, which is missing if the command line names a
// binary, may be in quotes. addr2line takes an address alone, whose digits are always hexadecimal.
func (s *Symbolizer) parse(line string) *request {
	r := &request{file: s.Binary}
	text, base := line, 0
	if s.Style == Addr2line {
		base = 16
	} else {
		for _, k := range kinds {
			if rest, ok := strings.CutPrefix(text, k.word); ok {
				text, r.kind = rest, k.kind
				break
			}
		}
		if r.file == "" {
			r.file, text = word(text)
			r.file = strings.TrimPrefix(r.file, "FILE:")
		}
	}
	text, _ = word(text)
	if base == 16 {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "0x"), "0X")
	}
	addr, err := strconv.ParseUint(text, base, 64)
	r.ok = err == nil && !strings.Contains(text, "_")
	r.addr, r.place = addr, addr-s.Adjust
	return r
}

// word cuts the first word off, which may be in quotes.
func word(text string) (first, rest string) {
	text = strings.TrimLeft(text, " \t\n\v\f\r")
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		first, rest, _ = strings.Cut(text[1:], text[:1])
		return first, rest
	}
	i := strings.IndexAny(text, " \t\n\v\f\r")
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i:]
}
