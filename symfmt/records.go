package symfmt

import (
	"bytes"
	"io"
)

// Records are the records of a text or of a module.
type Records interface {
	// Reader returns a Reader of the records. It returns and reports the same for a module and for
	// the module's text.
	Reader(ReadOptions) *Reader
}

// TextRecords returns the records of a symbol file, which may be compressed with gzip or zstd. They
// can be read once.
func TextRecords(r io.Reader) Records { return textRecords{r} }

type textRecords struct{ text io.Reader }

func (t textRecords) Reader(opts ReadOptions) *Reader { return NewReader(t.text, opts) }

// ModuleRecords holds the records of a module, without making a text. A Reader finds the same records
// as in the text that Write makes of the module, in the same order, with the same lines and faults.
// Several Readers may read them concurrently; the module must not be changed meanwhile.
type ModuleRecords struct {
	canon
	sections [numSections]section
	sound    []bool // by RuleID: the rules make a valid record, which need not be parsed
}

// section is a part of the records. Each record takes one position, except that records belonging to
// a FUNC or STACK CFI INIT share its position.
type section struct {
	end  int64 // the position after it
	text func(dst []byte, i int) []byte
}

// The sections whose records are not read from text.
const (
	funcSection = iota + 4
	publicSection
	winSection
	blockSection
	varSection
	endSection
	numSections
)

// NewModuleRecords returns the records of m.
func NewModuleRecords(m *Module) *ModuleRecords {
	all := &ModuleRecords{canon: newCanon(m, func() {})}
	for _, rules := range all.rules {
		all.sound = append(all.sound, soundRules(rules))
	}
	counts := [numSections]int{2 + len(m.Infos), len(m.Files), 1, len(m.Origins), len(m.Funcs), len(m.Publics), len(m.Wins), len(m.CFI.Blocks), m.Vars.Pieces(), 1}
	at := int64(0)
	for i, n := range counts {
		at += int64(n)
		all.sections[i].end = at
	}
	all.sections[0].text = all.appendHead
	all.sections[1].text = func(dst []byte, i int) []byte {
		if all.repeatsFile(i) {
			return dst
		}
		return appendFile(dst, &m.Files[all.files.at(i)])
	}
	all.sections[2].text = func(dst []byte, _ int) []byte {
		if all.mixed {
			dst = appendFile(dst, &File{ID: all.noFile, Name: NoFile})
		}
		return dst
	}
	all.sections[3].text = func(dst []byte, i int) []byte {
		if all.repeatsOrigin(i) {
			return dst
		}
		return appendOrigin(dst, &m.Origins[all.origins.at(i)], all.old)
	}
	all.sections[winSection].text = func(dst []byte, i int) []byte {
		if w := &m.Wins[all.wins.at(i)]; !w.SaysNothing() {
			dst = appendWin(dst, w)
		}
		return dst
	}
	all.sections[varSection].text = m.Vars.Append
	all.sections[endSection].text = all.appendDigest
	return all
}

// appendHead appends MODULE, an INFO record or, after these, the announcement of a digest.
func (all *ModuleRecords) appendHead(dst []byte, i int) []byte {
	switch infos := all.m.Infos; {
	case i == 0:
		dst = appendModule(dst, all.m)
	case i > len(infos):
		dst = all.appendDigest(dst, 0)
	case infos[i-1].Key != digestKey: // a DIGEST among Infos belongs to another text
		dst = appendInfo(dst, &infos[i-1])
	}
	return dst
}

// appendDigest appends a placeholder for a record of the text's digest: a line that counts but is not
// returned.
func (all *ModuleRecords) appendDigest(dst []byte, _ int) []byte {
	if all.m.Digest {
		dst = append(dst, digestRecord+"\n"...)
	}
	return dst
}

// soundRules reports whether a STACK CFI record with these cleaned rules parses without an error.
func soundRules(rules string) bool {
	if rules == "" || len(rules) > maxName {
		return false
	}
	var rec Record
	f := fields{text: append([]byte("0 "), rules...)}
	rec.parseCFI(&f)
	return !f.failed()
}

// Len returns the number of positions. Readers of the records return Extents below it.
func (all *ModuleRecords) Len() int64 { return all.sections[numSections-1].end }

// TextSize estimates the size of the text in bytes.
func (all *ModuleRecords) TextSize() int64 {
	m := all.m
	n := numberedText*(len(m.Files)+len(m.Origins)) + winText*len(m.Wins) + rowText*(len(m.CFI.Blocks)+len(m.CFI.Rows))
	for i := range m.Files {
		n += len(m.Files[i].Name)
	}
	for i := range m.Origins {
		n += len(m.Origins[i].Name)
	}
	for i := range m.Funcs {
		n += funcText + len(m.Funcs[i].Name) + packedText*len(m.Funcs[i].Body.data)
	}
	for i := range m.Publics {
		n += funcText + len(m.Publics[i].Name)
	}
	return int64(n)
}

// Reader implements [Records]. The Report counts the lines of the text, but not its bytes, and extents
// are positions. The option Outline has no effect, as no text is skipped.
func (all *ModuleRecords) Reader(opts ReadOptions) *Reader {
	r := NewReader(nil, opts)
	r.ResetRecords(all, 0, all.Len())
	return r
}

// ResetRecords makes the Reader read the records at positions [from, to).
func (r *Reader) ResetRecords(all *ModuleRecords, from, to int64) {
	c := r.module
	if c == nil {
		c = &cursor{}
	}
	r.reset(r.buf)
	r.module = c
	c.start(all, from, to)
	r.report.Digest = all.m.Digest
}

// cursor is a Reader's position in the records of a module.
type cursor struct {
	all     *ModuleRecords
	at, to  int64 // the next position, and the end
	section int

	inFunc  bool // reading the records that belong to a FUNC
	inlines InlineReader
	lines   LineReader

	rows  []CFIRow // the remaining rows of a block
	order order    // of all rows of the block
	row   int      // the next row in order

	text []byte // the remaining lines of a position
	buf  []byte // holds text
	name []byte
}

func (c *cursor) start(all *ModuleRecords, from, to int64) {
	*c = cursor{all: all, at: from, to: to, buf: c.buf, name: c.name}
}

// next implements Reader.next.
func (c *cursor) next(r *Reader) (*Record, *SyntaxError, error) {
	for {
		if c.inFunc {
			if c.lines.left > 0 && c.inlines.left == 0 { // most records
				c.lines.Next()
				return c.line(r)
			}
			if c.inlines.Next() {
				return c.inline(r)
			}
			c.inFunc = false
		}
		for c.row < len(c.rows) {
			row := &c.rows[c.order.at(c.row)]
			c.row++
			if c.all.rules[row.Rules] != "" {
				return c.cfi(r, row)
			}
		}
		if len(c.text) > 0 {
			if rec, bad := c.lineOfText(r); rec != nil || bad != nil {
				return rec, bad, nil
			}
			continue
		}
		if c.at >= c.to {
			r.err = io.EOF
			return nil, nil, io.EOF
		}
		if rec, bad := c.advance(r); rec != nil || bad != nil {
			return rec, bad, nil
		}
	}
}

// advance goes to the next position. It returns nil if the position has no record, or one that is read
// from c.text.
func (c *cursor) advance(r *Reader) (*Record, *SyntaxError) {
	for c.at >= c.all.sections[c.section].end {
		c.section++
	}
	i := int(c.at)
	if c.section > 0 {
		i -= int(c.all.sections[c.section-1].end)
	}
	r.used, r.at, r.pos = c.at, 0, 1
	c.at++
	switch c.section {
	case funcSection:
		return c.function(r, &c.all.m.Funcs[c.all.funcs.at(i)])
	case publicSection:
		return c.public(r, &c.all.m.Publics[c.all.publics.at(i)])
	case blockSection:
		return c.block(r, &c.all.m.CFI.Blocks[c.all.blocks.at(i)])
	}
	c.buf = c.all.sections[c.section].text(c.buf[:0], i)
	c.text = c.buf
	return nil, nil
}

// begin begins a record that is not read from text.
func (c *cursor) begin(r *Reader, kind Kind) *Record {
	r.report.Lines++
	rec := &r.rec
	rec.Kind, rec.line, rec.text, rec.made = kind, r.report.Lines, nil, true
	return rec
}

// check returns rec if it is sound, or else what a Reader makes of its text.
func (c *cursor) check(r *Reader, rec *Record, sound bool) (*Record, *SyntaxError) {
	if sound {
		return rec, nil
	}
	r.report.Lines-- // lineOfText counts the line
	c.buf = append(append(c.buf[:0], rec.Text()...), '\n')
	c.text = c.buf
	return c.lineOfText(r)
}

// lineOfText reads a line of text. It returns nil for a digest.
func (c *cursor) lineOfText(r *Reader) (*Record, *SyntaxError) {
	n := bytes.IndexByte(c.text, '\n')
	line := c.text[:n:n]
	c.text = c.text[n+1:]
	r.report.Lines++
	r.rec.line, r.rec.made = r.report.Lines, false
	if len(line) > MaxLine {
		r.rec.text = nil
		return nil, r.tooLong(line)
	}
	rec, bad := r.parse(line)
	if rec != nil && rec.Kind == KindInfo && string(rec.Key) == digestKey {
		return nil, nil
	}
	return rec, bad
}

func (c *cursor) function(r *Reader, f *Func) (*Record, *SyntaxError) {
	c.inFunc, c.lines = true, f.LineReader()
	ranges := c.inlines.Inline.Ranges[:0]
	c.inlines = f.InlineReader()
	c.inlines.Inline.Ranges = ranges
	rec := c.begin(r, KindFunc)
	rec.RVA, rec.Size, rec.ParamSize, rec.Multiple = f.RVA, f.Size, f.ParamSize, f.Multiple
	rec.Name = c.keep(CleanName(f.Name, NoName))
	return c.check(r, rec, inSpace(f.RVA, f.Size))
}

func (c *cursor) public(r *Reader, p *Public) (*Record, *SyntaxError) {
	rec := c.begin(r, KindPublic)
	rec.RVA, rec.ParamSize, rec.Multiple = p.RVA, p.ParamSize, p.Multiple
	rec.Name = c.keep(CleanName(p.Name, NoName))
	return rec, nil
}

// keep copies a name for the current record. The copy is valid until the next call.
func (c *cursor) keep(name string) []byte {
	c.name = append(c.name[:0], name...)
	return c.name
}

func (c *cursor) line(r *Reader) (*Record, *SyntaxError, error) {
	rec := c.begin(r, KindLine)
	rec.Line = c.lines.Line
	rec, bad := c.check(r, rec, inSpace(rec.Line.RVA, rec.Line.Size))
	return rec, bad, nil
}

func (c *cursor) inline(r *Reader) (*Record, *SyntaxError, error) {
	rec := c.begin(r, KindInline)
	rec.OldForm, rec.Inline = c.all.old, c.inlines.Inline
	in := &rec.Inline
	switch {
	case c.all.old:
		in.CallFile, in.NoFile = 0, true
	case in.NoFile:
		in.CallFile, in.NoFile = c.all.noFile, false
	}
	sound := len(in.Ranges) > 0 && len(in.Ranges) < maxPlainRanges
	for _, x := range in.Ranges {
		sound = sound && inSpace(x.RVA, x.Size)
	}
	rec, bad := c.check(r, rec, sound)
	return rec, bad, nil
}

// maxPlainRanges is a number of ranges that an INLINE is sure to fit on a line.
const maxPlainRanges = MaxLine / 40

func (c *cursor) block(r *Reader, b *CFIBlock) (*Record, *SyntaxError) {
	c.rows = c.all.m.CFI.Rows[b.First : b.First+b.Count]
	c.order, c.row = orderOf(c.rows, compareRows), 0
	rec := c.begin(r, KindCFIInit)
	rec.RVA, rec.Size = b.RVA, b.Size
	rules := c.all.rules[b.Init]
	if rules == "" {
		rules = noRules
	}
	rec.Name = c.keep(rules)
	return c.check(r, rec, inSpace(b.RVA, b.Size) && (c.all.sound[b.Init] || rules == noRules))
}

func (c *cursor) cfi(r *Reader, row *CFIRow) (*Record, *SyntaxError, error) {
	rec := c.begin(r, KindCFI)
	rec.RVA, rec.Name = row.RVA, c.keep(c.all.rules[row.Rules])
	rec, bad := c.check(r, rec, c.all.sound[row.Rules])
	return rec, bad, nil
}

// inSpace reports whether a range ends within the address space.
func inSpace(rva RVA, size uint64) bool { return size == 0 || rva+RVA(size-1) >= rva }

// append appends the text of a record that is made from a module.
func (r *Record) append(dst []byte) []byte {
	switch r.Kind {
	case KindFunc:
		return appendFunc(dst, &Func{RVA: r.RVA, Size: r.Size, ParamSize: r.ParamSize, Multiple: r.Multiple, Name: string(r.Name)}, nil)
	case KindPublic:
		return appendPublic(dst, &Public{RVA: r.RVA, ParamSize: r.ParamSize, Multiple: r.Multiple, Name: string(r.Name)}, nil)
	case KindInline:
		return appendInline(dst, &r.Inline, r.OldForm, 0)
	case KindLine:
		return appendLine(dst, &r.Line)
	case KindCFIInit:
		return appendBlock(dst, &CFIBlock{RVA: r.RVA, Size: r.Size}, string(r.Name))
	}
	return appendRow(dst, &CFIRow{RVA: r.RVA}, string(r.Name))
}
