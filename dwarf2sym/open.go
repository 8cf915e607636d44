package dwarf2sym

import (
	"context"
	"io"

	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/symfmt"
)

// Open opens the ELF, PE or Mach-O file at path for Read, lint.Options.Binary or symsframe.Open. The file may be
// damaged or hostile: the memory and disk space it can use are bounded by its size. Errors contain the path and, if
// the file has another format, say which.
func Open(path string) (symfmt.Binary, error) {
	return asBinary(objfile.Open(path, object.DefaultLimits()))
}

// NewBinary is like Open, for a file in the first size bytes of r. name is its path in messages, and the module's
// name if nothing else names it. Closing the Binary does not close r.
func NewBinary(r io.ReaderAt, size int64, name string) (symfmt.Binary, error) {
	return asBinary(objfile.New(r, size, name, object.DefaultLimits()))
}

// asBinary keeps a nil File from becoming a non-nil Binary.
func asBinary(f *object.File, err error) (symfmt.Binary, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// DefaultDebugDir is where distributions install separate debug files.
const DefaultDebugDir = "/usr/lib/debug"

// ReadFile returns the symbols of the ELF, PE or Mach-O file at path, with those of its separate debug file or PDB
// and of its supplementary file. If Options do not provide these, ReadFile searches for them as symtool dump does: by
// build-id below Options.DebugDirs, by .gnu_debuglink, or as FILE.debug beside the file.
func ReadFile(ctx context.Context, path string, o Options) (*Result, error) {
	file, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if o.DebugDirs == nil && !o.Hermetic {
		o.DebugDirs = []string{DefaultDebugDir}
	}
	set := debugset.Set{Binary: file, PDB: o.PDB}
	defer set.Close()
	if set.Debug, err = object.Of(o.Debug); err != nil {
		return nil, err
	}
	if set.Supplement, err = object.Of(o.Supplement); err != nil {
		return nil, err
	}
	finder := debugset.Finder{Dirs: o.DebugDirs, Hermetic: o.Hermetic, Limits: o.limits(), RulesOnly: o.CFIOnly}
	if err := finder.Complete(ctx, &set); err != nil {
		return nil, err
	}
	o.Debug, o.Supplement, o.PDB = set.Files()
	result, err := Read(ctx, file, o)
	if err != nil {
		return nil, err
	}
	result.Problems = append(set.Problems, result.Problems...)
	result.Tried = set.Tried
	return result, nil
}
