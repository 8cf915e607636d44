package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/sorting"
	"github.com/symtool/symtool/resolve"
)

// logFilter copies a log and replaces NAME+0xADDR by what is at the address, and
// "NAME + 0xADDR", which systemd-coredump writes. Of NAME(+0xADDR), which
// backtrace_symbols of the C library writes, what is in the brackets is replaced.
// Everything else, and what is not known, stays as it is, byte for byte.
//
// A NAME is a run of bytes that may be in names. One with others in it, such as
// "Web Content", is found if it is one of names; the longest that is in front of
// +0xADDR counts.
type logFilter struct {
	find     func(module moduleName, rva uint64, at *resolve.Location) (file string, found bool)
	names    func() []string // of the modules whose symbols are at hand
	noInline bool

	odd    []string // names with bytes that isNameByte refuses, the longest first
	listed bool     // odd is there

	at  resolve.Location
	out []byte
}

// longestName bounds what may be a place in a log.
const longestName = 4 << 10

// longestPlace has room for the address, too.
const longestPlace = longestName + 64

// filterBuffer is how much of a log is read at once.
const filterBuffer = 64 << 10

// run copies until the end of in. Whole lines go out when there is nothing more
// to read for now.
func (f *logFilter) run(ctx context.Context, in io.Reader, out *stdout) error {
	buf := make([]byte, filterBuffer)
	have, from := 0, 0 // bytes in buf; of these, how many are out already
	for {
		n, err := in.Read(buf[have:])
		have += n
		if err != nil && err != io.EOF {
			return fmt.Errorf("standard input: %w", err)
		}
		cut := have
		if err == nil {
			cut = max(wholePart(buf[:have]), from)
		}
		f.out, cut = f.replace(f.out[:0], buf[:have], from, cut)
		_, writeErr := out.Write(f.out)
		if writeErr == nil {
			writeErr = out.Flush()
		}
		if writeErr != nil {
			return outputError(out.Name(), writeErr)
		}
		if err == io.EOF {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// What is in front of the rest tells whether a name begins with it.
		context := max(cut-longestPlace, 0)
		have, from = copy(buf, buf[context:have]), cut-context
	}
}

// wholePart is how much of text has no place that goes on behind its end: whole
// lines, or all but the end of a long one.
func wholePart(text []byte) int {
	start := bytes.LastIndexByte(text, '\n') + 1
	return max(start, len(text)-longestPlace)
}

// nameStart returns where the run of bytes of names before end begins, but not
// before from.
func nameStart(text []byte, from, end int) int {
	for end > from && isNameByte(text[end-1]) {
		end--
	}
	return end
}

// isNameByte tells whether a byte may be in NAME+0xADDR: all but blanks and what
// logs put around a place.
func isNameByte(c byte) bool {
	return c > ' ' && c != 0x7f && bytes.IndexByte([]byte(`"'()[]{}<>,;=|:`+"`"), c) < 0
}

// replace appends text[from:cut] with its places replaced. One may go on behind
// cut: end is where what was appended ends.
func (f *logFilter) replace(dst, text []byte, from, cut int) (_ []byte, end int) {
	for pos := from; from < cut; {
		n := bytes.IndexByte(text[pos:], '+')
		if n < 0 {
			break
		}
		p := f.placeAt(text, pos+n)
		if p.start >= cut && p.name != "" {
			break
		}
		if pos = p.end; p.name == "" || p.start < from || !f.known(p.name, p.rva) {
			continue
		}
		dst = append(dst, text[from:p.start]...)
		dst = f.appendPlace(dst, p.rva)
		from = p.end
	}
	end = max(from, cut)
	return append(dst, text[from:end]...), end
}

// place is one in a text; name is "" if it is none.
type place struct {
	start, end int // what is replaced, or end behind what was looked at
	name       string
	rva        uint64
}

// placeAt reads the place whose plus is given.
func (f *logFilter) placeAt(text []byte, plus int) place {
	const blank, bracket = ' ', '('
	digits, nameEnd := plus+1, plus
	before := byte(0)
	if plus > 0 {
		before = text[plus-1]
	}
	if before == blank && digits < len(text) && text[digits] == blank {
		digits++
		nameEnd--
	} else if before == bracket {
		nameEnd--
	}
	if !bytes.HasPrefix(text[digits:], []byte("0x")) {
		return place{end: plus + 1}
	}
	digits += len("0x")
	p := place{end: digits}
	for p.end < len(text) && isHexDigit(text[p.end]) {
		p.end++
	}
	if p.end < len(text) && isNameByte(text[p.end]) && text[p.end] != '.' {
		return p
	}
	rva, err := strconv.ParseUint(string(text[digits:p.end]), 16, 64)
	if err != nil {
		return p
	}
	p.start, p.name = f.nameBefore(text[:nameEnd])
	p.rva = rva
	if before == bracket {
		p.start = plus
	}
	return p
}

// nameBefore returns the name at the end of text, with the folders in front of it,
// and where it starts; "" if there is none.
func (f *logFilter) nameBefore(text []byte) (start int, name string) {
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

// endsWith returns where the name starts that text ends with, which may have an id
// behind it: NAME/ID. It is -1 if there is another one.
func endsWith(text []byte, name string) int {
	last, cut := tail(text, longestID+1)
	if i := bytes.LastIndexAny(last, `/\`); i >= 0 && isID(string(last[i+1:])) {
		text = text[:cut+i]
	}
	if !bytes.HasSuffix(text, []byte(name)) {
		return -1
	}
	return len(text) - len(name)
}

// longestID bounds the search for an id; those of MODULE records have 33 to 40 digits.
const longestID = 64

// tail returns the last bytes of text, and how many are in front of them.
func tail(text []byte, most int) ([]byte, int) {
	cut := max(len(text)-most, 0)
	return text[cut:], cut
}

// oddNames lists the names that are no run of bytes of names.
func (f *logFilter) oddNames() []string {
	if f.listed || f.names == nil {
		return f.odd
	}
	f.listed = true
	for _, name := range f.names() {
		if text := []byte(name); len(name) <= longestName && !strings.Contains(name, "\n") && nameStart(text, 0, len(text)) > 0 {
			f.odd = append(f.odd, name)
		}
	}
	sorting.Func(f.odd, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	f.odd = slices.Compact(f.odd)
	return f.odd
}

func isHexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func (f *logFilter) known(name string, rva uint64) bool {
	_, found := f.find(parseModule(name), rva, &f.at)
	return found
}

// appendPlace writes "g at t.c:2, inlined by main at t.c:3".
func (f *logFilter) appendPlace(b []byte, rva uint64) []byte {
	frames := f.at.Frames
	if f.noInline {
		frames = withoutInlines(frames)
	}
	for i, frame := range frames {
		if i > 0 {
			b = append(b, ", inlined by "...)
		}
		b = appendBehind(appendFrame(b, &frame), &f.at, rva)
	}
	return b
}
