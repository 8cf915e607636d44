package dwarf2sym

import (
	"context"
	"io"

	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/symfmt"
)

// Open opens the ELF file at path for Read, lint.Options.Binary or symsframe.Open. The
// file may be damaged or hostile: the memory and disk space it can use are bounded by its
// size. Errors contain the path, and name the format of a file that is not ELF.
func Open(path string) (symfmt.Binary, error) {
	return asBinary(objfile.Open(path, object.DefaultLimits()))
}

// NewBinary is like Open, for an ELF file in the first size bytes of r. name is its path
// in messages, and the module's name if nothing else names it. Closing the Binary does
// not close r.
func NewBinary(r io.ReaderAt, size int64, name string) (symfmt.Binary, error) {
	return asBinary(objfile.New(r, size, name, object.DefaultLimits()))
}

// asBinary keeps a nil File from becoming a Binary that is not nil.
func asBinary(f *object.File, err error) (symfmt.Binary, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// DefaultDebugDir is where distributions install separate debug files.
const DefaultDebugDir = "/usr/lib/debug"

// ReadFile returns the symbols of the ELF file at path, with those of its separate debug file and
// its supplementary file. If Options do not have them, they are looked for as by symtool dump: by
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
	var set debugset.Set
	defer set.Close()
	if err := find(ctx, &set, file, &o); err != nil {
		return nil, err
	}
	result, err := Read(ctx, file, o)
	if err != nil {
		return nil, err
	}
	result.Problems = append(set.Problems, result.Problems...)
	result.Tried = object.Lines(set.Tried)
	return result, nil
}

// find fills in the files that the options lack.
func find(ctx context.Context, set *debugset.Set, file *object.File, o *Options) error {
	finder := debugset.Finder{Dirs: o.DebugDirs, Limits: o.limits()}
	finder.Limits.Hermetic = o.Hermetic
	given, err := object.Of(o.Debug)
	if err != nil {
		return err
	}
	if given != nil {
		if given.HasDWARF() {
			file = given
		}
	} else if err := finder.Debug(ctx, set, file); err != nil {
		return err
	}
	if set.Debug != nil {
		o.Debug = set.Debug
	}
	if o.Supplement != nil || o.CFIOnly {
		return nil
	}
	if finder.Supplement(ctx, set, file); set.Supplement != nil {
		o.Supplement = set.Supplement
	}
	return nil
}
