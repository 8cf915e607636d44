package resolve

import (
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

// VariableSymbols is implemented by Symbols that may have variables. Its methods may be called
// concurrently.
type VariableSymbols interface {
	// Variables returns the variables of the module, or nil. Records that cannot be used are added
	// to the damage.
	Variables() (*vars.Info, error)

	// Inlines returns the INLINE records that contain an address, as vars.Info.At takes them: by their
	// index in the FUNC.
	Inlines(rva symfmt.RVA) ([]int, error)
}

var _ VariableSymbols = (*Resolver)(nil)

// Variables implements VariableSymbols.
func (r *Resolver) Variables() (*vars.Info, error) {
	info, problems, err := r.source.variables(r.path)
	if err != nil {
		return nil, r.errorf(0, err)
	}
	r.noteVariables(problems)
	return info, nil
}

// Inlines implements VariableSymbols.
func (r *Resolver) Inlines(rva symfmt.RVA) (covering []int, err error) {
	i := r.x.funcs.find(rva)
	if i < 0 {
		return nil, nil
	}
	v, n := r.x.funcs.span(i), 0
	err = r.source.inlines(v, func(in *symfmt.Inline) {
		for _, rg := range in.Ranges {
			if uint64(rva-rg.RVA) < rg.Size {
				covering = append(covering, n)
				break
			}
		}
		n++
	})
	if err != nil {
		return nil, r.errorf(v.offset, err)
	}
	return covering, nil
}
