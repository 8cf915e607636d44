package dwarf2sym

import (
	"github.com/symtool/symtool/dwarf2sym/internal/companion"
	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// newCFIInput is like companion.CFIInput, for a file and a debug file, which may be nil.
func newCFIInput(a *arch.Arch, f, debug *object.File) (*unwind.Input, []bin.Problem) {
	return companion.CFIInput(a, companionsOf(f, debug))
}

func companionsOf(files ...*object.File) (out []companion.File) {
	for _, f := range files {
		if f != nil {
			out = append(out, companion.File{File: f})
		}
	}
	return out
}
