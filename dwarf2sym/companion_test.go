package dwarf2sym

import (
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/elfobj"
	"github.com/symtool/symtool/symfmt/arch"
)

// elfPublics is companionPublics for files that were not moved; nil ones are
// left out.
func elfPublics(base uint64, files ...*elfobj.File) ([]elfPub, []bin.Problem) {
	return companionPublics(base, companionsOf(files...))
}

// newCFIInput is companionCFI for a file and a debug file that may be nil.
func newCFIInput(a *arch.Arch, f, debug *elfobj.File) (*cfiInput, []bin.Problem) {
	return companionCFI(a, companionsOf(f, debug))
}

func companionsOf(files ...*elfobj.File) (out []companion) {
	for _, f := range files {
		if f != nil {
			out = append(out, companion{File: f})
		}
	}
	return out
}
