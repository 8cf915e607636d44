// Package logs finds places of code in logs of other programs, and replaces them by what is there.
package logs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/markup"
)

// Filter copies a log and replaces code locations in it. Unknown locations, and everything else, are copied byte
// for byte.
//
// Locations, called places, are found in two ways: forms recognise lines of particular programs, and scan finds a
// NAME and an address anywhere, even in lines of any length.
type Filter struct {
	// Answer appends a description of the code at a place, and reports whether it is known.
	Answer func(dst []byte, p *Place) ([]byte, bool)
	// Frames returns the functions at a place, innermost first, and reports whether they are known.
	Frames func(p *Place) ([]Frame, bool)
	// Names returns the names of the modules whose symbols are available.
	Names func() []string
	// Maps says where the modules are in the process whose addresses the log contains. It may be nil.
	Maps *Maps
	// Markup replaces LLVM's symbolizer markup. It may be nil.
	Markup *markup.Filter

	Replaced int      // number of places
	Missed   []string // names of some modules whose places were not replaced, without duplicates

	BadReport bool // the text after the first line of a crash report (.ips) is not a report, or does not end

	odd    []string // names with bytes that isNameByte rejects, longest first
	known  map[string]bool
	listed bool // odd and known have been filled in
	perf   perfMaps
	out    []byte
	place  Place // the place that is being read

	coredump coredumpIDs
	reports  *reports
}

// Place is a code location in a log.
type Place struct {
	Name   string // of the module; "" if the log does not name it
	Build  string // build-id in lower-case hexadecimal digits, or ""
	Addr   uint64
	Counts Counting

	Symbol string // symbol from which Addr counts, with AfterSymbol; for other Counts the log may also give it
	After  uint64 // distance of Addr from Symbol in the latter case
	Size   uint64 // of the symbol; 0 if it is unknown
	Kernel bool   // Name is the name of a kernel module; "" for the kernel itself

	Gone bool // the module was deleted or replaced: only Build identifies it

	Caller bool // Addr is a return address: the place is the call before it

	// Sure means that Name is certainly a module, not a word that looks like one.
	Sure bool

	start, end    int    // the text to replace; if there is none, the search ended at end
	before, after string // text around the answer
}

// Counting says what an address counts from.
type Counting uint8

// The origins from which addresses count.
const (
	FromStart   Counting = iota // start of the module
	FromLink                    // address to which the linker linked the file, if that is fixed
	Absolute                    // 0: the file is linked to a fixed address
	FromFile                    // start of the file: the address is a file offset
	FromCode                    // start of the first mapping with code
	AfterSymbol                 // start of a symbol
)

// longestName is the maximum length of a module's name in a log.
const longestName = 4 << 10

// longestPlace is the maximum length of a place: a name, an address and a build-id. A form does not match longer
// lines.
const longestPlace = longestName + 256

// filterBuffer is the number of bytes of a log that are read at once.
const filterBuffer = 64 << 10

// Run copies in to out until the end of in. It writes all whole lines before it waits for more input.
func (f *Filter) Run(ctx context.Context, in io.Reader, out *cli.Stdout) error {
	in, err := f.jsonReports(in, out)
	if err != nil {
		return err
	}
	f.reports = &reports{in: in, lineStart: true}
	in = f.reports
	buf := make([]byte, filterBuffer)
	have, from := 0, 0 // bytes in buf, and how many of these are already written
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
		if err == io.EOF {
			f.out = f.Markup.End(f.out)
		}
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
		// Keep some bytes before the rest: they determine whether a name begins in it.
		context := max(cut-longestPlace, 0)
		have, from = copy(buf, buf[context:have]), cut-context
	}
}

// wholePart returns the number of bytes of text that can be written without splitting a place: whole lines, or all
// but the end of a long line.
func wholePart(text []byte) int {
	start := bytes.LastIndexByte(text, '\n') + 1
	return max(start, len(text)-longestPlace)
}

// replace appends text[from:cut] with its places replaced, line by line. In a long line, a place may extend beyond
// cut, so replace returns the end of the appended part.
func (f *Filter) replace(dst, text []byte, from, cut int) (_ []byte, end int) {
	if f.Maps == nil && !f.Markup.Open() && !hasMarks(text[from:]) {
		return append(dst, text[from:cut]...), cut // true of nearly all of a log; the ends of lines do not matter
	}
	for from < cut {
		to := cut
		if n := bytes.IndexByte(text[from:cut], '\n'); n >= 0 {
			to = from + n + 1
		}
		dst, from = f.line(dst, text, from, to)
	}
	return dst, from
}

// line appends text[from:to], a line or a part of a long one.
func (f *Filter) line(dst, text []byte, from, to int) (_ []byte, end int) {
	whole := to-from <= longestPlace && (from == 0 || text[from-1] == '\n') && (text[to-1] == '\n' || to == len(text))
	if !whole {
		return f.scan(f.Markup.End(dst), text, from, to)
	}
	line := text[from:to]
	marks := marksIn(line)
	if marks&elements != 0 && f.Markup != nil && markup.In(line) {
		before := f.Markup.Answered
		dst = f.Markup.Line(dst, line)
		f.Replaced += f.Markup.Answered - before
		return dst, to
	}
	dst = f.Markup.End(dst)
	if marks == 0 && f.Maps == nil {
		return append(dst, line...), to
	}
	if f.Maps != nil {
		if _, ok := parseMapping(string(line)); ok { // a line of the report that Maps was read from
			return append(dst, line...), to
		}
	}
	before := f.Replaced
	for _, form := range forms {
		if !form.mayBeIn(line, marks) {
			continue
		}
		if dst = f.match(dst, line, form); f.Replaced > before {
			return dst, to
		}
	}
	start := len(dst)
	if dst, end = f.scan(dst, text, from, to); f.Replaced > before || f.Maps == nil {
		return dst, end
	}
	if dst = f.match(dst[:start], line, &rawAddress); f.Replaced > before {
		return dst, to
	}
	return append(dst, line...), to
}

// scan appends text[from:cut] with the places replaced that placeAt finds.
func (f *Filter) scan(dst, text []byte, from, cut int) (_ []byte, end int) {
	searched := text // a place in a part of a line may extend into the next part
	if text[cut-1] == '\n' {
		searched = text[:cut]
	}
	for pos := from; from < cut; {
		n := indexByLast(searched[pos:], number)
		if n < 0 {
			break
		}
		p := &f.place
		f.placeAt(text, pos+n)
		if p.start >= cut && p.Name != "" {
			break
		}
		if pos = p.end; p.Name == "" || p.start < from {
			continue
		}
		var found bool
		if dst, found = f.answer(dst, text[from:p.start]); found {
			from = p.end
		}
	}
	end = max(from, cut)
	return append(dst, text[from:end]...), end
}

// answer appends head and the answer for the filter's place. If the answer is unknown, it appends nothing.
func (f *Filter) answer(dst, head []byte) ([]byte, bool) {
	start, p := len(dst), &f.place
	dst = append(append(dst, head...), p.before...)
	dst, found := f.Answer(dst, p)
	if !found {
		f.Miss(p.Name)
		return dst[:start], false
	}
	f.Replaced++
	return append(dst, p.after...), true
}

// listedMisses is the maximum number of names in the message that nothing was replaced.
const listedMisses = 4

// Miss records a module whose places were not replaced.
func (f *Filter) Miss(name string) {
	if name != "" && len(f.Missed) < listedMisses && !slices.Contains(f.Missed, name) {
		f.Missed = append(f.Missed, name)
	}
}
