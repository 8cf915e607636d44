// Package dwarf2sym converts binaries (ELF, PE and Mach-O) to symfmt modules: functions,
// inlined calls and lines from DWARF 2 to 5 or from a PDB, STACK CFI from .eh_frame,
// .debug_frame, .sframe, .ARM.exidx, .pdata, compact unwind information or .gopclntab,
// and PUBLIC records from symbols and exports. ReadFile reads a file with the debug
// files that belong to it; Open (or NewBinary) and Read leave the choice of these files
// to the caller.
//
// References such as "6.2.4" are to sections of the DWARF 5 standard.
//
// # How it works
//
// The units of .debug_info are independent: workers read them piece by piece, each byte once, and keep
// only compact records, with the offsets of names in .debug_str. After the last unit, each name is
// read once, the records are sorted by address and by the offset of their DIE, and conflicts are
// resolved. Only then are FILE and INLINE_ORIGIN numbered, so that the result is the same for any
// number of workers.
//
// Data pass through the packages below internal in this order: units finds the units, funcs reads their functions into
// records (by way of dwarf, die and names), and merge joins these. Single addresses take the way by lookup, which says
// what funcs has to read.
//
// # Rules
//
//   - A FUNC is one contiguous piece of code. A function in several pieces
//     (hot and cold parts) becomes one FUNC for each, with the inlines and lines
//     in it.
//   - In Haskell a function also has the code of the lexical blocks below its DIE (internal/funcs/blocks.go).
//   - Functions whose code does not start in an executable section were dropped
//     by the linker, and are left out.
//   - There is one FUNC at an address. If several have the same size, the one
//     whose DIE comes first names it, marked with m. If their sizes differ,
//     the one that agrees with the ELF symbol is kept.
//   - Where functions overlap otherwise, the code belongs to the one that starts
//     last; the other keeps what is left on either side.
//   - Code for which a unit has lines but no function (assembly, -g1, a missing .dwo)
//     gets its functions from the ELF symbols.
//   - The functions and inlines of a skeleton come from its split unit, in a .dwo
//     file or a package, and the lines from its skeleton. Both must have the same id.
//     What a skeleton describes itself counts only if there is no split unit.
//   - Names are linkage names, demangled, or else plain names after their namespaces
//     and classes. In C the plain name is the name: linkage names there are asm
//     labels (__GI_abort).
//   - Only names mangled by C++ and Rust are demangled. Those of other languages stay
//     as in the file, as nm and llvm-symbolizer print them, so that a name in a stack
//     is the one to search for and to break at: Ada's pkg__proc__2, which gdb shows
//     as pkg.proc; Fortran's __mod_MOD_proc and outside_ (a program unit is MAIN__ or
//     has its own name); D's _D3pkg4procFZi; Swift's $s...; OCaml's camlMod__f_12;
//     Modula-2's Mod_Proc; Objective-C's -[Class method:with:]. Unmangled names in
//     languages with classes or namespaces are prefixed with these and ::, in Pascal
//     and D, too.
//   - Where sequences of a line table overlap (those of dropped functions are at 0,
//     too), the one that fits the function best is used.
//   - Line 0 is kept: it means that the compiler gave no line for the code.
//   - There is no PUBLIC where a FUNC starts.
//   - Addresses are relative to the page of the lowest PT_LOAD of the binary. If the
//     binary was moved after its debug file was made (prelink), the addresses of the
//     debug file are moved likewise. Relocatable files (.o, .ko) have no addresses:
//     internal/object/elfobj assigns one to each section, code first, .text at RVA 0
//     (place.go there has the rule and the reason).
//
// # Single addresses
//
// A Lookup reads only the units that the addresses looked up need. Its results match those of
// Read, whatever was looked up before:
//
//   - The result for a function depends on all functions that overlap it, in any unit:
//     identical code is folded, and where functions overlap, the one that starts last owns
//     the code. An index has the code of each unit. Overlapping code of several units is
//     one area, whose functions are read together and joined like those of a file; nothing
//     outside an area has an effect in it. The workers are the same as in Read.
//   - Functions made from ELF symbols belong to the unit that has the lines. They depend on
//     its own functions and on the symbols. If a function continues in another unit (crti.S
//     and crtn.S), the area extends from its symbol to its last part.
//   - A PUBLIC counts if no FUNC starts between its symbol and the address, and no block of
//     call frame information ends it. Lookup provides symbols, areas and blocks for that.
//   - Blocks of call frame information: see unwind.Index.
//
// The first index is what .debug_aranges lists and, for units that it does not list, what these declare:
// DW_AT_ranges, or DW_AT_low_pc and DW_AT_high_pc. Without .debug_aranges it is what all units declare.
// .debug_names and .gdb_index are not read, as they contain the same or less. Neither the index nor units
// are trusted. The index is replaced by what all units declare if an address is in code that it does not
// have, if a unit turns out to have code that it lacks, or if the index gives a wrong offset for a unit.
// After that comes the exact index, made from all functions and line sequences in a pass of the workers
// without inlines, lines and names. It is also made if a quarter of the file was or will be read. It has
// each function once, without its copies (internal/lookup), and records where each is described: from then on,
// only the DIEs of the functions that are looked up are read from a unit, and the scopes of names that need
// them. Before that, one case is missed: undeclared code of a unit, or code that the index lacks, inside
// the listed code of another unit.
//
// With the index, a compressed .debug_info is inflated only up to the last unit that was needed, and its
// line programs likewise. Then it is known only for the units inflated so far whether the index lists
// them. Later units that are not listed and overlap the code of listed ones are missed until more is
// read. So is damage: a checksum is at the end.
//
// A Lookup keeps no functions: its user caches what was used last (resolve.FromParts), and looks up
// many addresses in the order of Order, so that each unit is read once. If many addresses are
// looked up, only the lines and inlined functions at these are kept (funcs.Filter).
//
// Limits on work (internal/units/effort.go) apply to each set of units that is read; in Read, to all of them
// together. Damage is reported when it is read.
package dwarf2sym

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/dwarf2sym/internal/merge"
	"github.com/symtool/symtool/dwarf2sym/internal/names"
	"github.com/symtool/symtool/dwarf2sym/internal/publics"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/dwarf2sym/internal/varjoin"
	"github.com/symtool/symtool/dwarf2sym/internal/varread"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/demangle"
	"github.com/symtool/symtool/internal/intern"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/symfmt"
)

// Read returns the symbols of an opened file, and of the files in Options that belong to it.
// Unlike ReadFile, it does not look for missing files. The files may be closed when Read
// returns. An error means that nothing could be read; damage to parts is reported in the
// Result.
func Read(ctx context.Context, file symfmt.Binary, o Options) (*Result, error) {
	if o.PDB != nil {
		o.LateNames = false // names of a PDB are demangled when it is read
	}
	r, err := readModule(ctx, file, &o, false)
	if errors.Is(err, names.ErrNow) {
		r, err = readModule(ctx, file, &o, true)
	}
	if err != nil {
		return nil, err
	}
	r.report.late = r.newLateNaming()
	r.report.Problems = r.sortedProblems()
	addCode(&r.report.Extents, r.file)
	module, result := r.module, r.report // copies, as a pointer into the reader would keep its workers alive
	result.Module = &module
	if o.PDB != nil {
		if err := result.addPDB(ctx, &o); err != nil {
			result.Close()
			return nil, err
		}
	}
	return &result, nil
}

// readModule reads the records of a file. With namesNow it defers no names.
func readModule(ctx context.Context, file symfmt.Binary, o *Options, namesNow bool) (*reader, error) {
	r, err := newReader(file, o)
	if err != nil {
		return nil, err
	}
	r.namesNow = namesNow
	if err := r.read(ctx); err != nil {
		r.report.Close()
		return nil, err
	}
	return r, nil
}

func newReader(file symfmt.Binary, o *Options) (*reader, error) {
	r := &reader{opts: o, jobs: min(par.Jobs(o.Jobs), maxWorkers), names: &intern.Table{}}
	for _, f := range []struct {
		binary symfmt.Binary
		file   **object.File
	}{{file, &r.file}, {o.Debug, &r.debug}, {o.Supplement, &r.supplement}} {
		var err error
		if *f.file, err = object.Of(f.binary); err != nil {
			return nil, err
		}
	}
	if r.file == nil {
		return nil, errors.New("dwarf2sym: no file to read")
	}
	if o.Spill {
		r.report.spill = &object.Scratch{}
	}
	return r, nil
}

// maxWorkers is the largest number of workers that funcs.Func can number.
const maxWorkers = math.MaxUint16

// reader holds the state of Read.
type reader struct {
	opts        *Options
	file, debug *object.File
	supplement  *object.File
	files       []object.Companion // the binary first
	jobs        int
	partly      bool // only units with certain addresses are read

	module   symfmt.Module
	report   Result
	problems []placedProblem
	dropped  int // number of problems in units that are not reported

	namesNow   bool   // no names are deferred
	collect    bool   // collect garbage after joining
	effortBase uint64 // replaces the constant in tests
	largeInfo  int64  // likewise
	code       *codemap.Map
	symbols    []publics.Symbol
	workers    []*funcs.Worker
	names      *intern.Table   // of the workers, when they are done
	typeReader *varread.Reader // for the types of all units; nil if variables are not wanted
	scratch    *object.Scratch // for a large file; may be nil
}

func (r *reader) read(ctx context.Context) error {
	if err := r.checkTypes(); err != nil {
		return err
	}
	defer r.reportRelocations()
	if err := r.findFiles(); err != nil {
		return err
	}
	r.identify()
	r.report.Stats.CodeBytes = codemap.Of(r.file).Size()
	if r.jobs == 1 {
		finish := r.readCFI(ctx) // first, while little else is in memory
		err := r.readFunctions(ctx)
		finish()
		return cmp.Or(err, ctx.Err())
	}
	cfi := make(chan func(), 1)
	go func() { cfi <- r.readCFI(ctx) }()
	err := r.readFunctions(ctx)
	(<-cfi)()
	return cmp.Or(err, ctx.Err())
}

// checkTypes rejects a relocatable file and its debug file unless both are
// relocatable: otherwise their addresses are unrelated.
func (r *reader) checkTypes() error {
	if r.debug != nil && (r.file.Kind == object.Relocatable) != (r.debug.Kind == object.Relocatable) {
		return &bin.Error{File: r.debug.Path, Offset: 16, Msg: fmt.Sprintf("debug information of type %s for %s of type %s",
			r.debug.KindName, r.file.Path, r.file.KindName)}
	}
	return nil
}

// readFunctions fills in everything but STACK CFI.
func (r *reader) readFunctions(ctx context.Context) error {
	if r.opts.CFIOnly {
		return nil
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r.report.PackageUnused = r.opts.Package != ""
	r.code = r.codeMap()
	r.readSymbols()
	r.report.NoDebugInfo = !r.file.HasDWARF() && (r.debug == nil || !r.debug.HasDWARF())
	if d := r.openDebugData(); d != nil {
		if err := r.readUnits(ctx, d); err != nil {
			return err
		}
	} else if err := r.readObjects(ctx); err != nil {
		return err
	}
	return r.join(ctx)
}

// join creates the module's records from those of the workers.
func (r *reader) join(ctx context.Context) error {
	m, stats := &r.module, &r.report.Stats
	in := merge.Input{Code: r.code, Symbols: r.symbols, Records: r.records(), Names: r.names, Jobs: r.jobs, Scratch: r.scratch,
		Form: merge.NameForm{Source: r.opts.Demangle, Late: r.opts.LateNames}, Places: r.opts.Vars.wanted()}
	joined, err := merge.Module(ctx, m, &in)
	if err != nil {
		return err
	}
	stats.addMerged(&joined.Stats)
	costly := joined.Costly
	for _, w := range r.workers {
		costly = costly || w.CostlyOuter
		stats.add(&w.Stats)
		r.addProblems(problemUnits, &w.Problems)
		r.addProblems(problemSplit, &w.Elsewhere)
	}
	if costly {
		p := costlyNames(r.file.Path)
		r.problem(problemNames, p.Lost, p.Err)
	}
	if n := stats.LostBodies; n > 0 {
		r.problem(problemUnits, fmt.Sprintf("lines and inlines of %d parts of functions", n), &bin.Error{
			File: r.file.Path, Section: ".debug_info", Msg: "functions overlap so often that they have too many parts"})
	}
	r.reportMapped()
	r.joinVars(joined.Places)
	r.workers = nil
	r.addPublics(joined)
	stats.count(m)
	if r.collect {
		runtime.GC() // otherwise the memory used for joining would stay while the module is written
	}
	return nil
}

// Records returns the records of all workers.
func (r *reader) records() (all []*funcs.Records) {
	for _, w := range r.workers {
		all = append(all, &w.Records)
	}
	return all
}

// costlyNames returns the problem for names that would take too much work.
func costlyNames(path string) bin.Problem {
	return bin.Problem{Lost: "names in source form", Err: &bin.Error{File: path, Msg: fmt.Sprintf(
		"mangled names that refer to themselves or nest so deeply that they would take more than %d steps a byte: they stay mangled", demangle.StepsPerByte)}}
}

// addPublics adds the ELF symbols where no FUNC starts.
func (r *reader) addPublics(joined *merge.Result) {
	m := &r.module
	k := 0
	for i := range r.symbols {
		s := &r.symbols[i]
		for k < len(m.Funcs) && m.Funcs[k].RVA < s.RVA {
			k++
		}
		if k < len(m.Funcs) && m.Funcs[k].RVA == s.RVA {
			continue
		}
		m.Publics = append(m.Publics, symfmt.Public{RVA: s.RVA, Name: joined.Name(names.ID(s.ID)), Multiple: s.Multiple})
		addPublic(&r.report.Extents, s)
	}
}

// largeInfo is the size of .debug_info from which saving memory is worth a
// few tenths of a second.
const largeInfo = 512 << 20

// Sizes of .debug_info from which a garbage collection after the units, and another after
// joining, saves enough memory to be worth its time.
const (
	worthCollecting     = 4 << 20
	worthCollectingLate = 16 << 20
)

// readUnits lets the workers read all units.
func (r *reader) readUnits(ctx context.Context, d *units.Data) error {
	if r.readGradually(d); !d.Gradual {
		r.readUnitHeaders(d)
	}
	d.Allow(cmp.Or(r.effortBase, units.EffortBase))
	split := r.findSplit(d)
	defer split.Close()
	batches := d.NewBatchQueue()
	items := batches.Most + len(split.Jobs)
	total := d.Info.Size() + split.Size
	r.collect = total > worthCollectingLate
	large := total > cmp.Or(r.largeInfo, largeInfo)
	if large {
		r.scratch = r.report.spill
	}
	var effort *dwarf.Effort
	seeds, wanted := varjoin.NewSeeds(), r.opts.Vars.reader()
	if r.opts.Vars.wanted() {
		effort = &dwarf.Effort{Limit: d.Effort.Limit}
		wanted.Imports = r.imports(seeds)
	}
	for range min(r.jobs, max(items, 1)) {
		w := funcs.New(d, r.code, r.opts.funcs())
		if effort != nil {
			w.Vars = varread.New(w, r.code, wanted, effort, seeds)
		}
		if !r.namesNow {
			w.Names.ReadLater(d, r.jobs)
		}
		w.Arena = merge.NewArena(r.scratch)
		w.Symbols, w.Split = publics.Sorted(r.symbols), split
		r.workers = append(r.workers, w)
	}
	err := par.Each(ctx, len(r.workers), items, func(_ context.Context, worker, i int) error {
		var n int64
		if i < batches.Most {
			n = r.workers[worker].Batch(batches.Item(i))
		} else {
			n = r.workers[worker].ReadSplit(&split.Jobs[i-batches.Most])
		}
		d.Passed(n, r.scratch)
		if r.opts.Progress != nil {
			r.opts.Progress(atomic.LoadInt64(&d.Done), total)
		}
		return nil
	})
	r.addProblems(problemUnits, &d.Types.Problems)
	r.fileProblems(split.TypeDamage())
	if d.Sup != nil {
		r.report.Others = append(r.report.Others, d.Sup.File)
	}
	r.report.Others = append(r.report.Others, split.Files()...)
	r.giveUpOver(d)
	if d.Gradual && err == nil {
		r.endGradually(d)
	}
	for _, w := range r.workers {
		w.Finish()
	}
	if effort != nil && err == nil && len(r.workers) > 0 {
		r.readTypes(ctx, d, effort, seeds)
	}
	d.ReleaseUnits()
	switch { // otherwise the memory for units and for joining would add up
	case large:
		debug.FreeOSMemory()
	case total > worthCollecting:
		runtime.GC()
	}
	if err == nil {
		r.names, err = merge.JoinNames(ctx, d, r.records(), r.jobs)
	}
	d.Release()
	r.giveUpOver(d)
	return err
}

// giveUpOver drops what the workers found if that took too much work.
func (r *reader) giveUpOver(d *units.Data) {
	if r.workers == nil || !d.Effort.Over() {
		return
	}
	r.workers = nil
	p := d.TooMuchWork()
	r.problem(problemUnits, p.Lost, p.Err)
}
