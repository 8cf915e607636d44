//go:build !linux

package bin

import (
	"errors"
	"os"
)

// CanMap reports whether the system can map files into memory.
const CanMap = false

// MapFile returns an error: the system cannot map files.
func MapFile(*os.File, int64, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

// MapShared returns an error, like MapFile.
func MapShared(*os.File, int64, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

// UnmapFile does nothing.
func UnmapFile([]byte) {}

// DropPages does nothing.
func DropPages([]byte) {}
