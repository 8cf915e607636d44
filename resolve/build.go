package resolve

import (
	"errors"
	"fmt"
	"io"

	"github.com/symtool/symtool/symfmt"
)

// maxProblems is the number of bad records of a symbol file that are reported.
const maxProblems = 100

// builder builds an index in one pass over a text. It needs only an outline: a function's lines
// and INLINEs are read when an address in it is looked up.
type builder struct {
	x    *index
	rd   *symfmt.Reader
	base int64 // offset in the file of the text that rd reads
	file string
	most int64 // maximum size of the index in bytes; 0 for no limit

	records bool // there were records with addresses

	funcs, blocks, wins, fpos spanRecords // of the index
	publics, files, origins   records

	function, block bool // the last record of its table is open, as it covers code

	oldForm, newForm bool // INLINE records seen
}

// build reads text starting at offset base. Compressed text that is cut off is used up to
// that point. An index of more than most bytes is an error; 0 means no limit.
func build(text io.Reader, base uint64, compressed bool, file string, most int64) (*index, []symfmt.Problem, error) {
	b := &builder{x: newIndex(), file: file, base: int64(base), most: most}
	b.rd = symfmt.NewReader(text, symfmt.ReadOptions{
		File: file, Tolerant: true, MaxProblems: maxProblems, Plain: true, Grouped: true, Outline: true,
	})
	err := b.read()
	report := b.rd.Report()
	switch {
	case err != nil && (!compressed || report.Lines == 0 || errors.Is(err, errIndexSize)):
		return nil, report.Problems, err
	case err != nil && len(report.Problems) < maxProblems:
		report.Problems = append(report.Problems, symfmt.Problem{Err: err, Lost: "the rest of the file"})
	case report.Damage != nil && report.Lines == 0:
		return nil, nil, report.Damage
	}
	if b.x.OS == "" && !b.records {
		return nil, report.Problems, fmt.Errorf("%s: not a symbol file: found no record in %d lines", file, report.Lines)
	}
	b.finish()
	return b.x, report.Problems, nil
}

// errIndexSize is wrapped by errors about an index that exceeds its limit.
var errIndexSize = errors.New("the index is too large")

// size returns the approximate size of the index so far in bytes.
func (b *builder) size() int64 {
	spans := b.funcs.count + b.blocks.count + b.wins.count + b.fpos.count
	return int64(spans)*(startSize+spanSize+8) + int64(b.publics.count)*(publicSize+publicCost) +
		int64(b.files.count+b.origins.count)*(numberSize+nameCost)
}

// checkSize is the number of records between checks of the index's size.
const checkSize = 1 << 10

// read reads the records.
func (b *builder) read() error {
	for n := 1; ; n++ {
		rec, err := b.rd.Next()
		if err != nil && err != io.EOF {
			return err
		}
		if b.most > 0 && (n%checkSize == 0 || err != nil) && b.size() > b.most {
			return fmt.Errorf("%s: after line %d: %w: over the limit of %d bytes of memory", b.file, b.rd.Report().Lines, errIndexSize, b.most)
		}
		if err != nil {
			return nil
		}
		b.add(rec)
	}
}

// winsOf returns the table of STACK WIN records of a type, or nil for types that a walk does not
// use.
func (b *builder) winsOf(kind uint32) *spanRecords {
	switch kind {
	case winFrameData:
		return &b.wins
	case winFPO:
		return &b.fpos
	}
	return nil
}

// add adds a record to its table.
func (b *builder) add(rec *symfmt.Record) {
	x := b.x
	b.records = b.records || rec.Kind >= symfmt.KindFunc
	at := b.rd.Extent()
	offset := uint64(b.base + at.Start)
	switch rec.Kind {
	case symfmt.KindModule:
		if x.OS == "" {
			x.OS, x.Arch, x.ID, x.Name = string(rec.OS), string(rec.Arch), string(rec.DebugID), string(rec.Name)
		}
	case symfmt.KindInline:
		b.oldForm, b.newForm = b.oldForm || rec.OldForm, b.newForm || !rec.OldForm
	case symfmt.KindFunc:
		b.closeFunction()
		if b.function = rec.Size > 0; b.function {
			b.funcs.add(span{rva: rec.RVA, size: rec.Size, offset: offset})
		}
	case symfmt.KindCFIInit:
		b.closeBlock()
		if b.block = rec.Size > 0; b.block {
			b.blocks.add(span{rva: rec.RVA, size: rec.Size, offset: offset})
		}
	case symfmt.KindStackWin:
		if wins := b.winsOf(rec.Win.Type); wins != nil && rec.Win.CodeSize > 0 {
			wins.add(span{rva: rec.Win.RVA, size: rec.Win.CodeSize, offset: offset})
			wins.setLength(at)
		}
	case symfmt.KindPublic:
		// Some writers emit several PUBLICs at 0, which is not code. Breakpad skips
		// them.
		if rec.RVA != 0 {
			b.publics.add(uint64(rec.RVA), offset)
		}
	case symfmt.KindFile:
		b.files.add(uint64(rec.ID), offset)
	case symfmt.KindInlineOrigin:
		b.origins.add(uint64(rec.ID), offset)
	}
}

// closeFunction sets the length of a function's text once the function has ended.
func (b *builder) closeFunction() {
	if b.function {
		b.funcs.setLength(b.rd.Ended(symfmt.KindFunc))
	}
	b.function = false
}

func (b *builder) closeBlock() {
	if b.block {
		b.blocks.setLength(b.rd.Ended(symfmt.KindCFIInit))
	}
	b.block = false
}

// finish builds the tables once all records have been read.
func (b *builder) finish() {
	b.closeFunction()
	b.closeBlock()
	b.x.size = uint64(b.base + b.rd.Offset())
	b.x.OldInlines = b.oldForm && !b.newForm
	b.makeTables()
}

// makeTables builds and sorts the tables one after another.
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

// Approximate cost of a record whose name is known, in bytes.
const (
	nameCost   = 17 + 64
	publicCost = 8 + 64
)
