package debugset

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/symfmt"
)

// debugSuffix is the extension of separate debug files.
const debugSuffix = ".debug"

// Program returns the path of the program or library that a separate debug file describes, or "". It looks beside the
// file, under its name without .debug or .dSYM, or in the parent if the folder is named .debug; at
// DIR/.build-id/xx/yyyy for each DIR of the folders; if the file is below DIR, at its path without DIR; and on a
// server. A program has code, and the build-id of the file.
//
// With Hermetic, only the build-id and the folders are used.
func (f *Finder) Program(ctx context.Context, s *Set, debug *object.File) (path string) {
	id := debug.BuildID()
	if len(id) == 0 {
		return ""
	}
	here := f.search(debug, symfmt.OtherProgram)
	here.limits.ID = id
	defer func() { s.Tried = append(here.tried, s.Tried...) }() // reasons from servers come last
	for _, path := range here.programPaths(id) {
		if here.isProgram(path, id) {
			return path
		}
	}
	if placed(debug) {
		return ""
	}
	path, err := f.fetchFile(ctx, s, executable, id)
	if s.lose(lostProgram, err); err != nil {
		return ""
	}
	return path
}

// placed reports whether a container keeps its debug files elsewhere than ELF, whose places and servers are looked up
// by build-id.
func placed(f *object.File) bool {
	_, ok := f.Container.(object.DebugLocator)
	return ok
}

// programPaths returns where the program may be.
func (s *search) programPaths(id []byte) (paths []string) {
	name, named := strings.CutSuffix(filepath.Base(s.file.Path), debugSuffix)
	for _, folder := range s.ownFolders() {
		if named {
			paths = append(paths, filepath.Join(folder, name))
		}
		if filepath.Base(folder) == debugSuffix {
			paths = append(paths, filepath.Join(filepath.Dir(folder), name))
		}
	}
	if !s.hermetic {
		paths = append(paths, bundlePrograms(s.file.Path)...)
	}
	if placed(s.file) {
		return paths
	}
	for _, path := range BuildIDPaths(s.dirs, id) {
		paths = append(paths, strings.TrimSuffix(path, debugSuffix))
	}
	for _, folder := range s.ownFolders() {
		for _, root := range s.dirs {
			if below, ok := strings.CutPrefix(folder, filepath.Clean(root)+string(filepath.Separator)); ok && named {
				paths = append(paths, filepath.Join(string(filepath.Separator), below, name))
			}
		}
	}
	return paths
}

// dsymExtension is the extension of macOS bundles with debug files.
const dsymExtension = ".dSYM"

// bundlePrograms returns where the program may be for a file in a dSYM bundle, or for a file named like one: beside
// the bundle, under the bundle's name, which may be a bundle itself, and under the file's name.
func bundlePrograms(path string) (paths []string) {
	for bundle := path; filepath.Dir(bundle) != bundle; bundle = filepath.Dir(bundle) {
		name, ok := strings.CutSuffix(bundle, dsymExtension)
		if !ok {
			continue
		}
		paths = append(paths, objfile.InBundle(name))
		if own := filepath.Join(filepath.Dir(bundle), filepath.Base(path)); own != name && own != bundle {
			paths = append(paths, own)
		}
	}
	return paths
}

// isProgram reports whether the file at path has the code for the debug file with the build-id.
func (s *search) isProgram(path string, id []byte) bool {
	program := s.openOther(path)
	if program == nil {
		return false
	}
	defer program.Close()
	switch got := program.BuildID(); {
	case !bytes.Equal(got, id):
		return s.refuseOther(path, "build-id %x, want %x", got, id)
	case !program.HasCode():
		return s.refuse(path, "has no code")
	}
	return true
}

// programExtensions are the extensions of Windows programs.
var programExtensions = []string{".exe", ".dll", ".sys", ".ocx", ".efi", ".scr", ".drv"}

// maxPrograms is the maximum number of programs opened in a folder.
const maxPrograms = 1000

// ProgramOfPDB returns the path of the Windows program with the id of a PDB, as in MODULE, or "". It looks beside the
// PDB and in the folders, and tries programs with the PDB's name first.
func (f *Finder) ProgramOfPDB(s *Set, path, id string) string {
	dirs := f.Dirs
	if !f.Hermetic {
		dirs = append([]string{filepath.Dir(path)}, dirs...)
	}
	stem := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	for _, dir := range dirs {
		candidates := programsIn(dir)
		for _, own := range []bool{true, false} {
			for _, name := range candidates {
				if own == strings.EqualFold(strings.TrimSuffix(name, filepath.Ext(name)), stem) && f.hasID(filepath.Join(dir, name), id) {
					return filepath.Join(dir, name)
				}
			}
		}
		s.Tried = append(s.Tried, symfmt.Tried{Place: dir, Why: "no program with the id " + id})
	}
	return ""
}

// programsIn returns the names of the programs in a folder.
func programsIn(dir string) (names []string) {
	entries, _ := os.ReadDir(dir) // a folder that cannot be read has none
	for _, e := range entries {
		for _, ext := range programExtensions {
			if e.Type().IsRegular() && strings.EqualFold(filepath.Ext(e.Name()), ext) && len(names) < maxPrograms {
				names = append(names, e.Name())
			}
		}
	}
	return names
}

// hasID reports whether the binary at path has MODULE's id.
func (f *Finder) hasID(path, id string) bool {
	file, err := objfile.Open(path, f.Limits)
	if err != nil {
		return false
	}
	defer file.Close()
	return file.ID() == id
}
