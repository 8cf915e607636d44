package dwarf2sym

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/dwarf2sym/internal/merge"
	"github.com/symtool/symtool/dwarf2sym/internal/publics"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/dwarf2sym/internal/varjoin"
	"github.com/symtool/symtool/dwarf2sym/internal/varread"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/internal/text"
)

// macOS linkers leave DWARF in the objects. The linked file lists the objects with their functions, its debug map, from
// which dsymutil makes a dSYM. Where there is no dSYM, the objects are read here: as they are, and then each function,
// with its lines and inlined functions, is moved to where the linker put it. What the linker dropped is not in the map.
// For a missing object, the map still gives the addresses of its functions.

// objectBits is the number of low bits of a function's key that hold its offset in the object. The bits above hold the
// number of the object, which orders functions at the same address as in a dSYM.
const objectBits = 40

// objectReader reads the objects of a debug map.
type objectReader struct {
	r     *reader
	files debugset.Objects
	all   []object.MappedObject
	read  []objectResult // by object

	none  *units.Data // stands for no object
	seeds *varjoin.Seeds

	parts   []execcode.Part // of the file
	padding execcode.Padding
}

// objectResult is the outcome of reading an object.
type objectResult struct {
	file     string // the file read; "" if there was none
	newer    bool
	absent   bool // the file does not exist
	problems []bin.Problem
}

// debugMap returns the objects from which the file was linked.
func (r *reader) debugMap() []object.MappedObject {
	all, err := r.file.DebugMap()
	r.file.ReleaseSymbols()
	if err != nil {
		r.problem(problemFile, "functions of its objects", err)
	}
	return all
}

// readObjects reads the functions of the file's objects.
func (r *reader) readObjects(ctx context.Context) error {
	all := r.debugMap()
	if len(all) == 0 {
		return nil
	}
	o := &objectReader{r: r, all: all, read: make([]objectResult, len(all)), parts: execcode.Parts(r.file), padding: execcode.PaddingOf(r.file)}
	search := r.splitFiles()
	o.files = debugset.Objects{Limits: r.opts.limits(), AnyTime: r.opts.AnyObjectTime,
		Paths: func(name string) []string { return search.Objects(".", name) }}
	o.files.Limits.CPU, o.files.Hermetic = r.file.CPU, r.opts.Hermetic
	if st, err := os.Stat(r.file.Path); err == nil {
		o.files.Written = st.ModTime()
	}
	defer o.files.Close()
	o.none, o.seeds = &units.Data{Effort: &dwarf.Effort{}}, varjoin.NewSeeds()
	for range min(r.jobs, len(all)) {
		w := funcs.New(o.none, r.code, r.opts.funcs())
		if r.opts.Vars.wanted() {
			w.Vars = varread.New(w, r.code, r.opts.Vars.reader(), o.none.Effort, o.seeds)
		}
		r.workers = append(r.workers, w)
	}
	err := par.Each(ctx, len(r.workers), len(all), func(_ context.Context, worker, i int) error {
		o.object(r.workers[worker], i)
		return nil
	})
	for _, w := range r.workers {
		w.Finish()
	}
	if err == nil && r.opts.Vars.wanted() {
		o.readTypes(ctx)
	}
	o.report()
	if err == nil {
		r.names, err = merge.JoinNames(ctx, nil, r.records(), r.jobs)
	}
	return err
}

// openedObject is an object with its debug information and the problems of its units.
type openedObject struct {
	*debugset.Linked
	absent  bool
	symbols []publics.Symbol
	d       *units.Data // nil if there is none
	code    *codemap.Map
	found   units.Problems
}

// open opens the ith object and makes w read it.
func (o *objectReader) open(w *funcs.Worker, i int) (x openedObject, problems []bin.Problem, err error) {
	if x.Linked, x.absent, err = o.files.Open(o.r.file.Path, &o.all[i]); err != nil {
		return x, nil, err
	}
	x.symbols, problems = publics.Read(x.Base, []object.Companion{{File: x.File}})
	d, more := units.Open(x.File, units.Options{Jobs: 1, ISA: x.ISABit, Locations: o.r.opts.Vars.wanted(), Tag: uint64(i) << objectBits})
	if problems = append(problems, more...); d == nil {
		return x, problems, nil
	}
	x.d, x.found = d, d.ReadUnitHeaders()
	d.Allow(units.EffortBase)
	x.code = codemap.Of(x.File)
	w.TurnToObject(d, x.code, publics.Sorted(x.symbols), uint64(i))
	return x, problems, nil
}

// close closes the object. Offsets of its DIEs remain valid.
func (x *openedObject) close() {
	if x.d != nil {
		x.d.Forget()
	}
	x.Linked.Close()
}

// object reads the ith object with w.
func (o *objectReader) object(w *funcs.Worker, i int) {
	res := &o.read[i]
	lost := "lines of " + o.all[i].String()
	x, problems, err := o.open(w, i)
	if err != nil {
		res.absent, res.problems = x.absent, []bin.Problem{{Lost: lost, Err: err}}
		o.bare(w, i)
		return
	}
	defer x.close()
	if x.Missing > 0 {
		problems = append(problems, bin.Problem{Lost: "lines of " + text.Count(x.Missing, "function"),
			Err: &bin.Error{File: x.Path, Msg: fmt.Sprintf("no symbols of %d of the %d functions that were linked", x.Missing, len(o.all[i].Funcs))}})
	}
	res.file, res.newer, res.problems = x.Path, x.Newer, problems
	if x.d == nil {
		return
	}
	first := len(w.Funcs)
	firstVars := o.variables(w.Vars, &x)
	w.AddDamage(x.found.Kept)
	for _, b := range x.d.Batches() {
		w.Batch(x.d.Units[b.First:b.Last])
	}
	if x.d.Effort.Over() {
		w.Funcs = w.Funcs[:first]
		p := x.d.TooMuchWork()
		p.Lost = lost
		res.problems = append(res.problems, p)
	}
	o.checkVariables(w.Vars, firstVars, i)
	o.move(w, x.Linked, i, first)
	res.problems = append(res.problems, x.Problems()...)
}

// bare makes functions without lines from the map's entries for the ith object. Sizes in the map reach up to the next
// function: padding is left out, as debug information does.
func (o *objectReader) bare(w *funcs.Worker, i int) {
	for k, f := range o.all[i].Funcs {
		for _, s := range o.r.code.Keep([]dwarf.Span{{Lo: f.Addr, Hi: f.Addr + f.Size}}) {
			if end := o.trimmed(s); s.Lo < end {
				w.Funcs = append(w.Funcs, funcs.Func{Addr: s.Lo, Size: end - s.Lo, Key: uint64(i)<<objectBits | uint64(k)})
			}
		}
	}
}

// trimmed returns the address where the padding at the end of a function begins.
func (o *objectReader) trimmed(s dwarf.Span) uint64 {
	r := object.Range{Start: s.Lo, End: s.Hi}
	for i := range o.parts {
		if p := &o.parts[i]; p.Start <= s.Lo && s.Hi <= p.End {
			if r, err := p.Trim(r, true, o.padding); err == nil {
				return r.End
			}
		}
	}
	return s.Hi
}

// move moves the functions of the ith object, from index first on, to where the linker put them.
func (o *objectReader) move(w *funcs.Worker, l *debugset.Linked, i, first int) {
	kept := w.Funcs[:first]
	for _, f := range w.Funcs[first:] {
		to, ok := l.To(f.Addr)
		spans := o.r.code.Keep([]dwarf.Span{{Lo: to, Hi: to + f.Size}})
		if !ok || f.Tail || len(spans) == 0 {
			w.Stats.DeadFuncs++
			continue
		}
		f.Addr, f.Size, f.Key = to, spans[0].Hi-to, uint64(i)<<objectBits|f.Key
		kept = append(kept, f)
	}
	w.Funcs = kept
}

// mostLost limits how many unreadable objects are reported. mostAbsent does so for missing ones: usually the program
// was linked elsewhere, and all of them are missing.
const (
	mostLost   = 10
	mostAbsent = 2
)

// report reports which objects were read, and what was lost.
func (o *objectReader) report() {
	lost, absent := 0, 0
	for i := range o.read {
		if o.read[i].absent {
			absent++
		}
	}
	named := absent <= mostAbsent
	for i := range o.read {
		res := &o.read[i]
		switch {
		case res.file != "":
			o.r.report.NoDebugInfo = false
			o.r.report.Others = append(o.r.report.Others, res.file)
			if res.newer {
				o.r.report.Newer = append(o.r.report.Newer, res.file)
			}
		case res.absent && !named:
			continue
		default:
			if lost++; lost > mostLost {
				continue
			}
		}
		o.r.fileProblems(res.problems)
	}
	if !named {
		o.reportAbsent(absent)
	}
	if lost > mostLost {
		o.r.problem(problemFile, "lines of these", &bin.Error{File: o.r.file.Path,
			Msg: fmt.Sprintf("%d more of the %d objects that it was linked from cannot be used", lost-mostLost, len(o.all))})
	}
	o.r.report.LostObjects = lost
	if !named {
		o.r.report.LostObjects += absent
	}
}

// reportAbsent reports many missing objects as one problem, with the first as an example.
func (o *objectReader) reportAbsent(n int) {
	first := slices.IndexFunc(o.read, func(res objectResult) bool { return res.absent })
	why := bin.Bare(o.read[first].problems[0].Err, o.r.file.Path)
	o.r.problem(problemFile, "lines of these", &bin.Error{File: o.r.file.Path, Kind: ErrNoObject,
		Msg: fmt.Sprintf("%d of the %d objects that it was linked from are not there: %s", n, len(o.all), why)})
}
