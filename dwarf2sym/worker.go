package dwarf2sym

import (
	"fmt"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/die"
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/names"
	"github.com/symtool/symtool/dwarf2sym/internal/publics"
	"github.com/symtool/symtool/dwarf2sym/internal/srcread"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/dwarf2sym/internal/varread"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/intern"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// worker turns units into compact records, one unit after another. It shares
// nothing that it writes with other workers; merger joins their records.
type worker struct {
	d         *units.Data
	code      *codemap.Map
	opts      *Options
	symbols   publics.Finder // of the whole file
	split     *splitter      // nil if nothing is split
	namesOnly bool           // for a unit that others refer to: read no code

	// wants reports whether a function with the given code is wanted; nil means that all are.
	// Other functions get no names, inlines and lines.
	wants func(dwarf.Span) bool

	vars *varread.Reader // nil if variables are not wanted

	source  *srcread.Reader // if non-nil, units are read only for it
	sources *srcread.Reader // the last non-nil source, kept for its declarations of units

	indexing bool // keep comdatKeys, for functions that are not wanted

	only *described // the DIEs and symbols from which functions of the unit are wanted; nil means all

	onlyAddrs []uint64 // sorted addresses at which lines and inlined functions are wanted; nil means all

	records
	unitState
	splitUnit

	*dwarf.Meter
}

// records are the results of a worker.
type records struct {
	names       names.Table
	files       intern.Table
	origins     []names.ID // by OriginID in this worker's bodies
	funcs       []funcRecord
	comdatKeys  []comdatKey // of the first functions in funcs
	arena       symfmt.Arena
	problems    units.Problems
	elsewhere   units.Problems // for what skeletons stand for
	stats       Stats
	costlyOuter bool                  // the name of an enclosing function stays mangled, as demangling would take too much work
	mapped      map[*srcmap.File]bool // files that reportMapped reports
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
	job      *splitJob // nil in the file with the code
	reported bool      // the missing split unit of the current skeleton was reported, with the reason
}

// funcRecord is a FUNC before all workers' records are joined.
type funcRecord struct {
	addr    uint64 // as in the file
	size    uint64
	key     uint64 // offset of its DIE, by which functions at the same address are ordered
	sub     uint64 // if key is a skeleton's: offset of the DIE in the split unit
	name    names.ID
	worker  uint16
	named   naming
	label   bool // from an assembly unit
	inlined bool // something is inlined into it
	tail    bool // continues the function of the last symbol before it
	body    symfmt.Body
}

func newWorker(d *units.Data, code *codemap.Map, opts *Options) *worker {
	w := &worker{d: d, code: code, opts: opts, symbols: publics.Sorted(nil), Meter: &dwarf.Meter{Effort: d.Effort}, records: newRecords()}
	w.lineWin = dwarf.NewWindow(d.Line)
	w.opener = units.NewOpener(w.Meter, &w.u, w.problem)
	return w
}

func newRecords() records {
	return records{names: names.New()}
}

// finish releases what was needed only for reading units.
func (w *worker) finish() {
	w.names.Finish()
	w.unitState = unitState{}
}

// problem records damage at off of .debug_info.
func (w *worker) problem(off uint64, lost string, err error) {
	if e, ok := err.(*bin.Error); ok && e.File == "" {
		e.File = w.d.File
	}
	if w.job == nil {
		w.problems.Add(off, lost, err)
		return
	}
	if e, ok := err.(*bin.Error); ok {
		w.d.Locate(e)
	}
	w.elsewhere.Add(w.job.place, lost, err)
}

// damage returns the list to which problems are added.
func (w *worker) damage() *units.Problems {
	if w.job != nil {
		return &w.elsewhere
	}
	return &w.problems
}

// unit reads one unit, whose bytes are data. Any damage becomes a problem;
// complete records are kept. It reports false if the unit could not even be
// begun.
func (w *worker) unit(h *dwarf.Header, data []byte) (begun bool) {
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
		w.stats.Units++
	}
	w.damage().Next()
	w.unitFuncs, w.unitDead, w.haveLines, w.lastFunc, w.lost = len(w.funcs), 0, false, 0, nil
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
	if w.source != nil {
		w.source.Unit(&w.u, h, data, w.skeleton)
		return true
	}
	if err := w.readFuncs(); err != nil {
		w.problem(h.Off, w.u.OwnName()+" from there on", err)
	}
	if w.vars != nil && !w.Exhausted {
		w.vars.Unit(&w.u, data, w.skeleton, w.funcDIEs())
	}
	w.stats.DeadFuncs += w.unitDead
	w.checkFollowed()
	w.resolveNames()
	w.funcsFromSymbols()
	w.reportFiles()
	return true
}

// readFuncs reads those functions of the unit that DIEs describe.
func (w *worker) readFuncs() error {
	if w.only == nil {
		w.scoped = allScopes
		return w.scan()
	}
	w.scoped = noScopes
	w.cursor.Reset(&w.u.Unit, false, w.u.Flat())
	for _, die := range w.only.dies {
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
func (w *worker) abandon() {
	w.open = w.open[:0]
	w.pending.reset()
	w.followed = w.followed[:0]
	w.funcs = w.funcs[:min(w.unitFuncs, len(w.funcs))]
	w.comdatKeys = w.comdatKeys[:min(w.unitFuncs, len(w.comdatKeys))]
	w.seen.Clear()
}

// needLines reads the unit's line table on first use.
func (w *worker) needLines() {
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
	w.stats.LineRows += len(w.lines.Rows)
}
