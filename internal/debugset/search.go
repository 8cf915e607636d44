package debugset

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
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/symfmt"
)

// search looks for a file that belongs to another.
type search struct {
	file     *object.File
	dirs     []string
	limits   object.Limits
	hermetic bool
	other    symfmt.TriedKind // kind of the places with files of another build
	tried    []symfmt.Tried
	damage   error // the error of the first file that cannot be read

	found *object.File
}

// debug looks for the separate debug file (GDB manual, "Separate Debug
// Files"): by build-id, at DIR/.build-id/xx/yyyy.debug for each DIR of the folders;
// then by .gnu_debuglink, in the file's folder, in .debug below it, and at DIR
// followed by the file's absolute folder; then as FILE.debug in the same places.
// A file found by build-id or by name must have that id, one found by link the
// CRC-32 in the link. Every file found must fit (object.CheckPair), and have debug
// information or symbols.
//
// With hermetic, only the build-id and the folders are used.
func (s *search) debug() {
	if _, ok := s.file.Container.(object.DebugChecker); !ok {
		return
	}
	if p, ok := s.file.Container.(object.DebugLocator); ok {
		s.byPlace(p)
		return
	}
	if !s.byBuildID() && !s.byLink() {
		s.byName()
	}
}

// close closes the file that was found, if any.
func (s *search) close() error {
	if s.found == nil {
		return nil
	}
	return s.found.Close()
}

// refuse records why the file at path is rejected, and returns false.
func (s *search) refuse(path, format string, args ...any) bool {
	s.tried = append(s.tried, symfmt.Tried{Place: path, Why: fmt.Sprintf(format, args...)})
	return false
}

// refuseOther records that the file at path, to which a link or a name leads, is from another build. It returns
// false.
func (s *search) refuseOther(path, format string, args ...any) bool {
	s.tried = append(s.tried, symfmt.Tried{Place: path, Why: fmt.Sprintf(format, args...), Kind: s.other})
	return false
}

// refuseError records that the file at path is rejected because of err, and returns false.
func (s *search) refuseError(path string, err error) bool {
	t := symfmt.Tried{Place: path, Why: bin.Bare(err, path)}
	if errors.Is(err, object.ErrOtherBuild) {
		t.Kind = s.other
	}
	s.tried = append(s.tried, t)
	return false
}

// byPlace tries the files that the container names.
func (s *search) byPlace(p object.DebugLocator) {
	s.limits.ID = s.file.BuildID()
	for _, path := range p.DebugFiles(s.dirs, s.hermetic) {
		if s.tryID(path, s.limits.ID) {
			return
		}
	}
}

func (s *search) byBuildID() bool {
	id := s.file.BuildID()
	for _, path := range BuildIDPaths(s.dirs, id) {
		if s.tryID(path, id) {
			return true
		}
	}
	return false
}

// BuildIDPaths returns the paths below folders of debug files where the one with the build-id may be.
func BuildIDPaths(dirs []string, id []byte) (paths []string) {
	if len(id) < 2 {
		return nil
	}
	name := filepath.Join(".build-id", hex.EncodeToString(id[:1]), hex.EncodeToString(id[1:])+debugSuffix)
	for _, dir := range dirs {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}

func (s *search) tryID(path string, id []byte) bool {
	debug := s.openOther(path)
	if debug == nil {
		return false
	}
	if got := debug.BuildID(); !bytes.Equal(got, id) {
		debug.Close()
		return s.refuseError(path, object.OtherBuild(debug.Path, got, id))
	}
	return s.take(debug)
}

// take accepts debug if it fits and has debug information or symbols. Otherwise it closes debug, records the reason and
// returns false.
func (s *search) take(debug *object.File) bool {
	err := object.CheckPair(s.file, debug)
	if err == nil && !debug.HasDWARF() && !debug.HasSymbols(object.Symtab) {
		err = &bin.Error{File: debug.Path, Msg: "has neither debug information nor symbols"}
	}
	if err != nil {
		debug.Close()
		return s.refuseError(debug.Path, err)
	}
	s.found = debug
	return true
}

// openOther opens a file other than the one searched for. If it cannot, it returns nil and adds the
// reason to Tried.
func (s *search) openOther(path string) *object.File {
	st, err := os.Stat(path)
	if err != nil {
		s.refuse(path, "%v", bin.WithoutPath(err))
		return nil
	}
	if self, err := os.Stat(s.file.Path); err == nil && os.SameFile(st, self) {
		s.refuse(path, "is the file itself")
		return nil
	}
	debug, err := objfile.Open(path, s.limits)
	if err != nil {
		if s.damage == nil {
			s.damage = err
		}
		s.refuseError(path, err)
		return nil
	}
	return debug
}

func (s *search) byLink() bool {
	name, crc, ok := s.file.DebugLink()
	if !ok {
		return false
	}
	if name != filepath.Base(name) || name == "." || name == ".." || name == string(filepath.Separator) {
		return s.refuse(name, "in .gnu_debuglink is not a file name without a folder")
	}
	for _, folder := range s.linkFolders() {
		if s.tryCRC(filepath.Join(folder, name), crc) {
			return true
		}
	}
	return false
}

// ownFolders returns the folder of the file, both as given and with symbolic links
// resolved: packages install debug files below either. With hermetic it returns nil.
func (s *search) ownFolders() []string {
	if s.file.Path == "" || s.hermetic {
		return nil
	}
	own := []string{filepath.Dir(s.file.Path)}
	if real, err := filepath.EvalSymlinks(s.file.Path); err == nil && filepath.Dir(real) != own[0] {
		own = append(own, filepath.Dir(real))
	}
	return own
}

// linkFolders returns the folders that may contain a linked file.
func (s *search) linkFolders() []string {
	own := s.ownFolders()
	var out []string
	for _, dir := range own {
		out = append(out, dir, filepath.Join(dir, debugSuffix))
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

func (s *search) tryCRC(path string, want uint32) bool {
	debug := s.openOther(path)
	if debug == nil {
		return false
	}
	got, err := crcOf(path)
	if err != nil {
		debug.Close()
		return s.refuse(path, "%v", err)
	}
	if got != want {
		debug.Close()
		return s.refuseOther(path, "CRC-32 %08x, want %08x", got, want)
	}
	return s.take(debug)
}

// byName looks for FILE.debug, and reports whether it was found. Nothing in FILE
// refers to it, so only the build-id can confirm it.
func (s *search) byName() bool {
	id := s.file.BuildID()
	if len(id) == 0 || s.file.Path == "" {
		return false
	}
	name := filepath.Base(s.file.Path) + debugSuffix
	if link, _, ok := s.file.DebugLink(); ok && link == name {
		return false // already looked for
	}
	for _, folder := range s.linkFolders() {
		if s.tryID(filepath.Join(folder, name), id) {
			return true
		}
	}
	return false
}

// crcOf returns the CRC-32 of a whole file, as .gnu_debuglink records it.
func crcOf(path string) (uint32, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, bin.WithoutPath(err)
	}
	defer file.Close()
	sum := crc32.NewIEEE()
	_, err = io.Copy(sum, file)
	return sum.Sum32(), err
}
