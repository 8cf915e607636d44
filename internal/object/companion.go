package object

import (
	"slices"

	"github.com/symtool/symtool/internal/bin"
)

// Companion is one of the files that describe the code of a binary: the binary, its separate debug file, the file in
// its .gnu_debugdata.
type Companion struct {
	*File

	// Moved is added, modulo 2^64, to an address in this file to get the one in
	// the binary: the addresses of a binary that was prelinked, or moved by
	// "objcopy --change-addresses", differ from those of its debug file. RVAs are
	// always the binary's, which is what is loaded.
	Moved uint64

	Mini bool // from .gnu_debugdata
}

// Companions returns the binary and its debug file, if that is not nil. If neither has a .symtab, it adds the file in
// .gnu_debugdata, or the one made from Go's table of functions, which is also used for its unwind rules. lost describes
// what could not be read from this third file.
func Companions(binary, debug *File) (files []Companion, lost []bin.Problem, err error) {
	files = []Companion{{File: binary}}
	symtab := binary.HasSymbols(Symtab)
	if debug != nil {
		moved, err := binary.Moved(debug)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, Companion{File: debug, Moved: moved})
		symtab = symtab || debug.HasSymbols(Symtab)
	}
	if symtab && (binary.Section(GoTable) == nil || slices.ContainsFunc(files, hasDebugFrame)) {
		return files, nil, nil
	}
	mini, err := binary.Embedded()
	var moved uint64
	if mini != nil {
		moved, err = binary.Moved(mini)
	}
	if err != nil {
		return files, []bin.Problem{{Lost: "the symbols in it", Err: err}}, nil
	}
	if mini != nil {
		files = append(files, Companion{mini, moved, true})
	}
	return files, nil, nil
}

func hasDebugFrame(f Companion) bool { return len(f.SectionsNamed(".debug_frame")) > 0 }
