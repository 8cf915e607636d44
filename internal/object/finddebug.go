package object

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/symtool/symtool/internal/bin"
)

// Separable is a Container whose debug information may be in a file of its own.
type Separable interface {
	// CheckDebug returns nil or a *bin.Error with the reason why debug cannot be the
	// separate debug file.
	CheckDebug(debug *File) error
}

// Placed is a Separable whose debug files are elsewhere than those of ELF.
type Placed interface {
	// DebugFiles returns the paths of the files to try, the best first. They must have the file's
	// build-id. The search says what folders there are.
	DebugFiles(s *Search) []string
}

// ErrSeveral is the kind of the error for a file with several binaries of which Limits choose none.
var ErrSeveral = errors.New("several binaries")

// CheckPair returns nil or a *bin.Error with the reason why debug cannot be the
// separate debug file of f.
func CheckPair(f, debug *File) error {
	if c, ok := f.Container.(Separable); ok {
		return c.CheckDebug(debug)
	}
	return OtherContainer(f.Path, debug)
}

// OtherContainer returns the error for a debug file whose container is not that of the
// file at path.
func OtherContainer(path string, debug *File) error {
	return &bin.Error{File: debug.Path, Msg: "not in the container of " + path}
}

// Finder searches for debug files.
type Finder struct {
	// Open opens a candidate. Its error is a *bin.Error.
	Open func(path string, lim Limits) (*File, error)
}

// FindDebug looks for the separate debug file of f (GDB manual, "Separate Debug
// Files"): by build-id, at DIR/.build-id/xx/yyyy.debug for each DIR of dirs;
// then by .gnu_debuglink, in the file's folder, in .debug below it, and at DIR
// followed by the file's absolute folder; then as FILE.debug in the same places.
// A file found by build-id or by name must have that id, one found by link the
// CRC-32 in the link. Every file found must fit f (CheckPair), and have debug
// information or symbols.
//
// With Limits.Hermetic only the build-id and dirs count.
//
// tried lists the places that were rejected, with the reasons. If nothing is found,
// debug is nil; err is then nil too, unless the right file cannot be read.
func (c Finder) FindDebug(f *File, dirs []string, lim Limits) (debug *File, tried []Tried, err error) {
	if _, ok := f.Container.(Separable); !ok {
		return nil, nil, nil
	}
	s := Search{Finder: c, File: f, Dirs: dirs, Limits: lim}
	if p, ok := f.Container.(Placed); ok {
		s.byPlace(p)
		return s.found, s.Tried, s.damage()
	}
	if s.byBuildID() || s.byLink() || s.byName() {
		return s.found, s.Tried, nil
	}
	return nil, s.Tried, s.Damage
}

// Search looks for a file that belongs to another.
type Search struct {
	Finder
	File   *File
	Dirs   []string
	Limits Limits
	Tried  []Tried
	Damage error // of the first file that cannot be read

	found *File
}

// Refuse records why the file at path is rejected, and returns false.
func (s *Search) Refuse(path, format string, args ...any) bool {
	s.Tried = append(s.Tried, Tried{Path: path, Why: fmt.Sprintf(format, args...)})
	return false
}

// RefuseOther records that the file at path, which a link or a name leads to, is of another build, and returns false.
func (s *Search) RefuseOther(path, format string, args ...any) bool {
	s.Tried = append(s.Tried, Tried{Path: path, Why: fmt.Sprintf(format, args...), OtherBuild: true})
	return false
}

// refuseError rejects the file at path for err.
func (s *Search) refuseError(path string, err error) bool {
	s.Tried = append(s.Tried, Tried{Path: path, Why: bin.Bare(err, path), OtherBuild: errors.Is(err, ErrOtherBuild)})
	return false
}

// damage returns the error of the first file that cannot be read, if no other was found.
func (s *Search) damage() error {
	if s.found != nil {
		return nil
	}
	return s.Damage
}

// byPlace tries the files that the container names.
func (s *Search) byPlace(p Placed) {
	s.Limits.ID = s.File.BuildID()
	for _, path := range p.DebugFiles(s) {
		if s.tryID(path, s.Limits.ID) {
			return
		}
	}
}

func (s *Search) byBuildID() bool {
	id := s.File.BuildID()
	for _, path := range s.BuildIDPaths(id) {
		if s.tryID(path, id) {
			return true
		}
	}
	return false
}

// BuildIDPaths returns the paths at which a file with the build-id may be.
func (s *Search) BuildIDPaths(id []byte) (paths []string) {
	if len(id) < 2 {
		return nil
	}
	name := filepath.Join(".build-id", hex.EncodeToString(id[:1]), hex.EncodeToString(id[1:])+".debug")
	for _, dir := range s.Dirs {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}

func (s *Search) tryID(path string, id []byte) bool {
	debug := s.OpenOther(path)
	if debug == nil {
		return false
	}
	if got := debug.BuildID(); !bytes.Equal(got, id) {
		debug.Close()
		return s.refuseError(path, OtherBuild(debug.Path, got, id))
	}
	return s.take(debug)
}

// take accepts debug if it fits and has something to add.
func (s *Search) take(debug *File) bool {
	err := CheckPair(s.File, debug)
	if err == nil && !debug.HasDWARF() && !debug.HasSymbols(Symtab) {
		err = &bin.Error{File: debug.Path, Msg: "has neither debug information nor symbols"}
	}
	if err != nil {
		debug.Close()
		return s.refuseError(debug.Path, err)
	}
	s.found = debug
	return true
}

// OpenOther opens a file other than the one searched for. If it cannot, it returns nil and adds the
// reason to Tried.
func (s *Search) OpenOther(path string) *File {
	st, err := os.Stat(path)
	if err != nil {
		s.Refuse(path, "%v", bin.WithoutPath(err))
		return nil
	}
	if self, err := os.Stat(s.File.Path); err == nil && os.SameFile(st, self) {
		s.Refuse(path, "is the file itself")
		return nil
	}
	debug, err := s.Open(path, s.Limits)
	if err != nil {
		if s.Damage == nil {
			s.Damage = err
		}
		s.refuseError(path, err)
		return nil
	}
	return debug
}

func (s *Search) byLink() bool {
	name, crc, ok := s.File.DebugLink()
	if !ok {
		return false
	}
	if name != filepath.Base(name) || name == "." || name == ".." || name == string(filepath.Separator) {
		return s.Refuse(name, "in .gnu_debuglink is not a file name without a folder")
	}
	for _, folder := range s.linkFolders() {
		if s.tryCRC(filepath.Join(folder, name), crc) {
			return true
		}
	}
	return false
}

// OwnFolders returns the folder of the file as given, and with symbolic links
// resolved: packages install debug files below either. With Limits.Hermetic it returns nil.
func (s *Search) OwnFolders() []string {
	if s.File.Path == "" || s.Limits.Hermetic {
		return nil
	}
	own := []string{filepath.Dir(s.File.Path)}
	if real, err := filepath.EvalSymlinks(s.File.Path); err == nil && filepath.Dir(real) != own[0] {
		own = append(own, filepath.Dir(real))
	}
	return own
}

// linkFolders returns the folders in which a linked file may be.
func (s *Search) linkFolders() []string {
	own := s.OwnFolders()
	var out []string
	for _, dir := range own {
		out = append(out, dir, filepath.Join(dir, ".debug"))
	}
	for _, root := range s.Dirs {
		for _, dir := range own {
			if abs, err := filepath.Abs(dir); err == nil {
				out = append(out, filepath.Join(root, abs))
			}
		}
	}
	return out
}

func (s *Search) tryCRC(path string, want uint32) bool {
	debug := s.OpenOther(path)
	if debug == nil {
		return false
	}
	got, err := crcOf(path)
	if err != nil {
		debug.Close()
		return s.Refuse(path, "%v", err)
	}
	if got != want {
		debug.Close()
		return s.RefuseOther(path, "CRC-32 %08x, want %08x", got, want)
	}
	return s.take(debug)
}

// byName looks for FILE.debug. Nothing in FILE refers to it, so only the build-id
// can confirm it.
func (s *Search) byName() bool {
	id := s.File.BuildID()
	if len(id) == 0 || s.File.Path == "" {
		return false
	}
	name := filepath.Base(s.File.Path) + ".debug"
	if link, _, ok := s.File.DebugLink(); ok && link == name {
		return false // already looked for
	}
	for _, folder := range s.linkFolders() {
		if s.tryID(filepath.Join(folder, name), id) {
			return true
		}
	}
	return false
}

// crcOf returns the checksum of a whole file that .gnu_debuglink holds.
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

// ParseDebugLink decodes .gnu_debuglink (GDB manual, "Separate Debug Files"): name, NUL,
// padding to 4 bytes, CRC-32.
func ParseDebugLink(data []byte, order binary.ByteOrder) (name string, crc uint32, ok bool) {
	c := bin.New(".gnu_debuglink", data, order)
	file := c.CStr()
	c.Skip(-uint64(c.Pos()) & 3)
	crc = c.U32()
	return string(file), crc, c.Err() == nil && len(file) > 0
}

// OtherBuild returns the error for the file at path, whose build-id is not the one
// wanted.
func OtherBuild(path string, got, want []byte) error {
	return &bin.Error{File: path, Msg: fmt.Sprintf("build-id %x, want %x", got, want), Kind: ErrOtherBuild}
}
