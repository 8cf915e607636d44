package dwarf2sym

import (
	"github.com/symtool/symtool/dwarf2sym/internal/callframe"
	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// newCFIInput is like callframe.Input, for a file and a debug file, which may be nil.
func newCFIInput(a *arch.Arch, f, debug *object.File) (*unwind.Input, []bin.Problem) {
	return callframe.Input(a, filesOf(f, debug))
}

func filesOf(files ...*object.File) (out []object.Companion) {
	for _, f := range files {
		if f != nil {
			out = append(out, object.Companion{File: f})
		}
	}
	return out
}
