package dwarf2sym

import (
	"context"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/dwarf2sym/internal/varread"
	"github.com/symtool/symtool/internal/bin"
)

// Only variables of functions that the linker kept are read from objects. The addresses of functions and of other
// variables are those in the linked file, as far as the debug map has them. The members of structures are read after
// all objects, from the first object that has each: it is opened again.

// variables makes v, if it is not nil, read the variables of x. It returns the number of functions that v has read
// before.
func (o *objectReader) variables(v *varread.Reader, x *openedObject) (before int) {
	if v == nil {
		return 0
	}
	v.Object(x.code, x.Linked, &dwarf.Effort{Limit: x.d.Effort.Limit})
	return v.Funcs()
}

// checkVariables drops the functions of the ith object, from index first on, if their variables took too much work.
func (o *objectReader) checkVariables(v *varread.Reader, first, i int) {
	if v == nil {
		return
	}
	v.Meter.Flush()
	if effort := v.Meter.Effort; effort.Over() {
		v.DropFuncs(first)
		o.read[i].problems = append(o.read[i].problems, bin.Problem{Lost: "variables of " + o.all[i].String(), Err: tooManyVariables(o.read[i].file, effort)})
	}
}

// readTypes reads the types of the variables that the workers met.
func (o *objectReader) readTypes(ctx context.Context) {
	r := o.r
	w := funcs.New(o.none, r.code, r.opts.funcs())
	v := varread.New(w, r.code, r.opts.Vars.reader(), o.none.Effort, o.seeds)
	r.typeReader = v
	var files []varread.File
	for i := range o.all {
		if o.read[i].file == "" {
			continue
		}
		files = append(files, varread.File{Tag: uint64(i) << objectBits, Use: func(fn func(d *units.Data)) {
			x, _, err := o.open(w, i)
			if err != nil {
				o.read[i].problems = append(o.read[i].problems, bin.Problem{Lost: "members of structures in " + o.all[i].String(), Err: err})
				return
			}
			defer x.close()
			if x.d != nil {
				first := o.variables(v, &x)
				fn(x.d)
				o.checkVariables(v, first, i)
			}
		}})
	}
	var readers []*varread.Reader
	for _, w := range r.workers {
		readers = append(readers, w.Vars)
	}
	v.ReadTypes(ctx, files, readers)
	v.Meter.Effort = o.none.Effort // each object had its own
	r.addProblems(problemSplit, &w.Elsewhere)
}
