// Package companion reads what files say about a binary's code without DWARF's DIEs: the binary,
// its separate debug file and the file in its .gnu_debugdata. That is where code is, the symbols
// that name it, and its call frame information.
package companion

import (
	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// File is a file that describes the code of a binary: the binary, its
// separate debug file, the file in its .gnu_debugdata.
type File struct {
	*object.File

	// Moved is added, modulo 2^64, to an address in this file to get the one in
	// the binary: the addresses of a binary that was prelinked, or moved by
	// "objcopy --change-addresses", differ from those of its debug file. RVAs are
	// always the binary's, which is what is loaded.
	Moved uint64

	Mini bool // from .gnu_debugdata
}

// Find returns the binary and its debug file, if that is not nil. If neither has a .symtab, it adds the file in
// .gnu_debugdata, or the one made from Go's table of functions, which is also used for its unwind rules. lost describes
// what could not be read from this third file.
func Find(file, debug *object.File) (files []File, lost []bin.Problem, err error) {
	files = []File{{File: file}}
	symtab := file.HasSymbols(object.Symtab)
	if debug != nil {
		moved, err := file.Moved(debug)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, File{File: debug, Moved: moved})
		symtab = symtab || debug.HasSymbols(object.Symtab)
	}
	if _, from := firstWithData(files, ".debug_frame"); symtab && (from.File != nil || file.Section(object.GoTable) == nil) {
		return files, nil, nil
	}
	mini, err := file.Embedded()
	var moved uint64
	if mini != nil {
		moved, err = file.Moved(mini)
	}
	if err != nil {
		return files, []bin.Problem{{Lost: "the symbols in it", Err: err}}, nil
	}
	if mini != nil {
		files = append(files, File{mini, moved, true})
	}
	return files, nil, nil
}

// CodeMap returns the code of the file, as RVAs of the binary, whose load base is base.
func (c File) CodeMap(base uint64) *codemap.Map { return codemap.Moved(c.File, c.Moved, base) }
