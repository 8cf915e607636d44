package store

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// leftoverAge is the age at which a temporary file whose writer cannot be asked
// through a lock counts as left over, in place of one that is being written.
const leftoverAge = time.Hour

// lockName is the file that is locked where the folder cannot be.
const lockName = ".symtool-lock"

// errNoLocks says that a file system or a system has no locks.
var errNoLocks = errors.New("no locks here")

// lock waits until the store is not locked or, if exclusive is false, until it is not
// locked exclusively. If the system has no locks it does not wait: files are
// written whole all the same.
func (s *Store) lock(exclusive bool) (unlock func(), err error) {
	var f *os.File
	if s.network {
		f, err = s.root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o666)
	} else {
		f, err = s.root.Open(".")
	}
	if err != nil {
		return nil, err
	}
	if err := lockFile(f, exclusive, true); err != nil && !errors.Is(err, errNoLocks) {
		f.Close()
		return nil, &fs.PathError{Op: "lock", Path: s.Dir, Err: err}
	}
	return func() { f.Close() }, nil
}

// ifDead calls do if a temporary file is not being written. Its writer, should it
// be about to lock it, waits until do ends, and finds what do did.
func (s *Store) ifDead(path string, now time.Time, do func() error) error {
	st, err := s.root.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) { // it has its name now, or is given up
		return nil
	}
	if err != nil {
		return err
	}
	old := now.Sub(st.ModTime()) >= leftoverAge
	if !isLocked(path) {
		return doIf(old, do)
	}
	mode := os.O_RDONLY
	if s.network {
		mode = os.O_RDWR // NFS locks for writing only files that are open so
	}
	f, err := s.root.OpenFile(path, mode, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrPermission):
		return doIf(old, do)
	case err != nil:
		return err
	}
	defer f.Close()
	switch err := lockFile(f, true, false); {
	case errors.Is(err, errBusy):
		return nil
	case err != nil || s.network:
		return doIf(old, do)
	}
	return do()
}

func doIf(yes bool, do func() error) error {
	if !yes {
		return nil
	}
	return do()
}
