package dwarf2sym

import (
	"github.com/symtool/symtool/internal/object"
)

func filesOf(files ...*object.File) (out []object.Companion) {
	for _, f := range files {
		if f != nil {
			out = append(out, object.Companion{File: f})
		}
	}
	return out
}
