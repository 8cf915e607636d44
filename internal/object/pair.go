package object

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/symtool/symtool/internal/bin"
)

// DebugChecker is a Container whose debug information may be in a separate file.
type DebugChecker interface {
	// CheckDebug returns nil, or a *bin.Error that says why debug cannot be the
	// separate debug file.
	CheckDebug(debug *File) error
}

// DebugLocator is a DebugChecker whose debug files are in other places than ELF's.
type DebugLocator interface {
	// DebugFiles returns the paths of the files to try, the best first: below dirs and, unless hermetic, beside the
	// file. A file counts only if it has the file's build-id.
	DebugFiles(dirs []string, hermetic bool) []string
}

// ErrSeveral is the kind of the error for a file with several binaries if Limits selects none of them.
var ErrSeveral = errors.New("several binaries")

// CheckPair returns nil, or a *bin.Error that says why debug cannot be the
// separate debug file of f.
func CheckPair(f, debug *File) error {
	if c, ok := f.Container.(DebugChecker); ok {
		return c.CheckDebug(debug)
	}
	return OtherContainer(f.Path, debug)
}

// OtherContainer returns the error for a debug file whose container differs from that
// of the file at path.
func OtherContainer(path string, debug *File) error {
	return &bin.Error{File: debug.Path, Msg: "not in the container of " + path}
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

// OtherBuild returns the error for the file at path whose build-id is not the one
// wanted.
func OtherBuild(path string, got, want []byte) error {
	return &bin.Error{File: path, Msg: fmt.Sprintf("build-id %x, want %x", got, want), Kind: ErrOtherBuild}
}
