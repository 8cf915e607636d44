package store

import (
	"os"
	"path/filepath"
)

// Options say how a store is opened.
type Options struct {
	// NoSync ends a write before the file and the folders that name it are on the
	// disk. A power failure may then leave empty or short files, which Verify
	// finds; a process that is killed leaves none either way.
	NoSync bool
	// Temporary, if non-nil, is called with the path of each file that is being
	// written, and again when it has gone: a process that ends early may want to
	// remove it.
	Temporary func(path string, exists bool)
}

// Store is a folder with symbol files. Nothing outside it is changed: a symbolic
// link in it that leads elsewhere is an error. It may be used concurrently, also by
// several processes.
//
// # What holds
//
// A file is written under a temporary name and gets its own in one step (link(2)),
// so readers see it whole or not at all, also after kill -9. A file that exists is
// never replaced, except by Replace. The temporary file is locked (flock(2)) for as
// long as its writer lives: that distinguishes a leftover from a file that is being
// written.
//
// A lock on the folder itself keeps apart the moments in which a file gets its
// name and those in which Collect removes one. On a network file system, where
// folders cannot be locked for other machines, it is on the file .symtool-lock.
// Linux has had flock on NFS for all clients since 2.6.12, unless it is mounted with
// local_lock=flock or nolock; link(2) is one step there also then. Because of such
// mounts a temporary file on a network file system counts as left over after
// an hour only. Collect should run on one machine, and not on the server while
// clients write.
type Store struct {
	Dir     string
	opts    Options
	root    *os.Root
	network bool              // on a file system of another machine
	step    func(what string) // for tests: called between any two steps of a write
	link    func(old, new string) error
}

// Open opens a store that exists.
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

// Create opens a store, and makes it if there is none.
func Create(dir string, o Options) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	return Open(dir, o)
}

// Close closes the store. Files that are being written are to be finished before.
func (s *Store) Close() error { return s.root.Close() }

// Path returns where a file of the store is.
func (s *Store) Path(name string) string { return filepath.Join(s.Dir, name) }
