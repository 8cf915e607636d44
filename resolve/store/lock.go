package store

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// leftoverAge is the age from which a temporary file counts as left over if a
// lock cannot show whether its writer is alive.
const leftoverAge = time.Hour

// lockName is the file that is locked if the folder cannot be locked.
const lockName = ".symtool-lock"

// errNoLocks means that the file system or the operating system has no locks.
var errNoLocks = errors.New("locks are not supported")

// lock waits until the store is not locked or, if exclusive is false, not
// locked exclusively. Without locks it does not wait: files still appear
// whole.
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

// ifDead calls do if a temporary file is not being written. A writer that is
// about to lock the file waits until do returns, and then finds out what do
// did.
func (s *Store) ifDead(path string, now time.Time, do func() error) error {
	st, err := s.root.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) { // it was published or given up
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
		mode = os.O_RDWR // NFS locks only files that are open for writing
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
