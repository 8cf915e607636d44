package symfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/symtool/symtool/internal/bin"
)

// MaxLine is the longest line that is read, in bytes. The longest known lines
// are demangled names of some hundred kilobytes and INLINE records with some
// thousand ranges. A longer line is damage; it is skipped without being kept in
// memory.
const MaxLine = 16 << 20

// defaultMaxProblems is the number of problems that a tolerant reader keeps: more
// than anyone reads, in little memory. Further ones are only counted.
const defaultMaxProblems = 1000

// bufferSize is how much a Reader reads at once.
const bufferSize = 256 << 10

// ReadOptions control how a symbol file is read.
type ReadOptions struct {
	File        string // name used in messages
	Tolerant    bool   // continue after bad records, and report them
	MaxProblems int    // number of problems kept; 0 means 1000
	Plain       bool   // the text is a piece of a file: not compressed, without a byte order mark

	// Grouped makes a Reader report and leave out records whose owner was not read. With Orphans, it
	// reports them but also returns them.
	Grouped, Orphans bool
	// Outline makes a Reader skip the records that belong to FUNCs and STACK CFI INITs without
	// parsing them: their extents are known, so they can be read later with Reset. It still
	// returns the first INLINE of each form, and records of unusual form. Report.Layout does
	// not cover skipped records.
	Outline bool
}

// Report describes what a Reader came across.
type Report struct {
	Problems    []Problem // each holds a *SyntaxError, or the error that ended damaged compressed data
	Dropped     int       // number of problems not in Problems
	Ownerless   int       // how many of Problems and Dropped are sound records whose owner was not read
	Compression string    // "gzip", "zstd" or ""
	Lines       int       // lines read
	Bytes       int64     // bytes of text read, after decompression
	Layout      Layout    // layout of the text
	Cut         error     // the error for a truncated last line; also in Problems, or dropped
	Digest      bool      // the text has a digest: INFO DIGEST, which Next checks but does not return
	BadDigest   error     // the first error of the digest; also in Problems, or dropped
	Damage      error     // the error of damaged compressed data, which ended the text; also in Problems, or dropped
}

// Reader reads records one after another, with the place and the owner of each.
type Reader struct {
	opts   ReadOptions
	in     io.Reader
	src    *textSource // nil before the first read
	module *cursor     // the module that is read instead of a text; nil for a text

	// buf[pos:end] is unread. buf[end] is '\n', so that fastLine need not
	// check for the end.
	buf      []byte
	pos, end int
	eof      bool
	err      error // why the text ended; io.EOF after its last line

	rec    Record
	at     int // start of rec's line in buf
	report Report
	used   int64 // bytes of text before buf[0]
	lost   [KindCFI + 1]int
	groups groups
	digest digest

	oldForm, newForm bool // with Outline: forms of INLINE returned so far
}

// NewReader returns a Reader of the symbol file r, which may be compressed with
// gzip or zstd.
func NewReader(r io.Reader, opts ReadOptions) *Reader {
	if opts.MaxProblems <= 0 {
		opts.MaxProblems = defaultMaxProblems
	}
	rd := &Reader{opts: opts, in: r, buf: []byte{'\n'}, groups: newGroups()}
	rd.rec.file = opts.File
	return rd
}

// Reset makes the Reader read another text, as a new Reader would. It keeps its
// buffer.
func (r *Reader) Reset(in io.Reader) {
	r.reset(r.buf)
	r.buf[0] = '\n'
	r.in = in
}

// ResetText is like Reset, for text in memory, which it does not copy, and with Plain set.
// The Reader may write past the end of text.
func (r *Reader) ResetText(text []byte) {
	r.reset(append(text, '\n'))
	r.end, r.eof = len(text), true
}

func (r *Reader) reset(buf []byte) {
	*r = Reader{opts: r.opts, buf: buf, rec: Record{file: r.opts.File}, groups: newGroups()}
}

// Next reads the next record, which is valid until the following call. At the
// end it returns io.EOF. A strict reader returns a *SyntaxError for the first
// bad record; a tolerant one reports it as a problem and continues. If a
// record's only fault is an empty name, the tolerant reader still returns it.
//
// With Grouped, Next reports and leaves out records whose owner was not read.
func (r *Reader) Next() (*Record, error) {
	for {
		rec, bad, err := r.next()
		if err == io.EOF {
			if bad := r.endDigest(); bad != nil {
				err = bad
			}
		}
		if err != nil {
			r.groups.end(r)
			return nil, err
		}
		if bad != nil {
			if err := r.lose(rec != nil, bad); err != nil {
				return nil, err
			}
		}
		if rec == nil {
			continue
		}
		if g := &r.groups; rec.Kind == KindLine { // assign, inlined for most records
			rec.Owner, rec.Apart = g.fn.owner, g.apart
			g.fn.end = r.Offset()
		} else {
			g.assign(r, rec)
		}
		if rec.Owner == OwnerRead || !r.opts.Grouped {
			return rec, nil
		}
		if err := r.groups.orphan(r, rec); err != nil {
			return nil, err
		}
		if r.opts.Orphans {
			return rec, nil
		}
	}
}

// lose reports a bad record.
func (r *Reader) lose(usable bool, bad *SyntaxError) error {
	if usable || bad == r.digest.bad {
		return r.problem(bad, "")
	}
	r.lost[r.rec.Kind]++
	return r.groups.lose(r, r.rec.Kind, bad)
}

// Lost returns the number of bad records of kind k that Next skipped.
func (r *Reader) Lost(k Kind) int { return r.lost[k] }

// Offset returns the offset in the text, after decompression, of the end of the last
// record read. The next record begins there or later.
func (r *Reader) Offset() int64 { return r.used + int64(r.pos) }

// Extent returns the extent of the last record read, including the end of its line.
func (r *Reader) Extent() Extent { return Extent{r.used + int64(r.at), r.Offset()} }

// Ended returns the extent of the last FUNC or STACK CFI INIT (as kind says) that has
// ended, from its line to the end of the last record that belongs to it. The next such
// record, good or bad, ends it, and so does the end of the text.
func (r *Reader) Ended(kind Kind) Extent {
	if kind == KindCFIInit {
		return r.groups.block.was
	}
	return r.groups.fn.was
}

// Report returns what the Reader has come across so far.
func (r *Reader) Report() Report {
	if r.module == nil {
		r.report.Bytes = r.Offset()
	}
	return r.report
}

// problem makes err the result of a strict reader, or adds it to a tolerant
// one's problems.
func (r *Reader) problem(err error, lost string) error {
	if !r.opts.Tolerant {
		r.err = err
		return err
	}
	if r.full() {
		r.report.Dropped++
		return nil
	}
	r.report.Problems = append(r.report.Problems, Problem{Lost: lost, Err: err})
	return nil
}

// full reports whether further problems are only counted.
func (r *Reader) full() bool { return len(r.report.Problems) >= r.opts.MaxProblems }

// quiet reports whether a problem would only be counted, so that it needs no message.
func (r *Reader) quiet() bool { return r.opts.Tolerant && r.full() }

// next reads a record and returns it, a *SyntaxError, or both if the record is
// usable in spite of the error. r.rec.Kind is set even if no record is
// returned.
func (r *Reader) next() (*Record, *SyntaxError, error) {
	if r.module != nil {
		return r.module.next(r)
	}
	layout := &r.report.Layout
	blank := false
	if r.digest.ended {
		return r.behindDigest()
	}
	if r.opts.Outline {
		r.skipOwned()
	}
	for {
		if r.fastLine() || r.fastInline() {
			if blank {
				layout.Split.add(r.rec.line)
			}
			return &r.rec, nil, nil
		}
		text, bad, err := r.line()
		if err != nil {
			return nil, nil, err
		}
		r.rec.line = r.report.Lines
		if bad != nil {
			r.rec.text = nil
			return nil, bad, nil
		}
		if n := len(text); n > 0 && text[n-1] == '\r' {
			text = trimCR(text)
			layout.endsInCR(r.rec.line, n-len(text))
		}
		if skipBlanks(text, 0) == len(text) {
			layout.Blank.add(r.rec.line)
			blank = true
			continue
		}
		rec, bad := r.parse(text)
		if rec != nil {
			if rec.Kind == KindInfo && string(rec.Key) == digestKey {
				if bad := r.digestRecord(rec); bad != nil {
					return nil, bad, nil
				}
				return r.next()
			}
			r.digest.see(rec)
			if blank && (rec.Kind == KindLine || rec.Kind == KindInline) {
				layout.Split.add(rec.line)
			}
			if rec.oddBlanks() {
				layout.OddBlanks.add(rec.line)
			}
		}
		return rec, bad, nil
	}
}

// line returns the next line without its '\n', or an error about the line as a whole.
func (r *Reader) line() ([]byte, *SyntaxError, error) {
	seen := 0
	for r.err == nil {
		if n := bytes.IndexByte(r.buf[r.pos+seen:r.end], '\n'); n >= 0 {
			text := r.buf[r.pos : r.pos+seen+n]
			r.at = r.pos
			r.pos += seen + n + 1
			r.report.Lines++
			if len(text) > MaxLine {
				return nil, r.tooLong(text), nil
			}
			return text, nil, nil
		}
		seen = r.end - r.pos
		if r.eof {
			if seen == 0 {
				r.err = io.EOF
				break
			}
			text := r.buf[r.pos:r.end]
			r.at, r.pos = r.pos, r.end
			r.report.Lines++
			return nil, r.cutOff(text), nil
		}
		if seen > MaxLine {
			r.report.Lines++
			return nil, r.tooLong(r.buf[r.pos:r.end]), r.skipLine()
		}
		r.fill()
	}
	return nil, nil, r.err
}

// cutOff reports an unterminated last line. A truncated record often reads as a different
// one: a shorter name, a smaller number, a rule with a register less.
func (r *Reader) cutOff(text []byte) *SyntaxError {
	bad := r.badLine(text, len(text), "the file ends inside this line: want a line feed")
	r.report.Cut = bad
	r.report.Layout.noEnd = true
	return bad
}

// skipLine skips the rest of a line.
func (r *Reader) skipLine() error {
	for {
		if n := bytes.IndexByte(r.buf[r.pos:r.end], '\n'); n >= 0 {
			r.pos += n + 1
			return nil
		}
		r.pos = r.end
		if r.eof {
			return nil
		}
		r.fill()
		if r.err != nil {
			return r.err
		}
	}
}

// fill reads more text into the buffer.
func (r *Reader) fill() {
	if r.src == nil && !r.start() {
		return
	}
	if r.pos > 0 {
		r.digest.feed(r.buf, r.pos)
		r.digest.from = 0
		copy(r.buf, r.buf[r.pos:r.end])
		r.used += int64(r.pos)
		r.end -= r.pos
		r.pos = 0
	}
	if r.end > len(r.buf)/2 {
		bigger := make([]byte, 2*len(r.buf))
		copy(bigger, r.buf[:r.end])
		r.buf = bigger
	}
	n, err := readSome(r.src, r.buf[r.end:len(r.buf)-1])
	r.end += n
	r.buf[r.end] = '\n'
	if err == io.EOF {
		r.eof = true
	} else if err != nil {
		r.fail(err)
	}
}

// maxEmptyReads is the number of consecutive reads without data after which reading fails.
const maxEmptyReads = 100

func readSome(r io.Reader, p []byte) (int, error) {
	for range maxEmptyReads {
		if n, err := r.Read(p); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// fail ends the text. Damaged compressed data costs a tolerant reader the rest
// of the text; an I/O error ends any reader.
func (r *Reader) fail(err error) {
	var damaged *errDamaged
	tolerable := errors.As(err, &damaged)
	e := &bin.Error{File: r.opts.File, Err: err}
	if r.report.Lines > 0 {
		e.Msg = fmt.Sprintf("after line %d", r.report.Lines)
	}
	err = e
	if tolerable && r.opts.Tolerant {
		r.report.Damage = err
		r.problem(err, "the rest of the file")
		err = io.EOF
	}
	r.err = err
}

// start opens the file and determines its encoding.
func (r *Reader) start() bool {
	if len(r.buf) < bufferSize {
		r.buf = make([]byte, bufferSize)
	}
	if r.opts.Plain {
		r.src = &textSource{text: r.in}
		return true
	}
	src, err := open(r.in)
	if src != nil {
		r.report.Compression = src.compression
	}
	if err != nil {
		r.fail(err)
		return false
	}
	r.src = src
	for r.end < utf16Probe && err == nil {
		var n int
		n, err = readSome(src, r.buf[r.end:len(r.buf)-1])
		r.end += n
	}
	r.buf[r.end] = '\n'
	bom, encoding := bomLength(r.buf[:r.end])
	if encoding != nil {
		r.err = &SyntaxError{File: r.opts.File, Line: 1, Col: 1, Msg: encoding.Error()}
		return false
	}
	r.pos, r.digest.from = bom, bom
	r.report.Layout.BOM = bom > 0
	if err == io.EOF {
		r.eof = true
	} else if err != nil {
		r.fail(err)
	}
	return false // records in the bytes read so far come first
}

// kindOf returns the kind of a record from its first words alone.
func kindOf(text []byte) Kind {
	for k, word := range kindNames {
		if len(word) > 0 && len(word) < len(text) && string(text[:len(word)]) == word && isBlank(text[len(word)]) {
			return Kind(k)
		}
	}
	if _, next := fastHex(append(text[:min(len(text), maxNumber):min(len(text), maxNumber)], '\n'), 0); next >= 0 {
		return KindLine
	}
	return KindNone
}

// maxNumber is the index up to which the first field of a line record, and the blank after
// it, may reach.
const maxNumber = 17

func (r *Reader) tooLong(text []byte) *SyntaxError {
	return r.badLine(text, MaxLine, fmt.Sprintf("line is over %d bytes long", MaxLine))
}

// badLine returns an error at byte at of the last line read, which is not parsed.
func (r *Reader) badLine(text []byte, at int, msg string) *SyntaxError {
	r.rec.Kind = kindOf(text)
	return &SyntaxError{
		File: r.opts.File, Line: r.report.Lines, Col: at + 1,
		Record: r.rec.Kind.String(), Msg: msg,
	}
}
