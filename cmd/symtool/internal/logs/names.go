package logs

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// nameStart returns the start of the run of name bytes before end, but at least
// from.
func nameStart(text []byte, from, end int) int {
	for end > from && isNameByte(text[end-1]) {
		end--
	}
	return end
}

// isNameByte reports whether a byte may be in the NAME of NAME+0xADDR: all bytes except blanks and
// the punctuation that logs put around a place.
func isNameByte(c byte) bool {
	return c > ' ' && c != 0x7f && bytes.IndexByte([]byte(`"'()[]{}<>,;=|:`+"`"), c) < 0
}

// nameBefore returns the name at the end of text, including folders, and its start, or "" if
// there is none.
func (f *Filter) nameBefore(text []byte) (start int, name string) {
	text, cut := tail(text, longestName+1)
	for _, odd := range f.oddNames() {
		at := endsWith(text, odd)
		if at < 0 {
			continue
		}
		if at > 0 && (text[at-1] == '/' || text[at-1] == '\\') {
			at = nameStart(text, 0, at)
		} else if at > 0 && isNameByte(text[at-1]) {
			continue // the end of a longer name
		}
		return cut + at, string(text[at:])
	}
	at := nameStart(text, 0, len(text))
	if len(text)-at > longestName {
		return 0, ""
	}
	return cut + at, string(text[at:])
}

// endsWith returns the start of name at the end of text, or -1. An ID may follow the name, as in
// NAME/ID.
func endsWith(text []byte, name string) int {
	last, cut := tail(text, longestID+1)
	if i := bytes.LastIndexAny(last, `/\`); i >= 0 && isHex(last[i+1:]) {
		text = text[:cut+i]
	}
	if !bytes.HasSuffix(text, []byte(name)) {
		return -1
	}
	return len(text) - len(name)
}

// longestID limits the search for an ID. The IDs in MODULE records have 33 to 40 digits.
const longestID = 64

// tail returns the last bytes of text, and the number of bytes before them.
func tail(text []byte, most int) ([]byte, int) {
	cut := max(len(text)-most, 0)
	return text[cut:], cut
}

// oddNames returns the names that contain bytes that isNameByte rejects.
func (f *Filter) oddNames() []string {
	if f.listed || f.Names == nil {
		return f.odd
	}
	f.listed = true
	f.known = map[string]bool{}
	for _, name := range f.Names() {
		f.known[name] = true
		if text := []byte(name); len(name) <= longestName && !strings.Contains(name, "\n") && nameStart(text, 0, len(text)) > 0 {
			f.odd = append(f.odd, name)
		}
	}
	slices.SortFunc(f.odd, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	f.odd = slices.Compact(f.odd)
	return f.odd
}

// knows reports whether symbols are available for a module with the name.
func (f *Filter) knows(name string) bool {
	f.oddNames()
	return f.known[name]
}
