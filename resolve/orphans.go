package resolve

import (
	"errors"
	"fmt"

	"github.com/symtool/symtool/symfmt"
)

// orphans are the records that belong to a FUNC or STACK CFI INIT that is bad or missing: one
// problem for all of them, as in symfmt.Read.
type orphans struct {
	head string // the record that was lost with them; "" if it is not there
	n    int
	open bool
	at   int // the problem; the number of problems if it was not kept
}

// start begins with a bad record.
func (o *orphans) start(b *builder, head string, err error) {
	o.end(b)
	*o = orphans{head: head, open: true, at: len(b.problems)}
	b.problem(err, head)
}

// add counts a record, which is in line.
func (o *orphans) add(b *builder, line []byte, missing string) {
	if !o.open {
		err := errors.New("no " + missing + " before it")
		if rec, _ := b.parser.Parse(trim(line), b.file, b.line); rec != nil {
			err = rec.Errorf(0, "%v", err)
		}
		o.start(b, "", err)
	}
	o.n++
}

// end reports how many records were lost.
func (o *orphans) end(b *builder) {
	if o.open && o.n > 0 && o.at < len(b.problems) {
		lost := fmt.Sprintf("%d records", o.n)
		if o.n == 1 {
			lost = "1 record"
		}
		if o.head != "" {
			lost = o.head + " and " + lost + " behind it"
		}
		b.problems[o.at].Lost = lost
	}
	o.open = false
}

// lineEnds takes a line that belongs to a function, if it is not blank, and ends at end.
func (b *builder) lineEnds(line []byte, end uint64) {
	if b.function.open {
		b.function.end = end
		return
	}
	if line = trim(line); len(line) == 0 {
		return
	}
	rec, err := b.parser.Parse(line, b.file, b.line)
	if err != nil {
		b.damaged(rec != nil, err)
	}
	if rec != nil {
		b.memberEnds(line, end)
	}
}

// memberEnds takes a record that belongs to a function and ends at end.
func (b *builder) memberEnds(line []byte, end uint64) {
	if b.function.end = end; !b.function.open {
		b.lostLines.add(b, line, symfmt.KindFunc.String())
	}
}

// rowEnds takes a STACK CFI that ends at end.
func (b *builder) rowEnds(line []byte, end uint64) {
	if b.block.end = end; !b.block.open {
		b.lostRows.add(b, line, symfmt.KindCFIInit.String())
	}
}
