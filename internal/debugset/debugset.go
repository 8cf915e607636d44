// Package debugset finds the files that belong to a binary: its separate debug file, the supplementary file that dwz
// wrote, the .dwo files and packages of split DWARF, the objects of a debug map, and its PDB, or the program that a debug
// file describes. They are searched for on this machine and, if they are missing, fetched. All readers of binaries find
// their files here, so that none knows fewer places than another.
package debugset

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/pdb"
)

// Finder specifies where files may be.
type Finder struct {
	Dirs      []string      // folders with debug files
	Hermetic  bool          // search only Dirs: neither beside a binary nor where a link leads
	Limits    object.Limits // for files that are opened
	RulesOnly bool          // files that describe only functions and lines are neither needed nor worth fetching
	Fetcher   Fetcher       // fetches missing files by build-id; may be nil
	// ByID, if non-nil, returns the paths of files with a build-id in hexadecimal, in folders whose files are all
	// known.
	ByID func(ctx context.Context, id string) ([]string, error)
	// Database, if non-nil, returns the path of a PDB that is not in Dirs, by its name and MODULE's id, or "". It
	// adds the places where it did not find it to Set.Tried.
	Database func(ctx context.Context, s *Set, name, id string) (path string, err error)
}

// Fetcher fetches the file with a build-id, as debuginfod.Client does. The error matches fs.ErrNotExist if no server
// has it.
type Fetcher interface {
	Fetch(ctx context.Context, kind string, buildID []byte) (path string, tried []string, err error)
}

// Kinds of files for Fetcher, as in debuginfod's paths.
const (
	debugInfo  = "debuginfo"
	executable = "executable"
)

// Set is a binary with the files that belong to it. Callers close the files that they opened; Close closes those that
// Complete found.
type Set struct {
	Binary            *object.File
	Debug, Supplement *object.File // nil if there is none
	PDB               *pdb.File

	Tried    []symfmt.Tried // places searched in vain
	Problems []bin.Problem  // files that were found but cannot be read

	found []io.Closer
}

// DebugPath returns the path of the file that has functions and lines in place of the binary: its debug file or PDB. It
// is "" if there is neither.
func (s *Set) DebugPath() string {
	switch {
	case s.PDB != nil:
		return s.PDB.Path
	case s.Debug != nil:
		return s.Debug.Path
	}
	return ""
}

// Descriptions of what is lost without a file.
const (
	lostDebug   = "separate debug file"
	lostNames   = "names in the supplementary file"
	lostProgram = "program"
	lostPDB     = "PDB"
)

// Complete finds the files that the binary of a set lacks: the PDB of a Windows binary without DWARF or, if there is
// none, the separate debug file of a binary without debug information; then the supplementary file. It returns only
// errors of ByID and Database.
func (f *Finder) Complete(ctx context.Context, s *Set) error {
	if s.PDB == nil && s.Debug == nil {
		if err := f.findPDB(ctx, s); err != nil {
			return err
		}
	}
	if s.PDB != nil {
		return nil
	}
	if s.Debug == nil && !s.Binary.HasDWARF() {
		if err := f.findDebug(ctx, s); err != nil {
			return err
		}
	}
	if s.Supplement == nil && !f.RulesOnly {
		f.findSupplement(ctx, s)
	}
	return nil
}

// search returns a search for a file that belongs to the file of.
func (f *Finder) search(of *object.File, other symfmt.TriedKind) search {
	return search{file: of, dirs: f.Dirs, hermetic: f.Hermetic, limits: f.Limits, other: other}
}

// findDebug opens the separate debug file of the binary. One with only symbols is used if there is no other.
func (f *Finder) findDebug(ctx context.Context, s *Set) error {
	before, here := len(s.Tried), f.search(s.Binary, symfmt.OtherDebug)
	here.debug()
	s.miss(&here, lostDebug)
	s.Debug = here.found
	if s.described() == s.Binary {
		better, err := f.debugByID(ctx, s)
		if err != nil {
			s.Debug = nil
			return errors.Join(err, here.close())
		}
		if better != nil {
			if s.Debug != nil {
				s.Debug.Close()
			}
			s.Debug = better
		}
	}
	if s.Debug != nil {
		s.found = append(s.found, s.Debug)
	}
	if s.described() == s.Debug {
		s.settle(before)
	}
	return nil
}

// debugByID opens the debug file with the binary's build-id among the known files, or fetches it.
func (f *Finder) debugByID(ctx context.Context, s *Set) (*object.File, error) {
	id := s.Binary.BuildID()
	if f.ByID != nil {
		paths, err := f.ByID(ctx, hex.EncodeToString(id))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			limits := f.Limits
			limits.ID = id
			debug, err := objfile.Open(path, limits)
			if err == nil && !debug.HasDWARF() {
				debug.Close() // it is the binary itself
				continue
			}
			if debug = s.paired(debug, err); debug != nil {
				return debug, nil
			}
		}
	}
	return s.paired(f.fetch(ctx, s, lostDebug, id), nil), nil
}

// paired returns a file that was opened, if it is the debug file of the binary.
func (s *Set) paired(debug *object.File, err error) *object.File {
	if err == nil && debug != nil {
		if err = object.CheckPair(s.Binary, debug); err == nil {
			return debug
		}
		debug.Close()
	}
	s.lose(lostDebug, err)
	return nil
}

// findSupplement opens the supplementary file of the debug information, if there is a link to one.
func (f *Finder) findSupplement(ctx context.Context, s *Set) {
	from, link := s.described(), s.Link()
	if link == nil {
		return
	}
	before, here := len(s.Tried), f.search(from, symfmt.OtherSupplement)
	here.supplement(link)
	s.miss(&here, lostNames)
	if s.Supplement = here.found; s.Supplement == nil {
		s.Supplement = f.fetch(ctx, s, lostNames, link.ID)
	}
	if s.Supplement != nil {
		s.found = append(s.found, s.Supplement)
		s.settle(before)
	}
}

// Link returns the link to the supplementary file of the debug information, or nil. It does not report damage; the
// reader does.
func (s *Set) Link() *object.Link {
	link, err := s.described().Supplement()
	if err != nil {
		return nil
	}
	return link
}

// described returns the file with the debug information: the debug file if it has any, or else the binary.
func (s *Set) described() *object.File {
	if s.Debug != nil && s.Debug.HasDWARF() {
		return s.Debug
	}
	return s.Binary
}

// fetch fetches and opens the debug file with a build-id. It returns nil if there is none.
func (f *Finder) fetch(ctx context.Context, s *Set, lost string, buildID []byte) *object.File {
	if f.RulesOnly {
		return nil
	}
	path, err := f.fetchFile(ctx, s, debugInfo, buildID)
	if path == "" && err == nil {
		return nil
	}
	var file *object.File
	if err == nil {
		file, err = objfile.Open(path, object.DefaultLimits())
	}
	s.lose(lost, err)
	return file
}

// fetchFile fetches a file and returns its path, or "" if no server has it.
func (f *Finder) fetchFile(ctx context.Context, s *Set, kind string, buildID []byte) (path string, err error) {
	if f.Fetcher == nil {
		return "", nil
	}
	if len(buildID) == 0 {
		s.Tried = append(s.Tried, symfmt.Tried{Place: "debuginfod", Why: "there is no build-id to ask for"})
		return "", nil
	}
	path, tried, err := f.Fetcher.Fetch(ctx, kind, buildID)
	for _, line := range tried {
		s.Tried = append(s.Tried, symfmt.Tried{Why: line})
	}
	if errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil {
		return "", nil
	}
	return path, err
}

// miss records where a search did not find the file. If it found none at all, it also reports the first file that
// could not be read.
func (s *Set) miss(here *search, lost string) {
	s.Tried = append(s.Tried, here.tried...)
	if here.found == nil {
		s.lose(lost, here.damage)
	}
}

func (s *Set) lose(lost string, err error) {
	if err != nil {
		s.Problems = append(s.Problems, bin.Problem{Lost: lost, Err: err})
	}
}

// settle turns files of other builds among s.Tried[from:] into ordinary misses, as the right file was found
// elsewhere.
func (s *Set) settle(from int) {
	for i := range s.Tried[from:] {
		s.Tried[from+i].Kind = symfmt.Absent
	}
}

// Files returns the other files of the set, in the types of dwarf2sym's Options.
func (s *Set) Files() (debug, supplement symfmt.Binary, database *pdb.File) {
	if s.Debug != nil {
		debug = s.Debug
	}
	if s.Supplement != nil {
		supplement = s.Supplement
	}
	return debug, supplement, s.PDB
}

// Close closes the files that were found.
func (s *Set) Close() error {
	var errs []error
	for _, f := range s.found {
		errs = append(errs, f.Close())
	}
	s.found = nil
	return errors.Join(errs...)
}
