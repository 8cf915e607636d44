package symfmt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/symtool/symtool/internal/par"
)

// WriteOptions control how a module is written.
type WriteOptions struct {
	Jobs int // number of goroutines that format; GOMAXPROCS if not positive. The text does not depend on it

	// Passed, if non-nil, is called each time a few megabytes of bodies have been
	// processed: the memory that they are mapped to may be released.
	Passed func()

	CRLF  bool       // end lines with CR LF
	Names *LateNames // if non-nil, how the names of FUNC, PUBLIC and INLINE_ORIGIN are written
}

// Amounts of bodies and text after which Passed is called.
const (
	passedBodies = 16 << 10
	passedPieces = 64
)

// Write writes m as Breakpad text in canonical form and order (order.go). It
// does not modify m: records that are out of order are written in order.
// Numbers are written as they are (Canonicalize makes new ones); of two FILEs
// or INLINE_ORIGINs with the same number, the first is written. Names are
// cleaned by CleanName, so that every text can be read again.
//
// It holds a few chunks of text of about chunkText bytes for each job in memory.
func Write(w io.Writer, m *Module, opts WriteOptions) error {
	if opts.Passed == nil {
		opts.Passed = func() {}
	}
	out := w
	var digest *digestWriter
	if m.Digest {
		digest = &digestWriter{w, sha256.New()}
		out = digest
	}
	if opts.CRLF {
		out = crlfWriter{out}
	}
	err := writeRecords(out, m, opts)
	if err == nil && digest != nil {
		err = digest.end(opts.CRLF)
	}
	return err
}

// writeRecords writes everything but the digest.
func writeRecords(w io.Writer, m *Module, opts WriteOptions) error {
	t := newWriter(m, opts)
	var err error
	if late := opts.Names; late != nil {
		t.late = newLateOrigins(m)
		err = t.write(w, opts, t.chunks[:t.bodies]) // the numbers of the origins must be known for the rest
		late.Origins = len(t.late.known.hashes)
		t.chunks = t.chunks[t.bodies:]
	}
	if err == nil {
		err = t.write(w, opts, t.chunks)
	}
	if err != nil {
		return fmt.Errorf("symbols of %s: write after %d bytes: %w", CleanName(m.Name, noModule), t.written, err)
	}
	return nil
}

// write formats and writes chunks.
func (t *writer) write(w io.Writer, opts WriteOptions, chunks []chunk) error {
	return par.Ordered(context.Background(), opts.Jobs, len(chunks),
		func(_ context.Context, _, item int) (*formatted, error) {
			out := buffers.Get().(*formatted)
			out.origins = out.origins[:0]
			t.format(out, &chunks[item])
			return out, nil
		},
		func(item int, out *formatted) error {
			if item%passedPieces == 0 {
				opts.Passed()
			}
			text := out.text
			if len(out.origins) > 0 {
				text = t.late.number(out)
			}
			n, err := w.Write(text)
			t.written += int64(n)
			if err == nil && n < len(text) {
				err = io.ErrShortWrite
			}
			buffers.Put(out)
			return err
		})
}

// crlfWriter ends lines with CR LF.
type crlfWriter struct{ w io.Writer }

func (c crlfWriter) Write(p []byte) (int, error) {
	if _, err := c.w.Write(bytes.ReplaceAll(p, []byte{'\n'}, []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// formatted is the text of a chunk.
type formatted struct {
	text    []byte
	origins []lateOrigin // of a chunk whose origins have no numbers yet
}

// chunkText is roughly how much text is formatted at once: enough to amortize the
// hand-over, and little enough to stay in a processor's cache.
const chunkText = 256 << 10

var buffers = sync.Pool{New: func() any {
	return &formatted{text: make([]byte, 0, chunkText*5/4)}
}}

// writer is the state of one call of Write. It is not modified once the chunks are known.
type writer struct {
	canon
	chunks  []chunk
	bodies  int          // index of the first chunk after the origins
	names   *LateNames   // nil if names are written as they are
	late    *lateOrigins // likewise
	written int64        // number of bytes
}

// chunk is a part of the text that is formatted at once: records [from, to) of
// the same kind, in written order. A huge FUNC is cut into its head and chunks
// of n INLINEs or lines.
type chunk struct {
	kind     Kind
	from, to int
	inlines  *InlineReader
	lines    *LineReader
	n        int
}

func newWriter(m *Module, opts WriteOptions) *writer {
	t := &writer{canon: newCanon(m, opts.Passed), names: opts.Names}
	t.plan(opts)
	return t
}

// Estimated lengths of records without their names, to make chunks of about
// chunkText.
const (
	numberedText = 20
	funcText     = 30
	winText      = 100
	rowText      = 60
	packedText   = 7 // per byte of a packed body
)

// plan cuts the text into chunks.
func (t *writer) plan(opts WriteOptions) {
	m := t.m
	longer := 1
	if opts.Names != nil {
		longer = lateLonger
	}
	t.chunks = append(t.chunks, chunk{kind: KindModule})
	t.cut(KindFile, len(m.Files), func(i int) int { return numberedText + len(m.Files[i].Name) })
	if t.mixed {
		t.chunks = append(t.chunks, chunk{kind: KindNone})
	}
	t.cut(KindInlineOrigin, len(m.Origins), func(i int) int { return numberedText + longer*len(m.Origins[i].Name) })
	t.bodies = len(t.chunks)
	t.planFuncs()
	t.cut(KindPublic, len(m.Publics), func(i int) int { return funcText + len(m.Publics[i].Name) })
	t.cut(KindStackWin, len(m.Wins), func(i int) int { return winText })
	t.cut(KindCFIInit, len(m.CFI.Blocks), func(i int) int { return rowText * (1 + int(m.CFI.Blocks[i].Count)) })
	for i := range m.Vars.Pieces() {
		t.chunks = append(t.chunks, chunk{kind: KindInfo, from: i})
	}
}

// cut makes chunks of n records; size estimates the length of record i's text.
func (t *writer) cut(kind Kind, n int, size func(i int) int) {
	from, text := 0, 0
	for i := range n {
		if text += size(i); text >= chunkText {
			t.chunks = append(t.chunks, chunk{kind: kind, from: from, to: i + 1})
			from, text = i+1, 0
		}
	}
	if from < n {
		t.chunks = append(t.chunks, chunk{kind: kind, from: from, to: n})
	}
}

// hugeBody is the packed size above which a FUNC is cut: some megabytes of text.
const hugeBody = 4 * chunkText / packedText

func (t *writer) planFuncs() {
	from, text := 0, 0
	flush := func(to int) {
		if from < to {
			t.chunks = append(t.chunks, chunk{kind: KindFunc, from: from, to: to})
		}
		from, text = to, 0
	}
	for i := range t.m.Funcs {
		f := &t.m.Funcs[t.funcs.at(i)]
		if len(f.Body.data) > hugeBody {
			flush(i)
			t.planHuge(f, i)
			from = i + 1
			continue
		}
		if text += funcText + len(f.Name) + packedText*len(f.Body.data); text >= chunkText {
			flush(i + 1)
		}
	}
	flush(len(t.m.Funcs))
}

// Numbers of records in a chunk of a huge FUNC. An INLINE may have many ranges.
const (
	hugeInlines = 1024
	hugeLines   = 16 << 10
)

// planHuge cuts the FUNC at index i of the order.
func (t *writer) planHuge(f *Func, i int) {
	t.chunks = append(t.chunks, chunk{kind: KindFunc, from: i, n: -1})
	inlines, lines := f.Body.Counts()
	ins := f.InlineReader()
	for ; inlines > 0; inlines -= hugeInlines {
		at := ins
		at.Inline.Ranges = nil // another goroutine reads the chunk
		t.chunks = append(t.chunks, chunk{kind: KindInline, inlines: &at, n: min(inlines, hugeInlines)})
		for range min(inlines, hugeInlines) {
			ins.Next()
		}
	}
	ls := f.LineReader()
	for ; lines > 0; lines -= hugeLines {
		at := ls
		t.chunks = append(t.chunks, chunk{kind: KindLine, lines: &at, n: min(lines, hugeLines)})
		for range min(lines, hugeLines) {
			ls.Next()
		}
	}
}

// format formats a chunk.
func (t *writer) format(out *formatted, p *chunk) {
	if p.kind == KindInlineOrigin && t.late != nil {
		t.formatOrigins(out, p)
	} else {
		out.text = t.append(out.text[:0], p)
	}
}

// append formats a chunk and appends its text.
func (t *writer) append(dst []byte, p *chunk) []byte {
	m := t.m
	switch p.kind {
	case KindModule:
		dst = appendModule(dst, m)
		for i := range m.Infos {
			if m.Infos[i].Key != digestKey { // a DIGEST among Infos belongs to another text
				dst = appendInfo(dst, &m.Infos[i])
			}
		}
		if m.Digest {
			dst = append(dst, digestRecord+"\n"...)
		}
	case KindFile:
		dst = t.appendFiles(dst, p)
	case KindNone:
		dst = appendFile(dst, &File{ID: t.noFile, Name: NoFile})
	case KindInlineOrigin:
		dst = t.appendOrigins(dst, p)
	case KindFunc:
		dst = t.appendFuncs(dst, p)
	case KindInline:
		r := *p.inlines
		dst = t.appendInlines(dst, &r, p.n)
	case KindLine:
		r := *p.lines
		dst = appendLines(dst, &r, p.n)
	case KindPublic:
		for i := p.from; i < p.to; i++ {
			dst = appendPublic(dst, &m.Publics[t.publics.at(i)], t.names)
		}
	case KindStackWin:
		for i := p.from; i < p.to; i++ {
			if w := &m.Wins[t.wins.at(i)]; !w.SaysNothing() {
				dst = appendWin(dst, w)
			}
		}
	case KindCFIInit:
		dst = t.appendBlocks(dst, p)
	case KindInfo:
		dst = m.Vars.Append(dst, p.from)
	}
	return dst
}

func (t *writer) appendFiles(dst []byte, p *chunk) []byte {
	for i := p.from; i < p.to; i++ {
		if !t.repeatsFile(i) {
			dst = appendFile(dst, &t.m.Files[t.files.at(i)])
		}
	}
	return dst
}

func (t *writer) appendOrigins(dst []byte, p *chunk) []byte {
	for i := p.from; i < p.to; i++ {
		if !t.repeatsOrigin(i) {
			dst = appendOrigin(dst, &t.m.Origins[t.origins.at(i)], t.old)
		}
	}
	return dst
}

func (t *writer) appendFuncs(dst []byte, p *chunk) []byte {
	if p.n < 0 {
		return appendFunc(dst, &t.m.Funcs[t.funcs.at(p.from)], t.names)
	}
	var ranges []Range
	for i := p.from; i < p.to; i++ {
		f := &t.m.Funcs[t.funcs.at(i)]
		dst = appendFunc(dst, f, t.names)
		ins := f.InlineReader()
		ins.Inline.Ranges = ranges[:0]
		dst = t.appendInlines(dst, &ins, math.MaxInt)
		ranges = ins.Inline.Ranges
		lines := f.LineReader()
		dst = appendLines(dst, &lines, math.MaxInt)
	}
	return dst
}

func (t *writer) appendInlines(dst []byte, r *InlineReader, n int) []byte {
	for ; n > 0 && r.Next(); n-- {
		if t.late != nil {
			r.Inline.Origin = t.late.of(r.Inline.Origin)
		}
		dst = appendInline(dst, &r.Inline, t.old, t.noFile)
	}
	return dst
}

func appendLines(dst []byte, r *LineReader, n int) []byte {
	for ; n > 0 && r.Next(); n-- {
		dst = appendLine(dst, &r.Line)
	}
	return dst
}

func (t *writer) appendBlocks(dst []byte, p *chunk) []byte {
	cfi := &t.m.CFI
	for i := p.from; i < p.to; i++ {
		b := &cfi.Blocks[t.blocks.at(i)]
		dst = appendBlock(dst, b, t.rules[b.Init])
		rows := cfi.Rows[b.First : b.First+b.Count]
		o := orderOf(rows, compareRows)
		for j := range rows {
			if row := &rows[o.at(j)]; t.rules[row.Rules] != "" {
				dst = appendRow(dst, row, t.rules[row.Rules])
			}
		}
	}
	return dst
}
