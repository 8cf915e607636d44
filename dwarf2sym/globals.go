package dwarf2sym

import (
	"cmp"
	"context"
	"runtime/debug"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/dwarf2sym/internal/varjoin"
	"github.com/symtool/symtool/dwarf2sym/internal/varread"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

// ReadGlobals returns the variables outside functions that have one of the names, with their types, in the
// first unit that has any. In Info they are those of a function at RVA 0. Info is nil if there are none. Only
// Debug and Supplement of the options are used. Units in other files are not read.
func ReadGlobals(ctx context.Context, file symfmt.Binary, names []string, o Options) (*vars.Info, []symfmt.Problem, error) {
	o = Options{Debug: o.Debug, Supplement: o.Supplement, Jobs: 1, Vars: VarOptions{Locals: true, FullTypes: true}}
	r, err := newReader(file, &o)
	if err != nil {
		return nil, nil, err
	}
	if err := r.checkTypes(); err != nil {
		return nil, nil, err
	}
	if err := r.findCompanions(); err != nil {
		return nil, nil, err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r.code = r.described().CodeMap(r.file.Base)
	if d := r.openDebugData(); d != nil {
		r.readGlobals(ctx, d, names)
		d.Release()
	}
	return r.module.Vars, r.sortedProblems(), context.Cause(ctx)
}

// readGlobals fills in the module's variables with those outside functions.
func (r *reader) readGlobals(ctx context.Context, d *units.Data, names []string) {
	r.readUnitHeaders(d)
	d.Allow(cmp.Or(r.effortBase, units.EffortBase))
	effort, seeds := &dwarf.Effort{Limit: d.Effort.Limit}, varjoin.NewSeeds()
	w := newWorker(d, r.code, r.opts)
	w.vars = varread.New(w, r.code, r.opts.Vars.reader(), effort, seeds)
	r.workers = append(r.workers, w)
	wanted := func(name string) bool { return slices.Contains(names, name) }
	for i := range d.Units {
		h := &d.Units[i]
		if ctx.Err() != nil || w.vars.Meter.Exhausted {
			break
		}
		data, err := d.Info.Bytes(int64(h.Off), int64(h.Size), w.info)
		if err != nil {
			w.problem(h.Off, "variables of the unit", err)
			continue
		}
		w.info = data[:0]
		if w.vars.Globals(d, &h.Header, data, wanted, r.code.Base, varjoin.FuncID{}) {
			break
		}
	}
	r.readTypes(ctx, d, effort, seeds)
	r.module.Funcs = []symfmt.Func{{Size: 1}}
	r.joinVars([]varjoin.Place{{}})
	r.addProblems(problemUnits, &w.problems)
	w.finish()
	if v := r.module.Vars; v != nil && len(v.Funcs) == 0 {
		r.module.Vars = nil
	}
}
