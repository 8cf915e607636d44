package walk

import (
	"context"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

// moduleVars holds the variables of a module and the symbols to which they belong. Both are nil if
// there are none.
type moduleVars struct {
	symbols  resolve.VariableSymbols
	info     *vars.Info
	problems []symfmt.Problem // except those of symbols
}

// lost records that there are no variables because of an error.
func (v *moduleVars) lost(err error) {
	v.problems = append(v.problems, symfmt.Problem{Lost: "variables", Err: err})
}

// variables returns the variables of the module: from its symbol file, from the .vars file beside
// it in a store, or from the binary whose debug information replaces a missing symbol file.
func (st *moduleState) variables(ctx context.Context) *moduleVars {
	return st.vars.Do(ctx, func(v *moduleVars) {
		names := st.names(ctx)
		if st.symbols.Peek().binary {
			v.fromBinary(ctx, st)
			return
		}
		r, ok := names.(resolve.VariableSymbols)
		if !ok {
			return
		}
		v.symbols = r
		var err error
		if v.info, err = r.Variables(); v.info == nil && err == nil {
			id := names.Identity()
			var beside *symfmt.VarsResult
			if beside, err = symfmt.ReadVarsBeside(id.Path, id.ID); err == nil {
				v.info, v.problems = beside.Vars, beside.Problems
			}
		}
		if err != nil {
			v.lost(err)
		}
	})
}

// fromBinary reads the variables of a binary, together with the symbols to which they belong. These
// have the same records as symbols that are read part by part.
func (v *moduleVars) fromBinary(ctx context.Context, st *moduleState) {
	var err error
	if b := st.binaries(); b != nil {
		v.symbols, v.problems, err = b.Variables(ctx, st.m)
	}
	if f := st.fileInMemory(); f != nil && v.symbols == nil && err == nil {
		o := dwarf2sym.Options{Demangle: true, NoCFI: true, Vars: dwarf2sym.VarOptions{Params: true, Locals: true, FullTypes: true}}
		var result *dwarf2sym.Result
		if result, err = dwarf2sym.Read(ctx, f, o); err == nil {
			v.symbols, v.problems = resolve.FromModule(result.Module, resolve.ModuleOptions{Path: f.Path, Extents: &result.Extents}), result.Problems
		}
	}
	if v.symbols != nil && err == nil {
		v.info, err = v.symbols.Variables()
	}
	if err != nil {
		v.lost(err)
	}
}
