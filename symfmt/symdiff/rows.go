package symdiff

import (
	"cmp"
	"math"
	"slices"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// RowID is the number of a set of rules in force. Sets with the same effect have the
// same number. 0 means no rules.
type RowID uint32

// Span is code with one set of rules in force, up to the next span or its own end.
type Span struct { // 16 bytes
	RVA  symfmt.RVA
	Size uint32 // bytes
	Row  RowID
}

// Stop returns the address behind the last byte.
func (s Span) Stop() symfmt.RVA { return s.RVA + symfmt.RVA(s.Size) }

// Rows are the rules of an outline by number.
type Rows struct {
	rows  []rowFacts // by RowID
	keys  map[hash]RowID
	next  map[transition]RowID // rules on top of a row
	rules symfmt.RuleTable
	key   []byte
	kept  int  // rules in rows
	most  int  // that are kept
	full  bool // rows were not kept
}

// The rules that are kept: leastKept, as real modules have some ten thousand, and one
// for as many bytes of a large text. The rows above it count as ones that do not
// parse.
const (
	leastKept    = 1 << 17
	bytesPerKept = 16
)

// rowFacts is what is known of a row.
type rowFacts struct {
	row    cfi.Row
	broken bool // a record does not parse: readers drop the row
	covers bool // .cfa and .ra are there and can be computed
}

type transition struct {
	row   RowID
	rules symfmt.RuleID
}

func newRows(a *arch.Arch, size int64) *Rows {
	r := &Rows{most: leastKept + int(size/bytesPerKept), keys: map[hash]RowID{}, next: map[transition]RowID{}}
	r.rules.SetArch(a)
	r.rows = []rowFacts{{}}
	return r
}

// Text returns the rules of a row: "" for those of code without any.
func (r *Rows) Text(id RowID) string {
	f := &r.rows[id]
	switch {
	case id == 0:
		return ""
	case f.broken:
		return "rules that do not parse"
	}
	return f.row.String()
}

// Covers reports whether a reader can unwind with a row.
func (r *Rows) Covers(id RowID) bool { return r.rows[id].covers }

// apply puts a record's rules on top of those of a row.
func (r *Rows) apply(row RowID, text []byte) RowID {
	t := transition{row, r.rules.Parse(text)}
	if id, ok := r.next[t]; ok {
		return id
	}
	rules, err := r.rules.Rules(t.rules)
	f := rowFacts{broken: err != nil || r.rows[row].broken}
	if !f.broken {
		from := &r.rows[row].row
		f.row = cfi.Row{CFA: from.CFA, RA: from.RA, Regs: slices.Clone(from.Regs)}
		f.row.Apply(rules)
	}
	if r.kept += len(f.row.Regs) + 2; r.kept > r.most {
		f, r.full = rowFacts{broken: true}, true
	}
	id := r.number(f)
	r.next[t] = id
	return id
}

// number finds a row of the same effect, or keeps this one.
func (r *Rows) number(f rowFacts) RowID {
	r.key = append(r.key[:0], byte(flag(f.broken)))
	r.key = f.row.AppendKey(r.key)
	key := hashBytes(r.key)
	if id, ok := r.keys[key]; ok {
		return id
	}
	f.covers = !f.broken && computes(f.row.CFA) && !f.row.CFA.IsUndef() && computes(f.row.RA)
	id := RowID(len(r.rows))
	r.rows = append(r.rows, f)
	r.keys[key] = id
	return id
}

func computes(e cfi.Expr) bool { return !e.IsZero() && e.Check() == nil }

// translate gives the rows of o the numbers that they have in r, adding those that
// r does not have.
func (r *Rows) translate(o *Rows) []RowID {
	to := make([]RowID, len(o.rows))
	for i := 1; i < len(o.rows); i++ {
		// Names are numbered in each Rows by itself.
		to[i] = r.number(rowFacts{broken: o.rows[i].broken, row: r.rules.Names().TranslateRow(&o.rows[i].row)})
	}
	return to
}

// cfiReader makes spans of STACK CFI records.
type cfiReader struct {
	rows   *Rows
	blocks []block
	spans  []Span

	row  RowID
	from symfmt.RVA // of the row

	at, start, end int64 // in the text: the INIT, the first INIT, the end of all
}

// block is a STACK CFI INIT, and its part of the spans.
type block struct {
	rva   symfmt.RVA
	size  uint64
	first uint32
	count uint32
}

// fresh makes the tables at the first record of a text of size bytes.
func (c *cfiReader) fresh(a *arch.Arch, size int64) {
	if c.rows == nil {
		c.rows = newRows(a, size)
	}
}

func (c *cfiReader) init(rec *symfmt.Record) {
	c.close()
	if len(c.spans) >= math.MaxUint32 {
		return
	}
	if len(c.blocks) == 0 {
		c.start = c.at
	}
	c.blocks = roomFor(c.blocks, c.at-c.start, c.end-c.start)
	c.blocks = append(c.blocks, block{rva: rec.RVA, size: rec.Size, first: uint32(len(c.spans))})
	c.row, c.from = c.rows.apply(0, rec.Name), rec.RVA
}

// next is a row. One that is outside of its block is passed over, as readers do;
// one at or before the address of the row before is put on top of it.
func (c *cfiReader) next(rec *symfmt.Record) {
	if len(c.blocks) == 0 {
		return
	}
	b := &c.blocks[len(c.blocks)-1]
	if rec.RVA < b.rva || uint64(rec.RVA-b.rva) >= b.size {
		return
	}
	row := c.rows.apply(c.row, rec.Name)
	if row == c.row {
		return
	}
	if rec.RVA > c.from {
		c.span(rec.RVA)
		c.from = rec.RVA
	}
	c.row = row
}

// span closes the row in force at an address. Of one row over more code than any
// module has, the first 4 GB count.
func (c *cfiReader) span(end symfmt.RVA) {
	if size := min(uint64(end-c.from), math.MaxUint32); size > 0 {
		c.spans = roomFor(c.spans, c.at-c.start, c.end-c.start)
		c.spans = append(c.spans, Span{RVA: c.from, Size: uint32(size), Row: c.row})
	}
}

// close ends the block that is open.
func (c *cfiReader) close() {
	if len(c.blocks) == 0 {
		return
	}
	b := &c.blocks[len(c.blocks)-1]
	if b.count > 0 || b.size == 0 {
		return
	}
	end := b.rva + symfmt.RVA(b.size)
	if end < b.rva {
		end = math.MaxUint64
	}
	c.span(end)
	b.count = uint32(len(c.spans)) - b.first
}

// finish puts the spans in order and cuts overlaps.
func (c *cfiReader) finish() ([]Span, *Rows) {
	c.close()
	byRVA := func(a, b block) int { return cmp.Or(cmp.Compare(a.rva, b.rva), cmp.Compare(a.size, b.size)) }
	if slices.IsSortedFunc(c.blocks, byRVA) && disjoint(c.blocks) {
		return joinSpans(c.spans), c.rows
	}
	slices.SortStableFunc(c.blocks, byRVA)
	out := make([]Span, 0, len(c.spans))
	at := symfmt.RVA(0)
	for _, b := range c.blocks {
		for _, s := range c.spans[b.first : b.first+b.count] {
			end := s.Stop()
			if end <= at {
				continue
			}
			if s.RVA < at {
				s.RVA, s.Size = at, uint32(end-at)
			}
			out = append(out, s)
			at = end
		}
	}
	return joinSpans(out), c.rows
}

func disjoint(blocks []block) bool {
	for i := 1; i < len(blocks); i++ {
		if before := blocks[i-1]; uint64(blocks[i].rva-before.rva) < before.size {
			return false
		}
	}
	return true
}

// joinSpans joins spans of one row that touch.
func joinSpans(spans []Span) []Span {
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 {
			if last := &out[n-1]; last.Stop() == s.RVA && last.Row == s.Row && uint64(last.Size)+uint64(s.Size) <= math.MaxUint32 {
				last.Size += s.Size
				continue
			}
		}
		out = append(out, s)
	}
	return slices.Clip(out)
}
