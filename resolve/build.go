package resolve

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/symtool/symtool/symfmt"
)

// maxProblems is how many bad records of a symbol file are reported.
const maxProblems = 100

// builder makes an Index in one pass over a text. It looks at the first word of each line, and
// parses only records that the index needs: nine in ten lines are line records, whose text a
// function's span covers.
//
// Records belong together as for symfmt.Read: lines and INLINEs to the FUNC before them, whatever
// is in between, rows to the STACK CFI INIT before them.
type builder struct {
	x        *Index
	file     string // for messages
	most     int64  // bytes of the index; 0 for no limit
	parser   symfmt.LineParser
	problems []symfmt.Problem

	line    int    // number of the current line
	offset  uint64 // of the current line in the text
	records bool   // records with addresses were there

	funcs, blocks, wins, fpos spanRecords // of the Index
	publics, files, origins   records

	function  part
	block     part
	lostLines orphans
	lostRows  orphans

	oldForm, newForm bool // INLINE records seen
}

// part is the text of a function or block that is being read.
type part struct {
	open       bool
	kept       bool   // its code is not empty: the last record of its table
	start, end uint64 // in the text
}

// readSize is how much of a text is read at a time: about the size of a processor's cache. Larger
// pieces are not faster.
const readSize = 256 << 10

// build reads text from offset base on. Compressed text that breaks off in the
// middle is used up to there. An index of more than most bytes is an error; 0 is no
// limit.
func build(text io.Reader, base uint64, compressed bool, file string, most int64) (*Index, []symfmt.Problem, error) {
	b := &builder{x: newIndex(), file: file, offset: base, most: most}
	if err := b.read(text); err != nil {
		if !compressed || b.line == 0 || errors.Is(err, errIndexSize) {
			return nil, b.problems, err
		}
		b.problem(err, "the rest of the file")
	}
	if b.x.OS == "" && !b.records {
		return nil, b.problems, fmt.Errorf("%s: not a symbol file: no MODULE and no other record in %d lines", file, b.line)
	}
	b.finish()
	return b.x, b.problems, nil
}

// errIndexSize is wrapped by errors about an index over its limit.
var errIndexSize = errors.New("the index is too large")

// size returns about the number of bytes that the index takes so far.
func (b *builder) size() int64 {
	spans := b.funcs.count + b.blocks.count + b.wins.count + b.fpos.count
	return int64(spans)*(startSize+spanSize+8) + int64(b.publics.count)*(publicSize+publicCost) +
		int64(b.files.count+b.origins.count)*(numberSize+nameCost)
}

// read reads the lines.
func (b *builder) read(text io.Reader) error {
	buf := make([]byte, readSize)
	have := 0 // bytes of buf that are read
	skip := false
	for {
		n, err := text.Read(buf[have:])
		have += n
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: after line %d: %w", b.file, b.line, err)
		}
		used := 0
		if skip {
			used, skip = b.skip(buf[:have])
		}
		used += b.lines(buf[used:have])
		if b.most > 0 && b.size() > b.most {
			return fmt.Errorf("%s: after line %d: %w: over the limit of %d bytes of memory", b.file, b.line, errIndexSize, b.most)
		}
		if err == io.EOF {
			if used < have {
				b.take(buf[used:have], have-used)
			}
			return nil
		}
		have = copy(buf, buf[used:have])
		if have > symfmt.MaxLine {
			b.line++
			b.tooLong(buf[:have])
			b.offset += uint64(have)
			have, skip = 0, true
		} else if have == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
	}
}

// skip skips the rest of a line that is too long. more says that it does not end in text.
func (b *builder) skip(text []byte) (used int, more bool) {
	n := bytes.IndexByte(text, '\n')
	if more = n < 0; more {
		n = len(text) - 1
	}
	b.offset += uint64(n + 1)
	return n + 1, more
}

// tooLong skips a line that is too long.
func (b *builder) tooLong(head []byte) {
	lost := "line"
	for _, kind := range []symfmt.Kind{symfmt.KindFunc, symfmt.KindCFIInit} {
		if bytes.HasPrefix(head, []byte(kind.String()+" ")) {
			lost = kind.String()
		}
	}
	b.lose(lost, fmt.Errorf("%s:%d: line is over %d bytes long", b.file, b.line, symfmt.MaxLine))
}

// lines takes all whole lines of text and returns their length.
func (b *builder) lines(text []byte) int {
	pos := 0
	for {
		n := bytes.IndexByte(text[pos:], '\n')
		if n < 0 {
			return pos
		}
		b.take(text[pos:pos+n], n+1)
		pos += n + 1
	}
}

// take examines a line of size bytes with its end.
func (b *builder) take(line []byte, size int) {
	b.line++
	end := b.offset + uint64(size)
	switch {
	case len(line) > symfmt.MaxLine:
		b.tooLong(line)
	case isWord(line):
		b.word(line, end)
	default: // a line record, or nothing
		b.lineEnds(line, end)
	}
	b.offset = end
}

// isWord reports whether a line may be another record than a line record.
func isWord(line []byte) bool {
	if len(line) == 0 {
		return false
	}
	switch c := line[0]; {
	case c == 'F':
		return len(line) > 1 && (line[1] == 'U' || line[1] == 'I')
	case c == ' ' || c == '\t':
		return true
	default:
		return c > 'F' && (c < 'a' || c > 'f')
	}
}

// word takes a line that may start with a word, up to end.
func (b *builder) word(line []byte, end uint64) {
	switch {
	case bytes.HasPrefix(line, []byte("INLINE ")) && b.formIsKnown(line):
		b.memberEnds(line, end)
		return
	case isRow(line):
		b.rowEnds(line, end)
		return
	}
	whole := trim(line)
	line = bytes.TrimLeft(whole, " \t")
	if len(line) == 0 {
		return
	}
	rec, err := b.parser.Parse(line, b.file, b.line)
	if err != nil {
		b.damaged(rec != nil, err)
	}
	if rec != nil {
		b.add(rec, whole, end)
	}
}

// isRow recognises STACK CFI records in the form that all writers use.
func isRow(line []byte) bool {
	const word = "STACK CFI "
	if len(line) <= len(word) || string(line[:len(word)]) != word {
		return false
	}
	c := line[len(word)]
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f'
}

// formIsKnown reports whether a plain INLINE record has the form that others had: in the old one,
// without a call file, the number of fields is odd.
func (b *builder) formIsKnown(line []byte) bool {
	if b.oldForm == b.newForm {
		return b.oldForm
	}
	line = trim(line)
	if line[len(line)-1] == ' ' || bytes.IndexByte(line, '\t') >= 0 || bytes.Contains(line, []byte("  ")) {
		return false
	}
	return b.oldForm == (bytes.Count(line, []byte{' '})%2 == 1)
}

// damaged notes a bad record. Records of a lost FUNC must not go to the one before it.
func (b *builder) damaged(usable bool, err error) {
	lost := ""
	var bad *symfmt.SyntaxError
	if !usable {
		lost = "line"
		if errors.As(err, &bad) && bad.Record != "" {
			lost = bad.Record
		}
	}
	b.lose(lost, err)
}

// lose notes a record that cannot be used: a FUNC or STACK CFI INIT with what follows.
func (b *builder) lose(lost string, err error) {
	switch lost {
	case symfmt.KindFunc.String():
		b.closeFunction()
		b.lostLines.start(b, lost, err)
	case symfmt.KindCFIInit.String():
		b.closeBlock()
		b.lostRows.start(b, lost, err)
	default:
		b.problem(err, lost)
	}
}

func (b *builder) problem(err error, lost string) {
	if len(b.problems) < maxProblems {
		b.problems = append(b.problems, symfmt.Problem{Err: err, Lost: lost})
	}
}

// winsOf returns the table of STACK WIN records of a type, nil for types that do not say how to
// walk.
func (b *builder) winsOf(kind uint32) *spanRecords {
	switch kind {
	case winFrameData:
		return &b.wins
	case winFPO:
		return &b.fpos
	}
	return nil
}

// add adds a record, which is in line and ends at end, to its table.
func (b *builder) add(rec *symfmt.Record, line []byte, end uint64) {
	x := b.x
	b.records = b.records || rec.Kind >= symfmt.KindFunc
	switch rec.Kind {
	case symfmt.KindModule:
		if x.OS == "" {
			x.OS, x.Arch, x.ID, x.Name = string(rec.OS), string(rec.Arch), string(rec.DebugID), string(rec.Name)
		}
	case symfmt.KindLine: // behind blanks
		b.memberEnds(line, end)
	case symfmt.KindInline:
		b.memberEnds(line, end)
		if b.function.open {
			b.oldForm, b.newForm = b.oldForm || rec.OldForm, b.newForm || !rec.OldForm
		}
	case symfmt.KindFunc:
		b.closeFunction()
		b.lostLines.end(b)
		if rec.Size > 0 {
			b.funcs.add(span{rva: rec.RVA, size: rec.Size, offset: b.offset})
		}
		b.function = part{true, rec.Size > 0, b.offset, end}
	case symfmt.KindCFIInit:
		b.closeBlock()
		b.lostRows.end(b)
		if rec.Size > 0 {
			b.blocks.add(span{rva: rec.RVA, size: rec.Size, offset: b.offset})
		}
		b.block = part{true, rec.Size > 0, b.offset, end}
	case symfmt.KindCFI:
		b.rowEnds(line, end)
	case symfmt.KindStackWin:
		if wins := b.winsOf(rec.Win.Type); wins != nil && rec.Win.CodeSize > 0 {
			wins.add(span{rva: rec.Win.RVA, size: rec.Win.CodeSize, offset: b.offset})
			wins.setLength(end - b.offset)
		}
	case symfmt.KindPublic:
		// Some writers have several PUBLICs at 0 that are not in the code. Breakpad skips them.
		if rec.RVA != 0 {
			b.publics.add(uint64(rec.RVA), b.offset)
		}
	case symfmt.KindFile:
		b.files.add(uint64(rec.ID), b.offset)
	case symfmt.KindInlineOrigin:
		b.origins.add(uint64(rec.ID), b.offset)
	}
}

// closeFunction ends the text of a function at its last line or INLINE.
func (b *builder) closeFunction() {
	if b.function.open && b.function.kept {
		b.funcs.setLength(b.function.end - b.function.start)
	}
	b.function.open = false
}

func (b *builder) closeBlock() {
	if b.block.open && b.block.kept {
		b.blocks.setLength(b.block.end - b.block.start)
	}
	b.block.open = false
}

// finish ends open records and makes the tables.
func (b *builder) finish() {
	b.closeFunction()
	b.closeBlock()
	b.lostLines.end(b)
	b.lostRows.end(b)
	b.x.size = b.offset
	b.x.OldInlines = b.oldForm && !b.newForm
	b.makeTables()
}

// makeTables makes the tables, one after the other, and sorts them.
func (b *builder) makeTables() {
	x := b.x
	for _, s := range []struct {
		from *spanRecords
		to   *spans
	}{{&b.funcs, &x.funcs}, {&b.blocks, &x.blocks}, {&b.wins, &x.wins}, {&b.fpos, &x.fpos}} {
		s.from.spans(s.to)
		s.to.finish()
	}
	for _, t := range []struct {
		from     *records
		to       *table
		reversed bool
	}{{&b.publics, &x.publics, true}, {&b.files, &x.files, false}, {&b.origins, &x.origins, false}} {
		t.from.table(t.to)
		t.to.sort(t.reversed)
	}
}
