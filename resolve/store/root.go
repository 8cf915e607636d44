package store

import (
	"os"
	"path/filepath"
)

// Options control how a store is opened.
type Options struct {
	// NoSync makes writes return before the file and its folders are on the disk.
	// After a power failure files may be empty or short, which Verify finds;
	// killing a process has no such effect.
	NoSync bool
	// Temporary, if non-nil, is called with the path of each temporary file
	// before it is written, and again once it is gone, so that a process that
	// ends early can remove it.
	Temporary func(path string, exists bool)
	// ProgramID, if non-nil, lets Verify check the places of PE files and PDBs.
	ProgramID ProgramID
}

// Store is a folder with symbol files. Nothing outside it is changed: a symbolic
// link that leads out of it is an error. A Store may be used concurrently, and its
// folder by several processes.
//
// # Guarantees
//
// A file is written under a temporary name and published in one step
// (link(2)), so readers see all of it or nothing, even after kill -9. Existing
// files are never replaced, except by Replace. The temporary file is locked
// (flock(2)) while its writer lives, which distinguishes leftovers from files
// being written.
//
// A lock on the folder itself keeps Collect from removing files while others
// are published. On a network file system, where folders cannot be locked
// across machines, the file .symtool-lock is locked instead. Linux has
// supported flock on NFS across clients since 2.6.12, unless it is mounted
// with local_lock=flock or nolock; even then link(2) is a single step. Because
// of such mounts, a temporary file on a network file system counts as left
// over only after an hour. Run Collect on one machine only, and not on the
// server while clients write.
type Store struct {
	Dir     string
	opts    Options
	root    *os.Root
	network bool              // on another machine's file system
	step    func(what string) // for tests: called between any two steps of a write
	link    func(old, new string) error
}

// Open opens an existing store.
func Open(dir string, o Options) (*Store, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{Dir: dir, opts: o, root: root, network: onNetwork(dir), step: func(string) {}, link: root.Link}
	if s.opts.Temporary == nil {
		s.opts.Temporary = func(string, bool) {}
	}
	return s, nil
}

// Create opens a store, creating it if necessary.
func Create(dir string, o Options) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	return Open(dir, o)
}

// Close closes the store. Pending files must be finished first.
func (s *Store) Close() error { return s.root.Close() }

// Path returns the path of a file of the store.
func (s *Store) Path(name string) string { return filepath.Join(s.Dir, name) }
