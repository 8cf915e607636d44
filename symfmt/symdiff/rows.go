package symdiff

import (
	"cmp"
	"math"
	"slices"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// rowID is the number of a set of rules in force. Sets with the same effect have the
// same number; 0 means no rules.
type rowID uint32

// cfiSpan is code with one set of rules in force.
type cfiSpan struct { // 16 bytes
	RVA  symfmt.RVA
	Size uint32 // bytes
	Row  rowID
}

// stop returns the address after the last byte.
func (s cfiSpan) stop() symfmt.RVA { return s.RVA + symfmt.RVA(s.Size) }

// rowTable holds the rules of an outline by number.
type rowTable struct {
	rows  []rowFacts // indexed by rowID
	keys  map[hash]rowID
	next  map[transition]rowID // rules applied to a row
	rules symfmt.RuleTable
	key   []byte
	kept  int  // number of rules in rows
	most  int  // limit of kept
	full  bool // not all rows were kept
}

// Limits of the rules that are kept: leastKept, since real modules have some ten
// thousand, plus one for every few bytes of a large text. Beyond the limit, rows are
// treated as if they did not parse, and their rules are not kept.
const (
	leastKept    = 1 << 17
	bytesPerKept = 16
)

// rowFacts is what is known about a row.
type rowFacts struct {
	row    cfi.Row
	broken bool // a record does not parse, so readers drop the row
	covers bool // .cfa and .ra are present and can be computed
}

type transition struct {
	row   rowID
	rules symfmt.RuleID
}

func newRows(a *arch.Arch, size int64) *rowTable {
	r := &rowTable{most: leastKept + int(size/bytesPerKept), keys: map[hash]rowID{}, next: map[transition]rowID{}}
	r.rules.SetArch(a)
	r.rows = []rowFacts{{}}
	return r
}

// text returns the rules of a row, or "" for code without any.
func (r *rowTable) text(id rowID) string {
	f := &r.rows[id]
	switch {
	case id == 0:
		return ""
	case f.broken:
		return "rules that do not parse"
	}
	return f.row.String()
}

// covers reports whether a reader can unwind with the row.
func (r *rowTable) covers(id rowID) bool { return r.rows[id].covers }

// apply returns the row that results from applying a record's rules to another row.
func (r *rowTable) apply(row rowID, text []byte) rowID {
	if r.full {
		return r.number(rowFacts{broken: true})
	}
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

// number returns the number of a row with the same effect, or adds this one.
func (r *rowTable) number(f rowFacts) rowID {
	r.key = append(r.key[:0], byte(flag(f.broken)))
	r.key = f.row.AppendKey(r.key)
	key := hashBytes(r.key)
	if id, ok := r.keys[key]; ok {
		return id
	}
	f.covers = !f.broken && computes(f.row.CFA) && !f.row.CFA.IsUndef() && computes(f.row.RA)
	id := rowID(len(r.rows))
	r.rows = append(r.rows, f)
	r.keys[key] = id
	return id
}

func computes(e cfi.Expr) bool { return !e.IsZero() && e.Check() == nil }

// translate returns the numbers in r of o's rows, adding those that r lacks.
func (r *rowTable) translate(o *rowTable) []rowID {
	to := make([]rowID, len(o.rows))
	for i := 1; i < len(o.rows); i++ {
		// Each rowTable numbers names separately.
		to[i] = r.number(rowFacts{broken: o.rows[i].broken, row: r.rules.Names().TranslateRow(&o.rows[i].row)})
	}
	return to
}

// cfiReader turns STACK CFI records into spans.
type cfiReader struct {
	rows   *rowTable
	blocks []block
	spans  []cfiSpan

	row  rowID
	from symfmt.RVA // start of the row

	at, start, end int64 // offsets in the text: of the INIT, of the first INIT, and of the end
}

// block is a STACK CFI INIT and its part of the spans.
type block struct {
	rva   symfmt.RVA
	size  uint64
	first uint32
	count uint32
}

// fresh makes the tables at the first record; size is the length of the text in bytes.
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

// next reads a row. A row outside its block is skipped, as readers do; one at or
// before the previous row's address is applied on top of that row.
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

// span closes the row in force at end. Only the first 4 GB of a row count, which
// is more code than any module has.
func (c *cfiReader) span(end symfmt.RVA) {
	if size := min(uint64(end-c.from), math.MaxUint32); size > 0 {
		c.spans = roomFor(c.spans, c.at-c.start, c.end-c.start)
		c.spans = append(c.spans, cfiSpan{RVA: c.from, Size: uint32(size), Row: c.row})
	}
}

// close closes the open block.
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

// finish sorts the spans and cuts overlaps.
func (c *cfiReader) finish() ([]cfiSpan, *rowTable) {
	c.close()
	byRVA := func(a, b block) int { return cmp.Or(cmp.Compare(a.rva, b.rva), cmp.Compare(a.size, b.size)) }
	if slices.IsSortedFunc(c.blocks, byRVA) && disjoint(c.blocks) {
		return joinSpans(c.spans), c.rows
	}
	slices.SortStableFunc(c.blocks, byRVA)
	out := make([]cfiSpan, 0, len(c.spans))
	at := symfmt.RVA(0)
	for _, b := range c.blocks {
		for _, s := range c.spans[b.first : b.first+b.count] {
			end := s.stop()
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

// joinSpans joins adjacent spans of the same row.
func joinSpans(spans []cfiSpan) []cfiSpan {
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 {
			if last := &out[n-1]; last.stop() == s.RVA && last.Row == s.Row && uint64(last.Size)+uint64(s.Size) <= math.MaxUint32 {
				last.Size += s.Size
				continue
			}
		}
		out = append(out, s)
	}
	return slices.Clip(out)
}
