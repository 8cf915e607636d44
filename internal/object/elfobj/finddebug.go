package elfobj

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// FindDebug looks for the separate debug file of f (GDB manual, "Separate Debug
// Files"): by build-id, at DIR/.build-id/xx/yyyy.debug for each DIR of dirs;
// then by .gnu_debuglink, in the file's folder, in .debug below it, and at DIR
// followed by the file's absolute folder; then as FILE.debug in the same places.
// A file found by build-id or by name must have that id, one found by link the
// CRC-32 in the link. Any must fit the file (CheckPair), and have debug information
// or symbols.
//
// With Limits.Hermetic only the build-id and dirs count.
//
// tried has each place that was rejected, with the reason. If nothing is found the
// File is nil; err is then nil too, unless the right file cannot be read.
func FindDebug(f *File, dirs []string, lim object.Limits) (debug *File, tried []object.Tried, err error) {
	s := debugSearch{f: f, dirs: dirs, lim: lim}
	if s.byBuildID() || s.byLink() || s.byName() {
		return s.found, s.tried, nil
	}
	return nil, s.tried, s.damage
}

type debugSearch struct {
	f      *File
	dirs   []string
	lim    object.Limits
	found  *File
	tried  []object.Tried
	damage error
}

func (s *debugSearch) refuse(path, format string, args ...any) bool {
	s.tried = append(s.tried, object.Tried{Path: path, Why: fmt.Sprintf(format, args...)})
	return false
}

// refuseError rejects the file at path for err.
func (s *debugSearch) refuseError(path string, err error) bool {
	s.tried = append(s.tried, object.Tried{Path: path, Why: bin.Bare(err, path), OtherBuild: errors.Is(err, object.ErrOtherBuild)})
	return false
}

func (s *debugSearch) byBuildID() bool {
	id := s.f.BuildID()
	for _, path := range s.buildIDPaths(id) {
		if s.tryID(path, id) {
			return true
		}
	}
	return false
}

// buildIDPaths lists where a file with the build-id may be.
func (s *debugSearch) buildIDPaths(id []byte) (paths []string) {
	if len(id) < 2 {
		return nil
	}
	name := filepath.Join(".build-id", hex.EncodeToString(id[:1]), hex.EncodeToString(id[1:])+".debug")
	for _, dir := range s.dirs {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}

func (s *debugSearch) tryID(path string, id []byte) bool {
	debug := s.open(path)
	if debug == nil {
		return false
	}
	if got := debug.BuildID(); !bytes.Equal(got, id) {
		debug.Close()
		return s.refuseError(path, debug.otherBuild(got, id))
	}
	return s.take(debug)
}

// take takes debug if it is good for something.
func (s *debugSearch) take(debug *File) bool {
	err := CheckPair(s.f, debug)
	if err == nil && !debug.Object().HasDWARF() && !debug.Object().HasSymbols(object.Symtab) {
		err = debug.errorf(0, "has neither debug information nor symbols")
	}
	if err != nil {
		debug.Close()
		return s.refuseError(debug.Path, err)
	}
	s.found = debug
	return true
}

func (s *debugSearch) open(path string) *File {
	st, err := os.Stat(path)
	if err != nil {
		s.refuse(path, "%v", bareError(err))
		return nil
	}
	if self, err := os.Stat(s.f.Path); err == nil && os.SameFile(st, self) {
		s.refuse(path, "is the file itself")
		return nil
	}
	debug, err := Open(path, s.lim)
	if err != nil {
		if s.damage == nil {
			s.damage = err
		}
		s.refuseError(path, err)
		return nil
	}
	return debug
}

func (s *debugSearch) byLink() bool {
	name, crc, ok := s.f.DebugLink()
	if !ok {
		return false
	}
	if name != filepath.Base(name) || name == "." || name == ".." || name == string(filepath.Separator) {
		return s.refuse(name, "in .gnu_debuglink is not the name of a file without its folder")
	}
	for _, folder := range s.linkFolders() {
		if s.tryCRC(filepath.Join(folder, name), crc) {
			return true
		}
	}
	return false
}

// ownFolders returns the folder of the file as given and with symbolic links
// resolved: packages install below either. With Limits.Hermetic it returns nil.
func (s *debugSearch) ownFolders() []string {
	if s.f.Path == "" || s.lim.Hermetic {
		return nil
	}
	own := []string{filepath.Dir(s.f.Path)}
	if real, err := filepath.EvalSymlinks(s.f.Path); err == nil && filepath.Dir(real) != own[0] {
		own = append(own, filepath.Dir(real))
	}
	return own
}

// linkFolders lists where a linked file may be.
func (s *debugSearch) linkFolders() []string {
	own := s.ownFolders()
	var out []string
	for _, dir := range own {
		out = append(out, dir, filepath.Join(dir, ".debug"))
	}
	for _, root := range s.dirs {
		for _, dir := range own {
			if abs, err := filepath.Abs(dir); err == nil {
				out = append(out, filepath.Join(root, abs))
			}
		}
	}
	return out
}

func (s *debugSearch) tryCRC(path string, want uint32) bool {
	debug := s.open(path)
	if debug == nil {
		return false
	}
	got, err := debug.CRC32()
	if err != nil {
		debug.Close()
		return s.refuse(path, "%v", err)
	}
	if got != want {
		debug.Close()
		return s.refuse(path, "CRC-32 %08x, want %08x", got, want)
	}
	return s.take(debug)
}

// byName looks for FILE.debug. Nothing in FILE names it, so only the build-id can
// confirm it.
func (s *debugSearch) byName() bool {
	id := s.f.BuildID()
	if len(id) == 0 || s.f.Path == "" {
		return false
	}
	name := filepath.Base(s.f.Path) + ".debug"
	if link, _, ok := s.f.DebugLink(); ok && link == name {
		return false // looked for
	}
	for _, folder := range s.linkFolders() {
		if s.tryID(filepath.Join(folder, name), id) {
			return true
		}
	}
	return false
}

// CRC32 returns the checksum of the whole file that .gnu_debuglink holds.
func (f *File) CRC32() (uint32, error) {
	sum := crc32.NewIEEE()
	_, err := io.Copy(sum, io.NewSectionReader(f.r, 0, f.Size))
	return sum.Sum32(), err
}
