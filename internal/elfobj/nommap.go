//go:build !linux

package elfobj

import (
	"errors"
	"os"
)

// canMap tells whether the system maps files.
const canMap = false

func mapFile(*os.File, int64, int64) ([]byte, error)   { return nil, errors.ErrUnsupported }
func mapShared(*os.File, int64, int64) ([]byte, error) { return nil, errors.ErrUnsupported }
func unmapFile([]byte)                                 {}
func dropPages([]byte)                                 {}
