package dwarf2sym

import (
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
)

// File is an opened binary. All its methods but Close may be called concurrently.
type File = object.File

// Open opens an ELF file for Read, or for lint.Options.Binary. It may be from
// anywhere: what it makes of memory and disk is bounded by its size. Errors have
// the path, and say what a file is that is not ELF.
func Open(path string) (*File, error) {
	return objfile.Open(path, object.DefaultLimits())
}

// FindDebug opens the separate debug file of f: by its build-id below dirs, by its
// .gnu_debuglink, or as FILE.debug beside it. If there is none it returns nil;
// tried has a line for each file that was rejected. The error is non-nil if the
// matching file cannot be read.
func FindDebug(f *File, dirs ...string) (debug *File, tried []string, err error) {
	debug, places, err := objfile.FindDebug(f, dirs, object.DefaultLimits())
	return debug, object.Lines(places), err
}
