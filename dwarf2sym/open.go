package dwarf2sym

import (
	"context"
	"io"

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
	s := search{o: &o, limits: o.limits()}
	s.limits.Hermetic = o.Hermetic
	defer s.close()
	if err := s.find(file); err != nil {
		return nil, err
	}
	result, err := Read(ctx, file, o)
	if err != nil {
		return nil, err
	}
	result.Problems = append(s.problems, result.Problems...)
	result.Tried = s.tried
	return result, nil
}

// search looks for the files that belong to a binary.
type search struct {
	o        *Options // receives the results
	limits   object.Limits
	opened   []*object.File
	tried    []string
	problems []symfmt.Problem
}

func (s *search) close() {
	for _, f := range s.opened {
		f.Close()
	}
}

// find fills in the files that the options lack.
func (s *search) find(file *object.File) error {
	debug, err := object.Of(s.o.Debug)
	if err != nil {
		return err
	}
	if debug == nil && !file.HasDWARF() {
		found, tried, err := objfile.FindDebug(file, s.o.DebugDirs, s.limits)
		if debug = s.take(found, tried, "separate debug file", err); debug != nil {
			s.o.Debug = debug
		}
	}
	if debug != nil && debug.HasDWARF() {
		file = debug
	}
	link, err := file.Supplement()
	if link == nil || err != nil || s.o.Supplement != nil || s.o.CFIOnly {
		return nil // Read reports damage
	}
	found, tried, err := objfile.FindSupplement(file, link, s.o.DebugDirs, s.limits)
	if sup := s.take(found, tried, "names in the supplementary file", err); sup != nil {
		s.o.Supplement = sup
	}
	return nil
}

// take handles the result of a search for a file; lost says what is lost without the file.
func (s *search) take(f *object.File, tried []object.Tried, lost string, err error) *object.File {
	if err != nil {
		s.problems = append(s.problems, symfmt.Problem{Lost: lost, Err: err})
	}
	if f == nil {
		s.tried = append(s.tried, object.Lines(tried)...)
		return nil
	}
	s.opened = append(s.opened, f)
	return f
}
