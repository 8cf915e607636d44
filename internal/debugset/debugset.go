// Package debugset finds the files that belong to a binary: its separate debug file, the file that dwz moved a part of the
// debug information to, its PDB; and the program that a debug file describes. They are searched for on this machine and, if
// they are missing, fetched. Whoever reads a binary finds its files here, so that no reader knows less than another.
package debugset

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
)

// Finder says where files may be.
type Finder struct {
	Dirs    []string      // with debug files
	Limits  object.Limits // of files that are opened; with Hermetic, nothing beside a binary counts
	Fetcher Fetcher       // of missing files, by build-id; nil for none
	// ByID returns the paths of files with a build-id in hexadecimal, where all files of some folders are known; it may be nil.
	ByID func(ctx context.Context, id string) ([]string, error)
	// Database returns the path of the PDB with a name and MODULE's id, where it is not in Dirs, or "". It records in Set where
	// it is not. It may be nil.
	Database func(ctx context.Context, s *Set, name, id string) (path string, err error)
}

// Fetcher fetches the file with a build-id, as debuginfod.Client does. The error is fs.ErrNotExist if no server has it.
type Fetcher interface {
	Fetch(ctx context.Context, kind string, buildID []byte) (path string, tried []string, err error)
}

// Kinds of files of a Fetcher, which are words of debuginfod's paths.
const (
	debugInfo  = "debuginfo"
	executable = "executable"
)

// Set has the files that were found for a binary. The caller closes them.
type Set struct {
	Debug, Supplement *object.File   // nil if there is none
	Tried             []object.Tried // where files were not found
	Problems          []bin.Problem  // of files that were found, but cannot be read
}

// What is lost without a file.
const (
	lostDebug = "separate debug file"
	lostNames = "names in the supplementary file"
)

// Debug opens the separate debug file of a binary without debug information. One that has symbols alone counts if there is
// no other. An error is that of ByID.
func (f *Finder) Debug(ctx context.Context, s *Set, binary *object.File) error {
	if binary.HasDWARF() {
		return nil
	}
	before := len(s.Tried)
	found, tried, err := objfile.FindDebug(binary, f.Dirs, f.Limits)
	s.miss(tried, lostDebug, err)
	s.Debug = found
	if found == nil || !found.HasDWARF() {
		better, err := f.debugByID(ctx, s, binary)
		if err != nil {
			return err
		}
		if better != nil {
			if found != nil {
				found.Close()
			}
			s.Debug = better
		}
	}
	if s.described() {
		s.settle(before)
	}
	return nil
}

// debugByID opens the debug file with the binary's build-id among the files that are known, or fetches it.
func (f *Finder) debugByID(ctx context.Context, s *Set, binary *object.File) (*object.File, error) {
	id := binary.BuildID()
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
				debug.Close() // the binary itself
				continue
			}
			if debug = s.paired(binary, debug, err); debug != nil {
				return debug, nil
			}
		}
	}
	return s.paired(binary, f.fetch(ctx, s, lostDebug, id), nil), nil
}

// paired returns a file that was opened if it is the debug file of the binary.
func (s *Set) paired(binary, debug *object.File, err error) *object.File {
	if err == nil && debug != nil {
		if err = object.CheckPair(binary, debug); err == nil {
			return debug
		}
		debug.Close()
	}
	s.lose(lostDebug, err)
	return nil
}

// Supplement opens the supplementary file of the debug information, if that is linked to one. Damage of the link is left to
// the reader.
func (f *Finder) Supplement(ctx context.Context, s *Set, binary *object.File) {
	from, link := s.link(binary)
	if link == nil {
		return
	}
	before := len(s.Tried)
	found, tried, err := objfile.FindSupplement(from, link, f.Dirs, f.Limits)
	s.miss(tried, lostNames, err)
	if found == nil {
		found = f.fetch(ctx, s, lostNames, link.ID)
	}
	if s.Supplement = found; found != nil {
		s.settle(before)
	}
}

// Linked reports whether the debug information of a binary is linked to a supplementary file.
func (s *Set) Linked(binary *object.File) bool {
	_, link := s.link(binary)
	return link != nil
}

// link returns the file with the debug information, and its link to a supplementary file, if it has one.
func (s *Set) link(binary *object.File) (from *object.File, link *object.Link) {
	if s.described() {
		binary = s.Debug
	}
	link, err := binary.Supplement()
	if err != nil {
		return binary, nil
	}
	return binary, link
}

// described reports whether the debug information is in the debug file.
func (s *Set) described() bool { return s.Debug != nil && s.Debug.HasDWARF() }

// fetch fetches and opens the debug file with a build-id; it returns nil if there is none.
func (f *Finder) fetch(ctx context.Context, s *Set, lost string, buildID []byte) *object.File {
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

// fetchFile returns the path of a file that was fetched, or "" if no server has it.
func (f *Finder) fetchFile(ctx context.Context, s *Set, kind string, buildID []byte) (path string, err error) {
	if f.Fetcher == nil {
		return "", nil
	}
	if len(buildID) == 0 {
		s.Tried = append(s.Tried, object.Tried{Path: "debuginfod", Why: "there is no build-id to ask for"})
		return "", nil
	}
	path, tried, err := f.Fetcher.Fetch(ctx, kind, buildID)
	for _, line := range tried {
		s.Tried = append(s.Tried, object.Tried{Why: line})
	}
	if errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil {
		return "", nil
	}
	return path, err
}

// miss records where a file was not found, and the error of one that is damaged.
func (s *Set) miss(tried []object.Tried, lost string, err error) {
	s.Tried = append(s.Tried, tried...)
	s.lose(lost, err)
}

func (s *Set) lose(lost string, err error) {
	if err != nil {
		s.Problems = append(s.Problems, bin.Problem{Lost: lost, Err: err})
	}
}

// settle makes the files of other builds among the places from number on ordinary ones, as the right file was found
// elsewhere.
func (s *Set) settle(from int) {
	for i := range s.Tried[from:] {
		s.Tried[from+i].OtherBuild = false
	}
}

// Close closes the files.
func (s *Set) Close() {
	for _, f := range []*object.File{s.Debug, s.Supplement} {
		if f != nil {
			f.Close()
		}
	}
}
