package symfmt

import "bytes"

// Owner describes whether the owner of a record was read. A line record or INLINE
// belongs to the FUNC before it, and a STACK CFI to the STACK CFI INIT before it,
// regardless of what is between them. This is decided nowhere else.
type Owner uint8

const (
	OwnerRead    Owner = iota // the owner was read, or the record has none
	OwnerLost                 // the owner was a bad record
	OwnerMissing              // there is no owner before the record
)

// A group is a FUNC or a STACK CFI INIT with the records that belong to it.
type group struct {
	owner      Owner
	start, end int64  // offsets of its text, up to its last record so far
	was        Extent // extent of the last group closed
	what       string // the record that starts it
	lost       orphans
}

// Extent is a part of a text, in byte offsets.
type Extent struct{ Start, End int64 }

// begin opens the group of the current FUNC or STACK CFI INIT.
func (g *group) begin(rd *Reader) {
	g.close(rd)
	g.owner = OwnerRead
	g.start, g.end = rd.used+int64(rd.at), rd.Offset()
}

// lose is like begin, for a bad record: what belongs to it must not go to the
// group before it.
func (g *group) lose(rd *Reader, bad *SyntaxError) error {
	g.close(rd)
	g.owner = OwnerLost
	return g.lost.start(rd, bad, g.what)
}

// close ends the group.
func (g *group) close(rd *Reader) {
	g.lost.end(rd)
	if g.owner == OwnerRead {
		g.was = Extent{g.start, g.end}
	}
}

// groups are the groups to which the next record may belong.
type groups struct {
	fn, block group
	apart     bool // other records than line records, INLINEs and INLINE_ORIGINs follow the FUNC
}

func newGroups() groups {
	return groups{
		fn:    group{owner: OwnerMissing, what: "FUNC"},
		block: group{owner: OwnerMissing, what: "STACK CFI INIT"},
	}
}

// assign sets the owner of a record.
func (g *groups) assign(rd *Reader, rec *Record) {
	switch rec.Kind {
	case KindLine, KindInline:
		rec.Owner, rec.Apart = g.fn.owner, g.apart
		g.fn.end = rd.Offset()
		if rd.opts.Outline && rec.Kind == KindInline && rec.Owner == OwnerRead {
			rd.oldForm, rd.newForm = rd.oldForm || rec.OldForm, rd.newForm || !rec.OldForm
		}
		return
	case KindCFI:
		rec.Owner = g.block.owner
		g.block.end = rd.Offset()
		g.apart = true
		return
	case KindFunc:
		g.fn.begin(rd)
		g.apart = false
	case KindInlineOrigin:
	case KindCFIInit:
		g.block.begin(rd)
		g.apart = true
	default:
		g.apart = true
	}
	rec.Owner = OwnerRead
}

// lose reports a record that cannot be used.
func (g *groups) lose(rd *Reader, kind Kind, bad *SyntaxError) error {
	switch kind {
	case KindFunc:
		g.apart = false
		return g.fn.lose(rd, bad)
	case KindCFIInit:
		return g.block.lose(rd, bad)
	}
	return rd.problem(bad, kind.lost())
}

// orphan reports a record whose owner was not read.
func (g *groups) orphan(rd *Reader, rec *Record) error {
	of := &g.fn
	if rec.Kind == KindCFI {
		of = &g.block
	}
	return of.lost.add(rd, rec, of.what)
}

// end closes the groups at the end of the text.
func (g *groups) end(rd *Reader) {
	g.fn.close(rd)
	g.block.close(rd)
}

// orphans are records whose FUNC or STACK CFI INIT was not read: one problem for all
// of them.
type orphans struct {
	open    bool
	problem int    // its index in Report.Problems; negative if it was not kept
	head    string // the lost record that starts them, if any
	n       int
}

// start opens a run of orphans whose owner was lost.
func (o *orphans) start(rd *Reader, err *SyntaxError, head string) error {
	*o = orphans{open: true, problem: len(rd.report.Problems), head: head}
	if rd.full() {
		o.problem = -1
	}
	return rd.problem(err, head)
}

// add counts rec, which may be the first of a run. what names the missing owner.
func (o *orphans) add(rd *Reader, rec *Record, what string) error {
	if !o.open {
		bad := rec.errorf(0, "no %s before it", what)
		bad.Ownerless = true
		rd.report.Ownerless++
		if err := o.start(rd, bad, ""); err != nil {
			return err
		}
	}
	o.n++
	return nil
}

// end closes the run and reports how much was lost.
func (o *orphans) end(rd *Reader) {
	if o.open && o.n > 0 && o.problem >= 0 {
		lost := count(o.n, "record")
		if o.head != "" {
			lost = o.head + " and " + lost + " after it"
		}
		rd.report.Problems[o.problem].Lost = lost
	}
	o.open = false
}

// skipOwned skips lines that belong to a FUNC or STACK CFI INIT, as far as their
// first bytes show that: nine in ten lines of a large file.
func (r *Reader) skipOwned() {
	for r.err == nil {
		n := bytes.IndexByte(r.buf[r.pos:r.end], '\n')
		if n < 0 {
			if !r.eof && r.end-r.pos <= MaxLine {
				r.fill()
				continue
			}
			return // the last line, unterminated, or a line that is too long
		}
		g := r.ownerOf(r.buf[r.pos : r.pos+n])
		if g == nil || n > MaxLine {
			return
		}
		r.pos += n + 1
		r.report.Lines++
		g.end = r.Offset()
	}
}

// ownerOf returns the group that owns a line to be skipped, or nil if the line must
// be parsed.
func (r *Reader) ownerOf(line []byte) *group {
	g := &r.groups.fn
	switch {
	case len(line) == 0:
		return nil
	case isWord(line):
		if isRow(line) {
			g = &r.groups.block
		} else if !r.isKnownInline(line) {
			return nil
		}
	}
	if g.owner != OwnerRead {
		return nil
	}
	return g
}

// isWord reports whether a non-empty line may be something other than a line record.
func isWord(line []byte) bool {
	switch c := line[0]; {
	case c == 'F':
		return len(line) > 1 && (line[1] == 'U' || line[1] == 'I')
	case c == ' ' || c == '\t':
		return true
	default:
		return c > 'F' && (c < 'a' || c > 'f')
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

// isKnownInline recognises a plain INLINE record of a form already seen: an odd
// number of fields means the old form, without a call file.
func (r *Reader) isKnownInline(line []byte) bool {
	const word = "INLINE "
	if len(line) < len(word) || string(line[:len(word)]) != word {
		return false
	}
	if r.oldForm == r.newForm {
		return r.oldForm
	}
	line = trimCR(line)
	if line[len(line)-1] == ' ' || bytes.IndexByte(line, '\t') >= 0 || bytes.Contains(line, []byte("  ")) {
		return false
	}
	return r.oldForm == (bytes.Count(line, []byte{' '})%2 == 1)
}
