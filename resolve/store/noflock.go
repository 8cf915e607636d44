//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package store

import (
	"errors"
	"os"
)

var errBusy = errors.New("busy")

func lockFile(*os.File, bool, bool) error { return errNoLocks }
