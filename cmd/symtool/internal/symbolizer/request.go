package symbolizer

import (
	"strconv"
	"strings"
)

// requestKind is the kind of a request.
type requestKind uint8

const (
	codeRequest requestKind = iota
	dataRequest
	frameRequest
)

// request is a request, a line of input.
type request struct {
	kind  requestKind
	file  string // as printed in the answer
	build string // build-id of the file in lower-case hexadecimal digits, instead of a path; or ""
	ok    bool   // it has an address
	addr  uint64
	place uint64 // the address in the file

	// Instead of an address: a linkage name, and the distance from it.
	symbol string
	offset uint64
}

// kinds lists the words with which a request may begin, each followed by a space.
var kinds = []struct {
	word string
	kind requestKind
}{{"CODE ", codeRequest}, {"DATA ", dataRequest}, {"FRAME ", frameRequest}}

// parse parses a request: [CODE|DATA|FRAME] [FILE] ADDR. FILE is omitted if the command line names a binary. It may be
// in quotes, or be BUILDID:DIGITS. The other programs accept no FILE, and their addresses are always hexadecimal.
func (s *Symbolizer) parse(line string) *request {
	r := &request{file: s.Binary}
	if s.BuildID != "" {
		r.fileOf(buildPrefix + s.BuildID)
	}
	text, base := line, 0
	if s.Plain || !s.Style.ofLLVM() {
		base = 16
	}
	if s.Style.ofLLVM() {
		for _, k := range kinds {
			if rest, ok := strings.CutPrefix(text, k.word); ok {
				text, r.kind = rest, k.kind
				break
			}
		}
		if r.file == "" {
			var name string
			name, text = word(text)
			r.fileOf(name)
		}
	}
	if s.Style == Addr2line {
		r.gnuPlace(strings.TrimLeft(text, spaces))
		return r
	}
	text, rest := word(text)
	if s.Style == Elfutils {
		text = strings.TrimPrefix(text, "+")
	}
	if base == 16 && strings.HasPrefix(strings.ToLower(text), "0x") {
		text = text[2:]
	}
	addr, err := strconv.ParseUint(text, base, 64)
	r.ok = err == nil && !strings.Contains(text, "_")
	r.addr, r.place = addr, addr-s.Adjust
	if !r.ok && strings.TrimSpace(rest) == "" {
		r.namePlace(text)
	}
	return r
}

// IsBuildID reports whether text consists of the digits of a build-id.
func IsBuildID(text string) bool {
	return len(text) > 2 && len(text)%2 == 0 && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

// buildPrefix precedes a build-id that stands for a file in a request.
const buildPrefix = "BUILDID:"

// fileOf sets the file of a request from name: a path, or a build-id.
func (r *request) fileOf(name string) {
	if id, ok := strings.CutPrefix(name, buildPrefix); ok && IsBuildID(id) {
		r.build, r.file = strings.ToLower(id), strings.ToUpper(id)
		return
	}
	r.file = strings.TrimPrefix(name, "FILE:")
}

// gnuPlace parses an address, SYMBOL or SYMBOL+OFFSET as binutils does: it ignores what follows the digits of an
// address, and takes a word that begins with a letter from A to F for a symbol only if an offset follows.
func (r *request) gnuPlace(text string) {
	const digits = "0123456789abcdefABCDEF"
	if text == "" || text[0] <= '9' && text[0] >= '0' || strings.IndexByte(digits, text[0]) >= 0 && !strings.Contains(text, "+") {
		if len(text) > 1 && strings.EqualFold(text[:2], "0x") {
			text = text[2:]
		}
		text = text[:len(text)-len(strings.TrimLeft(text, digits))]
		addr, err := strconv.ParseUint(text, 16, 64)
		r.ok, r.addr, r.place = err == nil, addr, addr
		return
	}
	end := strings.IndexAny(text, "+"+spaces)
	if end < 0 {
		end = len(text)
	}
	r.symbol = text[:end]
	if digits, ok := strings.CutPrefix(strings.TrimLeft(text[end:], spaces), "+"); ok {
		first, _ := word(digits)
		r.offset, _ = strconv.ParseUint(first, 0, 64) // binutils takes an invalid offset for 0
	}
}

// namePlace parses SYMBOL or SYMBOL+OFFSET.
func (r *request) namePlace(text string) {
	name, digits, plus := strings.Cut(text, "+")
	offset, err := strconv.ParseUint(digits, 0, 64)
	if name == "" || plus && err != nil || '0' <= name[0] && name[0] <= '9' {
		return
	}
	r.symbol, r.offset = name, offset
}

// spaces lists the characters that isspace accepts.
const spaces = " \t\n\v\f\r"

// word returns the first word of text, which may be in quotes, and the rest.
func word(text string) (first, rest string) {
	text = strings.TrimLeft(text, spaces)
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		first, rest, _ = strings.Cut(text[1:], text[:1])
		return first, rest
	}
	i := strings.IndexAny(text, spaces)
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i:]
}
