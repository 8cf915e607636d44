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

// Filter copies a log and replaces places of code. What is unknown, and everything else, stays as it is, byte for
// byte.
//
// Places are found in two ways: forms recognize lines of certain programs, and scan finds a NAME and an address
// anywhere, also in lines of any length.
type Filter struct {
	// Answer appends what is at a place, and reports whether that is known.
	Answer func(dst []byte, p *Place) ([]byte, bool)
	// Frames returns the functions at a place, innermost first, unless they are unknown.
	Frames func(p *Place) ([]Frame, bool)
	// Names returns the names of the modules whose symbols are at hand.
	Names func() []string
	// Maps says where modules are in the process whose addresses the log has. It may be nil.
	Maps *Maps
	// Markup replaces LLVM's symbolizer markup. It may be nil.
	Markup *markup.Filter

	Replaced int      // number of places
	Missed   []string // names of some places that were not replaced, without repetition

	BadReport bool // what follows the first line of a crash report (.ips) is none, or does not end

	odd    []string // names with bytes that isNameByte rejects, the longest first
	known  map[string]bool
	listed bool // odd and known have been filled in
	perf   perfMaps
	out    []byte
	place  Place // that is being read

	coredump coredumpIDs
	reports  *reports
}

// Place is a place of code in a log.
type Place struct {
	Name   string // of the module; "" if the log does not say
	Build  string // build-id in lower-case hexadecimal digits, or ""
	Addr   uint64
	Counts Counting

	Symbol string // that Addr counts from, with AfterSymbol; for other Counts the log may have it, too
	After  uint64 // Addr's distance from Symbol then
	Size   uint64 // of the symbol; 0 if it is unknown
	Kernel bool   // Name is that of a kernel module; the kernel itself has none

	Gone bool // the module was deleted or replaced: only Build says what it was

	Caller bool // the code is the call that is before Addr

	// Sure means that Name is certainly a module, not a word that looks like one.
	Sure bool

	start, end    int    // what is replaced; or end is how far was searched
	before, after string // text around the answer
}

// Counting is what an address counts from.
type Counting uint8

// The ways to count.
const (
	FromStart   Counting = iota // the start of the module
	FromLink                    // where the linker put the file, if that is at a fixed address
	Absolute                    // 0: the file is linked to a fixed address
	FromFile                    // the start of the file: it is an offset in it
	FromCode                    // the start of the first mapping with code
	AfterSymbol                 // a symbol
)

// longestName limits the length of a place in a log.
const longestName = 4 << 10

// longestPlace is that plus room for the address and a build-id. Lines of programs that forms know are not longer.
const longestPlace = longestName + 256

// filterBuffer is how much of a log is read at once.
const filterBuffer = 64 << 10

// Run copies until the end of in. It writes whole lines whenever there is
// nothing more to read for now.
func (f *Filter) Run(ctx context.Context, in io.Reader, out *cli.Stdout) error {
	in, err := f.jsonReports(in, out)
	if err != nil {
		return err
	}
	f.reports = &reports{in: in, lineStart: true}
	in = f.reports
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

// replace appends text[from:cut] with its places replaced, line by line. A place in a long line may extend beyond
// cut: end is where the appended part ends.
func (f *Filter) replace(dst, text []byte, from, cut int) (_ []byte, end int) {
	if f.Maps == nil && !f.Markup.Open() && !hasMarks(text[from:]) {
		return append(dst, text[from:cut]...), cut // as nearly all of a log: where lines end does not matter
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
		if _, ok := parseMapping(string(line)); ok { // of the report that Maps is from
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

// scan appends text[from:cut] with what placeAt finds replaced.
func (f *Filter) scan(dst, text []byte, from, cut int) (_ []byte, end int) {
	searched := text // a place in the part of a line may extend into the next part
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

// answer appends the text before the filter's place and what is there, or nothing if that is unknown.
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

// listedMisses is how many names the message lists if nothing was replaced.
const listedMisses = 4

// Miss notes a module whose places were not replaced.
func (f *Filter) Miss(name string) {
	if name != "" && len(f.Missed) < listedMisses && !slices.Contains(f.Missed, name) {
		f.Missed = append(f.Missed, name)
	}
}
