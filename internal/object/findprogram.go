package object

import (
	"bytes"
	"path/filepath"
	"strings"
)

// debugSuffix ends the names of separate debug files.
const debugSuffix = ".debug"

// FindProgram looks for the program or library that f, a separate debug file, describes: without .debug in the same
// folder or, from one that is named .debug, in the one above; at DIR/.build-id/xx/yyyy for each DIR of dirs; and, if
// f is below DIR, at the path that is left without DIR. A program has code, and the build-id of f.
//
// With Limits.Hermetic only the build-id and dirs count.
//
// path is "" if none is found; tried lists the places that were rejected, with the reasons.
func (c Finder) FindProgram(f *File, dirs []string, lim Limits) (path string, tried []Tried) {
	id := f.BuildID()
	if len(id) == 0 {
		return "", nil
	}
	s := Search{Finder: c, File: f, Dirs: dirs, Limits: lim}
	for _, path := range s.programPaths(id) {
		if s.isProgram(path, id) {
			return path, s.Tried
		}
	}
	return "", s.Tried
}

// programPaths returns where the program may be.
func (s *Search) programPaths(id []byte) (paths []string) {
	name, named := strings.CutSuffix(filepath.Base(s.File.Path), debugSuffix)
	for _, folder := range s.OwnFolders() {
		if named {
			paths = append(paths, filepath.Join(folder, name))
		}
		if filepath.Base(folder) == debugSuffix {
			paths = append(paths, filepath.Join(filepath.Dir(folder), name))
		}
	}
	for _, path := range s.BuildIDPaths(id) {
		paths = append(paths, strings.TrimSuffix(path, debugSuffix))
	}
	for _, folder := range s.OwnFolders() {
		for _, root := range s.Dirs {
			if below, ok := strings.CutPrefix(folder, filepath.Clean(root)+string(filepath.Separator)); ok && named {
				paths = append(paths, filepath.Join(string(filepath.Separator), below, name))
			}
		}
	}
	return paths
}

// isProgram reports whether the file at path has the code of the debug file with the build-id.
func (s *Search) isProgram(path string, id []byte) bool {
	f := s.OpenOther(path)
	if f == nil {
		return false
	}
	defer f.Close()
	switch got := f.BuildID(); {
	case !bytes.Equal(got, id):
		return s.refuseError(path, OtherBuild(path, got, id))
	case !f.HasCode():
		return s.Refuse(path, "has no code")
	}
	return true
}

// StrippedUnwind returns the first section for unwinding that f has only the header of, as its bytes are in the file
// that f describes; nil if there is none.
func (f *File) StrippedUnwind() *Section {
	for _, name := range f.Terms.Unwind {
		for _, s := range f.Sections {
			if s.Called() == name && s.Alloc && s.Stripped() {
				return s
			}
		}
	}
	return nil
}
