package resolve

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/suppliers"
	"github.com/symtool/symtool/resolve"
)

// logFilter copies a log and replaces NAME+0xADDR by what is at the address, and
//
//	NAME + 0xADDR                      of systemd-coredump
//	(NAME+0xADDR) (BuildId: DIGITS)    of sanitizers, which may leave the id out
//	NAME(+0xADDR)                      of the C library's backtrace_symbols: what is in
//	NAME() [0xADDR], NAME[0xADDR]      the brackets, or would be
//
// Everything else, and what is unknown, stays as it is, byte for byte. What sanitizers
// and the C library print counts from where the linker put the file, which is the
// start of the module unless that is linked to a fixed address; other addresses count
// from the start of the module.
//
// A NAME is a run of bytes that may be in names. One with others in it, such as
// "Web Content", is found if it is one of names; the longest that is before
// +0xADDR counts.
type logFilter struct {
	find     func(p *place, at *resolve.Location) (rva uint64, found bool)
	names    func() []string // names of the modules whose symbols are at hand
	noInline bool

	odd    []string // names with bytes that isNameByte rejects, the longest first
	listed bool     // odd has been filled in

	at  resolve.Location
	out []byte

	replaced int      // number of places
	missed   []string // names of some places that were not replaced, without repetition
}

// longestName limits the length of a place in a log.
const longestName = 4 << 10

// longestPlace is that plus room for the address and a build-id.
const longestPlace = longestName + 256

// filterBuffer is how much of a log is read at once.
const filterBuffer = 64 << 10

// run copies until the end of in. It writes whole lines whenever there is
// nothing more to read for now.
func (f *logFilter) run(ctx context.Context, in io.Reader, out *cli.Stdout) error {
	buf := make([]byte, filterBuffer)
	have, from := 0, 0 // bytes in buf, and how many of these have been written
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
			return cli.OutputError(out.Name(), writeErr)
		}
		if err == io.EOF {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// The bytes before the rest determine whether a name begins with it.
		context := max(cut-longestPlace, 0)
		have, from = copy(buf, buf[context:have]), cut-context
	}
}

// wholePart returns how much of text can be written without splitting a place: whole lines, or
// all but the end of a long one.
func wholePart(text []byte) int {
	start := bytes.LastIndexByte(text, '\n') + 1
	return max(start, len(text)-longestPlace)
}

// nameStart returns the start of the run of name bytes before end, but at least
// from.
func nameStart(text []byte, from, end int) int {
	for end > from && isNameByte(text[end-1]) {
		end--
	}
	return end
}

// isNameByte reports whether a byte may be in NAME+0xADDR: all but blanks and what logs put around
// a place.
func isNameByte(c byte) bool {
	return c > ' ' && c != 0x7f && bytes.IndexByte([]byte(`"'()[]{}<>,;=|:`+"`"), c) < 0
}

// replace appends text[from:cut] with its places replaced. A place may extend beyond cut: end is
// where the appended part ends.
func (f *logFilter) replace(dst, text []byte, from, cut int) (_ []byte, end int) {
	for pos := from; from < cut; {
		n := bytes.IndexAny(text[pos:], "+[")
		if n < 0 {
			break
		}
		p := f.placeAt(text, pos+n)
		if p.start >= cut && p.name != "" {
			break
		}
		if pos = p.end; p.name == "" || p.start < from {
			continue
		}
		rva, found := f.find(&p, &f.at)
		if !found {
			f.miss(p.name)
			continue
		}
		f.replaced++
		dst = append(dst, text[from:p.start]...)
		dst = append(dst, p.before...)
		dst = f.appendPlace(dst, rva)
		dst = append(dst, p.after...)
		from = p.end
	}
	end = max(from, cut)
	return append(dst, text[from:end]...), end
}

// place is a place in a text; name is "" if there is none.
type place struct {
	start, end int // what is replaced; or end is how far was searched
	name       string
	addr       uint64
	form       placeForm
	build      string // build-id in lower-case hexadecimal digits, or ""

	before, after string // text around the answer
}

// placeForm is what an address counts from.
type placeForm uint8

const (
	countsFromStart placeForm = iota // the start of the module
	countsFromLink                   // where the linker put the file, if that is at a fixed address
	absolute                         // 0: the file is linked to a fixed address
)

// placeAt reads the place whose plus, or bracket, is at mark.
func (f *logFilter) placeAt(text []byte, mark int) place {
	if text[mark] == '[' {
		return f.absoluteAt(text, mark)
	}
	const blank, bracket = ' ', '('
	digits, nameEnd := mark+1, mark
	before := byte(0)
	if mark > 0 {
		before = text[mark-1]
	}
	if before == blank && digits < len(text) && text[digits] == blank {
		digits++
		nameEnd--
	} else if before == bracket {
		nameEnd--
	}
	p := place{end: mark + 1}
	if !p.readAddress(text, digits) || p.end < len(text) && isNameByte(text[p.end]) && text[p.end] != '.' {
		return p
	}
	p.start, p.name = f.nameBefore(text[:nameEnd])
	switch {
	case before == bracket:
		p.start, p.form = mark, countsFromLink
	case before != blank && p.end < len(text) && text[p.end] == ')':
		p.inBrackets(text, mark)
	}
	return p
}

// inBrackets finds the bracket around the place whose plus is at mark: a path after the
// bracket may contain any bytes.
func (p *place) inBrackets(text []byte, mark int) {
	head, cut := tail(text[:mark], longestName)
	line := bytes.LastIndexByte(head, '\n') + 1
	if i := bytes.LastIndex(head[line:], []byte("(/")); i >= 0 {
		p.start = cut + line + i + 1
		p.name = string(text[p.start:mark])
	}
	if p.start > 0 && text[p.start-1] == '(' {
		p.form, p.build = countsFromLink, buildID(text[p.end+1:])
	}
}

// absoluteAt reads NAME() [0xADDR] or NAME[0xADDR], whose [ is at mark. The address
// stays.
func (f *logFilter) absoluteAt(text []byte, mark int) place {
	p := place{end: mark + 1}
	if !p.readAddress(text, mark+1) || p.end == len(text) || text[p.end] != ']' {
		return p
	}
	p.form, p.start, p.after = absolute, mark, string(text[mark:p.end])
	if head, empty := bytes.CutSuffix(text[:mark], []byte("() ")); empty {
		_, p.name = f.nameBefore(head)
		p.start, p.after = mark-len(") "), ") "+p.after
		return p
	}
	_, p.name = f.nameBefore(text[:mark])
	p.before, p.after = "(", ")"+p.after
	return p
}

// readAddress reads 0x and the digits of an address; it sets end to how far it searched.
func (p *place) readAddress(text []byte, digits int) bool {
	if !bytes.HasPrefix(text[digits:], []byte("0x")) {
		return false
	}
	digits += len("0x")
	p.end = digits
	for p.end < len(text) && isHexDigit(text[p.end]) {
		p.end++
	}
	addr, err := strconv.ParseUint(string(text[digits:p.end]), 16, 64)
	p.addr = addr
	return err == nil
}

// buildID reads the digits of (BuildId: DIGITS), which sanitizers write after a place.
func buildID(text []byte) string {
	digits, there := bytes.CutPrefix(text, []byte(" (BuildId: "))
	if !there {
		return ""
	}
	n := 0
	for n < len(digits) && isHexDigit(digits[n]) {
		n++
	}
	if n%2 != 0 || n == len(digits) || digits[n] != ')' {
		return ""
	}
	return strings.ToLower(string(digits[:n]))
}

// nameBefore returns the name at the end of text, including folders, and its start, or "" if
// there is none.
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

// endsWith returns the start of name at the end of text, possibly followed by an id as in NAME/ID,
// or -1.
func endsWith(text []byte, name string) int {
	last, cut := tail(text, longestID+1)
	if i := bytes.LastIndexAny(last, `/\`); i >= 0 && suppliers.IsID(string(last[i+1:])) {
		text = text[:cut+i]
	}
	if !bytes.HasSuffix(text, []byte(name)) {
		return -1
	}
	return len(text) - len(name)
}

// longestID bounds the search for an id; those of MODULE records have 33 to 40 digits.
const longestID = 64

// tail returns the last bytes of text, and the number of bytes before them.
func tail(text []byte, most int) ([]byte, int) {
	cut := max(len(text)-most, 0)
	return text[cut:], cut
}

// oddNames returns the names that contain bytes that isNameByte rejects.
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
	slices.SortFunc(f.odd, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	f.odd = slices.Compact(f.odd)
	return f.odd
}

func isHexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// listedMisses is how many names the message lists if nothing was replaced.
const listedMisses = 4

func (f *logFilter) miss(name string) {
	if len(f.missed) < listedMisses && !slices.Contains(f.missed, name) {
		f.missed = append(f.missed, name)
	}
}

// appendPlace appends "g at t.c:2, inlined by main at t.c:3".
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
