package dwarf2sym

import (
	"fmt"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// worker turns units into compact records, one unit after another. It shares
// nothing that it writes with other workers; merge joins their records.
type worker struct {
	d    *debugData
	code *codeMap
	opts *Options

	symbols []elfPub // of the whole file

	names    nameTable
	files    pathTable
	origins  []nameID // by the OriginID in this worker's bodies
	funcs    []funcRecord
	arena    symfmt.Arena
	problems []placedProblem
	stats    Stats

	// The unit at hand, and storage that is reused from unit to unit.
	u         unit
	namesOnly bool
	tables    abbrevCache
	info      []byte
	lineWin   *window
	lines     lineTable
	haveLines bool // lines was read for this unit
	unitBad   int  // problems of this unit
	fileIDs   []uint32
	scopes    []scope
	stack     []scanFrame
	attrs     dieAttrs
	open      []*openFunc
	spare     []*openFunc
	spans     []span
	pending   []pendingName
	seen      map[uint64]uint32 // origin DIE -> OriginID
	unitFuncs int               // index in funcs of the unit's first
	builder   symfmt.BodyBuilder
	inlines   inlineTree
	nameBuf   []byte
	plainBuf  []byte
	foreign   map[int]*foreign
}

// funcRecord is a FUNC before all workers' records are joined.
type funcRecord struct {
	addr   uint64 // as the file has it
	size   uint64
	key    uint64 // offset of its DIE: orders what has the same address
	name   nameID
	worker uint16
	named  naming
	label  bool // of an assembly unit
	body   symfmt.Body
}

// placedProblem is a problem with what orders it for any number of workers.
type placedProblem struct {
	section int // order of sections
	off     uint64
	bin.Problem
}

func newWorker(d *debugData, code *codeMap, opts *Options) *worker {
	return &worker{
		d: d, code: code, opts: opts,
		names:   newNameTable(),
		lineWin: newWindow(d.line),
		seen:    make(map[uint64]uint32),
		foreign: make(map[int]*foreign),
	}
}

// unitProblems bounds the problems that are told one by one for a unit: when its
// data is garbage, the first ones say all.
const unitProblems = 16

// problem records damage at off of .debug_info.
func (w *worker) problem(off uint64, lost string, err error) {
	if w.unitBad++; w.unitBad > unitProblems {
		return
	}
	w.problems = append(w.problems, placedProblem{off: off, Problem: bin.Problem{Lost: lost, Err: err}})
}

// unit reads one unit, whose bytes are data. Whatever is wrong with it becomes
// a problem; the records that were complete are kept.
func (w *worker) unit(h *unitHeader, data []byte) {
	defer func() {
		if p := recover(); p != nil {
			w.abandon()
			w.problem(h.off, fmt.Sprintf("unit at %#x", h.off),
				&bin.Error{File: w.d.file, Section: ".debug_info", Offset: h.off, Msg: fmt.Sprintf("internal error: %v", p)})
		}
	}()
	if h.typ == utType || h.typ == utSplitType {
		return // types have no code, and share another unit's line table
	}
	w.stats.Units++
	w.unitBad = 0
	t, err := w.tables.get(w.d.abbrev, h)
	if err == nil {
		err = w.u.begin(w.d, h, data, t)
	}
	if err != nil {
		w.problem(h.off, fmt.Sprintf("unit at %#x", h.off), err)
		return
	}
	w.unitFuncs, w.haveLines = len(w.funcs), false
	w.scopes, w.fileIDs = w.scopes[:0], w.fileIDs[:0]
	if w.u.dwoName != "" {
		w.problem(h.off, w.u.ownName(), w.u.errorf(w.u.firstDIE, "the unit's functions are in %s, which is not read", w.u.dwoName))
	}
	if err := w.scan(); err != nil {
		w.problem(h.off, w.u.ownName()+" from there on", err)
	}
	w.resolveNames()
	if len(w.funcs) == w.unitFuncs {
		w.funcsFromSymbols()
	}
	if more := w.unitBad - unitProblems; more > 0 {
		w.unitBad = 0
		w.problem(h.off, "", w.u.errorf(0, "%d more problems in this unit", more))
	}
}

// abandon drops what a unit left open.
func (w *worker) abandon() {
	w.open, w.pending = w.open[:0], w.pending[:0]
	w.funcs = w.funcs[:min(w.unitFuncs, len(w.funcs))]
	w.forgetOrigins()
}

// needLines reads the unit's line table, at the first use.
func (w *worker) needLines() {
	if w.haveLines {
		return
	}
	w.haveLines = true
	w.lines.rows, w.lines.seqs = w.lines.rows[:0], w.lines.seqs[:0]
	w.lines.files = w.lines.files[:0]
	if w.u.stmtList.kind != vSecOff && w.u.stmtList.kind != vConst {
		return
	}
	if err := w.lines.read(&w.u, w.lineWin); err != nil {
		w.problem(w.u.off, "lines of "+w.u.ownName(), err)
	}
	w.stats.LineRows += len(w.lines.rows)
}

// abbrevCache keeps the last tables: units of one producer often share one.
type abbrevCache struct {
	recent []*abbrevs
	next   int
}

const recentTables = 4

func (c *abbrevCache) get(section []byte, h *unitHeader) (*abbrevs, error) {
	sizes := h.sizes()
	for _, t := range c.recent {
		if t.offset == h.abbrev && t.sizes == sizes {
			return t, nil
		}
	}
	if len(c.recent) < recentTables {
		c.recent = append(c.recent, &abbrevs{})
		c.next = len(c.recent) - 1
	}
	t := c.recent[c.next]
	c.next = (c.next + 1) % recentTables
	if err := t.parse(section, h.abbrev, sizes); err != nil {
		t.sizes = formSizes{} // matches no unit
		return nil, err
	}
	return t, nil
}
