package dwarf2sym

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/dwarf2sym/internal/varjoin"
	"github.com/symtool/symtool/dwarf2sym/internal/varread"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

// VarOptions selects what is read about variables.
type VarOptions struct {
	Params    bool // parameters
	Locals    bool // local variables and parameters
	FullTypes bool // types with their members, not only names and sizes
}

// wanted reports whether any variables are wanted.
func (o *VarOptions) wanted() bool { return o.Params || o.Locals }

// reader returns the options for the readers of variables.
func (o *VarOptions) reader() varread.Options {
	return varread.Options{Locals: o.Locals, FullTypes: o.FullTypes}
}

// readTypes reads the types of the variables that the workers met.
func (r *reader) readTypes(ctx context.Context, d *units.Data, effort *dwarf.Effort, seeds *varjoin.Seeds) {
	w := funcs.New(d, r.code, r.opts.funcs())
	r.typeReader = varread.New(w, r.code, r.opts.Vars.reader(), effort, seeds)
	var readers []*varread.Reader
	for _, w := range r.workers {
		readers = append(readers, w.Vars)
	}
	r.typeReader.ReadTypes(ctx, []varread.File{{Use: func(fn func(d *units.Data)) { fn(d) }}}, readers)
	r.addProblems(problemUnits, &w.Problems)
}

// tooManyVariables returns the error for a file whose variables take too much work.
func tooManyVariables(path string, effort *dwarf.Effort) *bin.Error {
	return &bin.Error{File: path, Section: ".debug_info", Msg: fmt.Sprintf(
		"its variables share lists and types so often that they stand for over %d bytes", effort.Limit)}
}

// joinVars fills in the module's variables.
func (r *reader) joinVars(places []varjoin.Place) {
	var readers []*varjoin.Records
	for _, w := range r.workers {
		if w.Vars != nil {
			readers = append(readers, w.Vars.Records)
		}
	}
	if len(readers) == 0 || r.typeReader == nil {
		return
	}
	r.addSymbols(r.typeReader.Records)
	readers = append(readers, r.typeReader.Records)
	if effort := r.typeReader.Meter.Effort; effort.Over() {
		r.problem(problemUnits, "all variables", tooManyVariables(r.file.Path, effort))
		return
	}
	r.module.Vars = &vars.Info{Locals: r.opts.Vars.Locals, FullTypes: r.opts.Vars.FullTypes}
	varjoin.Join(r.module.Vars, r.module.Funcs, places, r.code.Base, readers)
	r.placeRuntimeTypes(r.module.Vars)
}

// Calls may refer to functions by name: the debug information has only the declaration. If the function is in the
// module, the symbols say where the name leads; otherwise the dynamic relocations name the word into which the loader
// stores its address.

// imports returns the words that hold the addresses of functions of other files.
func (r *reader) imports(seeds *varjoin.Seeds) map[varjoin.Target]uint64 {
	if len(r.files) == 0 { // tests have only debug information
		return nil
	}
	c := r.files[0]
	all := map[varjoin.Target]uint64{}
	// Damage is reported where functions are read from the same symbols; the other relocations are still used.
	_ = c.Imports(func(word uint64, s *object.Symbol) {
		if !s.Undefined {
			return
		}
		if t := seeds.Named(s.Name); all[t] == 0 || word < all[t] {
			all[t] = word
		}
	})
	c.ReleaseSymbols()
	return all
}

// addSymbols adds the functions that symbols name.
func (r *reader) addSymbols(to *varjoin.Records) {
	if len(r.files) == 0 {
		return
	}
	c := r.described()
	table := object.Symtab
	if !c.HasSymbols(table) {
		table = object.Dynamic
	}
	// Damage is reported where functions are read from the same symbols.
	_ = c.Symbols(table, func(s *object.Symbol) {
		if s.Undefined || s.Absolute || s.Kind != object.Function {
			return
		}
		if name, ok := unversioned(s.Name); ok {
			to.AddSymbol(name, s.Addr&^c.ISABit)
		}
	})
	c.ReleaseSymbols()
}

// unversioned returns a symbol's name without its version. It reports false for an older version, which other files
// do not call by that name.
func unversioned(name []byte) ([]byte, bool) {
	name, version, found := bytes.Cut(name, []byte("@"))
	return name, len(name) > 0 && (!found || bytes.HasPrefix(version, []byte("@")))
}

// ReadGlobals returns the variables outside functions whose name is in names, with their types, from the
// first unit that has any. Info presents them as variables of a function at RVA 0; it is nil if there are
// none. Only Debug and Supplement of the options are used. Units in other files are not read.
func ReadGlobals(ctx context.Context, file symfmt.Binary, names []string, o Options) (*vars.Info, []symfmt.Problem, error) {
	o = Options{Debug: o.Debug, Supplement: o.Supplement, Jobs: 1, Vars: VarOptions{Locals: true, FullTypes: true}}
	r, err := newReader(file, &o)
	if err != nil {
		return nil, nil, err
	}
	if err := r.checkTypes(); err != nil {
		return nil, nil, err
	}
	if err := r.findFiles(); err != nil {
		return nil, nil, err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r.code = r.codeMap()
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
	w := funcs.New(d, r.code, r.opts.funcs())
	w.Vars = varread.New(w, r.code, r.opts.Vars.reader(), effort, seeds)
	r.workers = append(r.workers, w)
	wanted := func(name string) bool { return slices.Contains(names, name) }
	var buf []byte
	for i := range d.Units {
		h := &d.Units[i]
		if ctx.Err() != nil || w.Vars.Meter.Exhausted {
			break
		}
		data, err := d.Info.Bytes(int64(h.Off), int64(h.Size), buf)
		if err != nil {
			w.Problem(h.Off, "variables of the unit", err)
			continue
		}
		buf = data[:0]
		if w.Vars.Globals(d, &h.Header, data, wanted, r.code.Base, varjoin.FuncID{}) {
			break
		}
	}
	r.readTypes(ctx, d, effort, seeds)
	r.module.Funcs = []symfmt.Func{{Size: 1}}
	r.joinVars([]varjoin.Place{{}})
	r.addProblems(problemUnits, &w.Problems)
	w.Finish()
	if v := r.module.Vars; v != nil && len(v.Funcs) == 0 {
		r.module.Vars = nil
	}
}
