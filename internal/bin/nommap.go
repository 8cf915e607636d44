//go:build !linux

package bin

import (
	"errors"
	"os"
)

// CanMap reports whether the system maps files.
const CanMap = false

// MapFile cannot map.
func MapFile(*os.File, int64, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

// MapShared cannot map.
func MapShared(*os.File, int64, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

// UnmapFile has nothing to do.
func UnmapFile([]byte) {}

// DropPages has nothing to do.
func DropPages([]byte) {}
