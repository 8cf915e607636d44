// Package funcs reads the functions of units, with inlined calls, lines and names: a Worker turns one unit after
// another into Records, which package merge joins. Its files are in the order in which a unit passes through them:
//
//   - split.go, dwo.go, dwp.go: where the functions of a skeleton are
//   - worker.go, filter.go: a unit, and what of it is wanted
//   - scan.go, blocks.go: its DIEs
//   - func.go, inline.go, comdat.go: functions and inlined calls
//   - asmfunc.go: functions made from symbols
//   - names.go, follow.go, scopes.go: their names
//   - files.go: the files of lines and calls
//   - records.go: the results
//   - declared.go, host.go: what else is asked about a unit
package funcs

import (
	"fmt"
	"runtime/debug"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/die"
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/publics"
	"github.com/symtool/symtool/dwarf2sym/internal/srcread"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/dwarf2sym/internal/varread"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/intern"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// Worker turns units into compact records, one unit after another. It shares
// nothing that it writes with other workers; package merge joins their records.
type Worker struct {
	d         *units.Data
	code      *codemap.Map
	opts      *Options
	Symbols   publics.Finder // of the whole file
	Split     *Split         // nil if nothing is split
	namesOnly bool           // for a unit that others refer to: read no code

	Filter

	Vars *varread.Reader // nil if variables are not wanted

	Source  *srcread.Reader // if non-nil, units are read only for it
	sources *srcread.Reader // the last non-nil source, kept for its declarations of units

	Records
	unitState
	splitUnit

	*dwarf.Meter
}

// unitState is the current unit, and storage that is reused from unit to unit.
type unitState struct {
	u         units.Unit
	tables    dwarf.AbbrevCache
	first     dwarf.Abbrevs // the declaration of one unit's own DIE
	info      []byte
	lineWin   *dwarf.Window
	lines     dwarf.LineTable
	haveLines bool // lines holds this unit's table
	fileIDs   []uint32
	lost      *lostFiles // nil if the line table lacks no files
	scopes    []units.Scope
	lastFunc  uint64 // offset of the function entered last
	scoped    scoping
	brief     bool // the scopes are those found by scanBriefly
	bodies    []body
	named     []int // with someScopes: the positions of the DIEs whose scopes are known
	cursor    die.Cursor[scanFrame]
	starts    dwarf.Starts
	blocks    *blocks
	followed  []followed
	open      []*openFunc
	spare     []*openFunc
	spans     []dwarf.Span
	pending   chunks[pendingName]
	seen      intern.Offsets // origin DIE -> OriginID
	unitFuncs int            // index in funcs of the unit's first function
	unitDead  int            // number of the unit's functions that the linker dropped
	dies      []uint64       // offsets of the unit's functions, for their variables
	builder   symfmt.BodyBuilder
	inlines   inlineTree
	nameBuf   []byte
	plainBuf  []byte
	outers    int               // number of enclosing functions, while a name is composed
	outerText map[string]string // the names of enclosing functions, by linkage name
	opener    *units.Opener
}

// splitUnit describes the current unit if it is the split unit of a skeleton.
type splitUnit struct {
	skeleton *dwarf.Unit
	job      *SplitJob // nil in the file with the code
	reported bool      // the missing split unit of the current skeleton was reported, with the reason
}

// Options controls what workers make of functions.
type Options struct {
	NoInlines bool
	Demangle  bool            // names of the functions around local types
	PrefixMap []srcmap.Prefix // applied to the names of files
	Mapping   *srcmap.Mapping // likewise, after PrefixMap; may be nil
}

// New returns a worker for the units of d.
func New(d *units.Data, code *codemap.Map, opts *Options) *Worker {
	w := &Worker{d: d, code: code, opts: opts, Symbols: publics.Sorted(nil), Meter: &dwarf.Meter{Effort: d.Effort}, Records: NewRecords()}
	w.lineWin = dwarf.NewWindow(d.Line)
	w.opener = units.NewOpener(w.Meter, &w.u, w.problem)
	return w
}

// Finish releases what was needed only for reading units.
func (w *Worker) Finish() {
	w.Names.Finish()
	w.unitState = unitState{}
}

// problem records damage at off of .debug_info.
func (w *Worker) problem(off uint64, lost string, err error) {
	if e, ok := err.(*bin.Error); ok && e.File == "" {
		e.File = w.d.File
	}
	if w.job == nil {
		w.Problems.Add(off, lost, err)
		return
	}
	if e, ok := err.(*bin.Error); ok {
		w.d.Locate(e)
	}
	w.Elsewhere.Add(w.job.place, lost, err)
}

// damage returns the list to which problems are added.
func (w *Worker) damage() *units.Problems {
	if w.job != nil {
		return &w.Elsewhere
	}
	return &w.Problems
}

// AddDamage adds damage to several units.
func (w *Worker) AddDamage(all []units.Damage) {
	for _, p := range all {
		w.damage().Next()
		w.problem(p.Off, p.Lost, p.Err)
	}
}

// unit reads one unit, whose bytes are data. Any damage becomes a problem;
// complete records are kept. It reports false if the unit could not even be
// begun.
func (w *Worker) unit(h *dwarf.Header, data []byte) (begun bool) {
	defer func() {
		if p := recover(); p != nil {
			w.abandon()
			w.problem(h.Off, fmt.Sprintf("unit at %#x", h.Off),
				&bin.Error{File: w.d.File, Section: ".debug_info", Offset: h.Off, Msg: fmt.Sprintf("internal error: %v", p)})
		}
	}()
	if h.IsType() {
		return false // types have no code, and share another unit's line table
	}
	if w.skeleton == nil {
		w.Stats.Units++
	}
	w.damage().Next()
	w.unitFuncs, w.unitDead, w.haveLines, w.lastFunc, w.lost = len(w.Funcs), 0, false, 0, nil
	w.scopes, w.fileIDs = w.scopes[:0], w.fileIDs[:0]
	t, cost, err := w.tables.Get(&w.d.Sections, h)
	w.Spend(cost)
	if err == nil {
		err = w.u.Open(w.d, h, data, t, w.Meter)
	}
	if err != nil {
		w.problem(h.Off, fmt.Sprintf("unit at %#x", h.Off), err)
		return false
	}
	for _, f := range w.u.Faults {
		w.problem(h.Off, f.Lost+" of "+w.u.OwnName(), f.Err)
	}
	switch {
	case w.skeleton != nil:
		w.u.Join(w.skeleton)
	case w.u.DwoName != "" && !w.reported:
		w.reportMissingSplit()
	}
	w.blocks = readBlocks(&w.d.Sections, &w.u.Unit, data, w.Meter)
	if w.Source != nil {
		w.Source.Unit(&w.u, h, data, w.skeleton)
		return true
	}
	if err := w.readFuncs(); err != nil {
		w.problem(h.Off, w.u.OwnName()+" from there on", err)
	}
	if w.Vars != nil && !w.Exhausted {
		w.Vars.Unit(&w.u, data, w.skeleton, w.funcDIEs())
	}
	w.Stats.DeadFuncs += w.unitDead
	w.checkFollowed()
	w.resolveNames()
	w.funcsFromSymbols()
	w.reportFiles()
	return true
}

// readFuncs reads those functions of the unit that DIEs describe.
func (w *Worker) readFuncs() error {
	if w.Only == nil {
		w.scoped = allScopes
		return w.scan()
	}
	w.scoped = noScopes
	w.cursor.Reset(&w.u.Unit, false, w.u.Flat())
	for _, die := range w.Only.DIEs {
		if die == w.u.Off {
			continue // left to funcsFromSymbols
		}
		if err := w.scanFunc(int(die - w.u.Off)); err != nil {
			return err
		}
	}
	return nil
}

// abandon drops what a unit left open.
func (w *Worker) abandon() {
	w.open = w.open[:0]
	w.pending.reset()
	w.followed = w.followed[:0]
	w.Funcs = w.Funcs[:min(w.unitFuncs, len(w.Funcs))]
	w.comdatKeys = w.comdatKeys[:min(w.unitFuncs, len(w.comdatKeys))]
	w.seen.Clear()
}

// needLines reads the unit's line table on first use.
func (w *Worker) needLines() {
	if w.haveLines {
		return
	}
	w.haveLines = true
	w.lines.Clear()
	if w.Exhausted || w.u.StmtList.Kind != dwarf.SecOff && w.u.StmtList.Kind != dwarf.Const {
		return
	}
	read := w.lines.Read
	if w.namesOnly {
		read = w.lines.ReadFiles
	}
	for _, f := range read(w.lineUnit(), w.lineWin) {
		w.problem(w.u.Off, f.Lost+" of "+w.u.OwnName(), f.Err)
	}
	w.Spend(uint64(w.lines.Size()))
	w.Stats.LineRows += len(w.lines.Rows)
}

// Batch reads a batch of units and returns their size in bytes.
func (w *Worker) Batch(units []units.Header) int64 {
	if len(units) == 0 {
		return 0
	}
	// If a file shrinks, an access to its mapped sections faults. The panic is
	// recovered where a unit's is.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	start := units[0].Off
	size := units[len(units)-1].Off + units[len(units)-1].Size - start
	// What is cached from unit to unit must not depend on which worker reads them. Lookups of single addresses are
	// exempt: there, the cache depends on earlier requests anyway.
	if w.Source == nil {
		w.tables.Reset()
	}
	w.opener.Close()
	if w.Vars != nil {
		w.Vars.Reset()
	}
	defer w.Flush()
	data, err := w.d.Bytes(start, size, &w.info)
	if err != nil {
		w.Problems.Next()
		w.problem(start, fmt.Sprintf("%d units from %#x on", len(units), start), err)
		return int64(size)
	}
	for i := range units {
		if w.Exhausted {
			break
		}
		h := &units[i]
		if h.Split {
			continue // read by ReadSplit
		}
		from := h.Off - start
		w.unit(&h.Header, data[from:from+h.Size:from+h.Size])
	}
	return int64(size)
}

// idleBuffer is the size of the largest unit that a worker keeps in memory between groups.
const idleBuffer = 2 << 20

// Reset makes the worker ready to read other units, without the records and the filter of the previous ones.
func (w *Worker) Reset() {
	w.Records, w.Filter, w.Source = NewRecords(), Filter{}, nil
	if cap(w.info) > idleBuffer {
		w.info = nil
	}
}
