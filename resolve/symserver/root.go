package symserver

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/symtool/symtool/internal/bin"
)

// root is a folder that is served. All files are opened below it.
type root struct {
	*os.Root
	dir     string
	symbols bool // it is a store; otherwise it has executables and debug files only
}

func openRoot(dir string, symbols bool) (*root, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, bin.WithoutPath(err))
	}
	o := &root{r, dir, symbols}
	if err := o.check(); err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return o, nil
}

var errReplaced = errors.New("the folder was replaced by another")

// check returns the reason why the folder cannot be served.
func (r *root) check() error {
	named, err := os.Stat(r.dir)
	if err != nil {
		return bin.WithoutPath(err)
	}
	f, err := r.Open(".")
	if err != nil {
		return bin.WithoutPath(err)
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return bin.WithoutPath(err)
	}
	if !os.SameFile(named, opened) {
		return errReplaced
	}
	if _, err = f.Readdirnames(1); err == io.EOF {
		err = nil
	}
	return bin.WithoutPath(err)
}

var errIrregular = errors.New("not a regular file")

// errEscapes is os's error for a path that leads out of a Root, which it does not
// export.
var errEscapes = func() error {
	r, err := os.OpenRoot(os.TempDir())
	if err != nil {
		return errIrregular
	}
	defer r.Close()
	_, err = r.Stat("..")
	return bin.WithoutPath(err)
}()

// file is an open file.
type file struct {
	*os.File
	root *root
	path string // below root
	size int64
	time int64 // of the last change, in nanoseconds
	info fs.FileInfo
}

// openRegular opens a regular file. Opening a named pipe would block without O_NONBLOCK, which
// has no effect on a regular file.
func (r *root) openRegular(path string) (*file, error) {
	f, err := r.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, bin.WithoutPath(err)
	}
	st, err := f.Stat()
	switch {
	case err != nil:
	case st.IsDir():
		err = syscall.EISDIR
	case !st.Mode().IsRegular():
		err = errIrregular
	}
	if err != nil {
		f.Close()
		return nil, bin.WithoutPath(err)
	}
	return &file{f, r, path, st.Size(), st.ModTime().UnixNano(), st}, nil
}

// absent reports whether an error means that the file does not exist.
func absent(err error) bool {
	for _, no := range []error{fs.ErrNotExist, syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.EISDIR} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// refusedPath reports whether a path led out of the folder, or to something other than a file: the
// client gets nothing, and the operator a message.
func refusedPath(err error) bool {
	return errors.Is(err, errIrregular) || errors.Is(err, syscall.ELOOP) || errors.Is(err, errEscapes)
}

// first opens the first of several files that exists, in the first root that has one. The
// error is from a file that exists but cannot be read.
func (s *Server) first(needsSymbols bool, paths iter.Seq[string]) (*file, error) {
	var failure error
	for _, r := range s.roots {
		if needsSymbols && !r.symbols {
			continue
		}
		folders := folders{root: r}
		tried := false
		for path := range paths {
			if tried && folders.lack(path) {
				continue
			}
			tried = true
			f, err := r.openRegular(path)
			switch {
			case err == nil:
				return f, nil
			case absent(err):
			case refusedPath(err):
				s.warnf("%s/%s: not served: %v", r.dir, path, err)
			default:
				s.warnf("%s/%s: %v", r.dir, path, err)
				failure = err
			}
		}
	}
	return nil, failure
}

// folders caches which folders a root has, for the duration of one request: a module has several
// possible files, and most modules that are requested have not even a folder.
type folders struct {
	root           *root
	there, missing string // the last folder that was found, and the last that was not, with a trailing separator
}

// lack reports whether a folder of a file's path is missing.
func (f *folders) lack(path string) bool {
	dir, _ := filepath.Split(path)
	switch {
	case f.missing != "" && strings.HasPrefix(dir, f.missing):
		return true
	case dir == f.there:
		return false
	}
	for end := range dir {
		if !os.IsPathSeparator(dir[end]) || strings.HasPrefix(f.there, dir[:end+1]) {
			continue
		}
		if _, err := f.root.Stat(dir[:end]); errors.Is(err, fs.ErrNotExist) {
			f.missing = dir[:end+1]
			return true
		}
	}
	f.there = dir
	return false
}
