package symfmt

// Owner describes whether the owner of a record was read. A line record or INLINE
// belongs to the FUNC before it, and a STACK CFI to the STACK CFI INIT before it,
// regardless of what is between them. This is decided nowhere else.
type Owner uint8

const (
	OwnerRead    Owner = iota // the owner was read, or the record has none
	OwnerLost                 // the owner is a bad record
	OwnerMissing              // there is no owner before the record
)

// A group is a FUNC or a STACK CFI INIT with the records that belong to it.
type group struct {
	owner      Owner
	start, end int64  // offsets of its text, up to its last record so far
	was        Extent // extent of the last group that ended
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

// lose is like begin, for a bad record, so that what belongs to it does not go to
// the group before it.
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

// groups are the groups that the next record may belong to.
type groups struct {
	fn, block group
	apart     bool // records other than the usual ones follow the FUNC
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

// add counts rec, which may be the first of a run. what is the record that it lacks.
func (o *orphans) add(rd *Reader, rec *Record, what string) error {
	if !o.open {
		if err := o.start(rd, rec.errorf(0, "no %s before it", what), ""); err != nil {
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
