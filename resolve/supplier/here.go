package supplier

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// deletedMark follows the path of a file that was deleted while it was mapped (proc_pid_maps(5)).
const deletedMark = " (deleted)"

// here opens the module's binary at its path on this machine, or a library without a path in the folders of libraries.
// The path comes from the dump: only regular files with contents are opened, and only one with the module's id is used.
func (b *Binaries) here(s *search) *object.File {
	for _, path := range b.pathsHere(strings.TrimSuffix(s.m.Path, deletedMark)) {
		if err := filled(path); err != nil {
			s.miss(path, "%v", bin.WithoutPath(err))
		} else if f := s.openBinary(path); f != nil {
			return f
		}
	}
	return nil
}

// pathsHere returns where a binary with this path in a process may be.
func (b *Binaries) pathsHere(path string) (paths []string) {
	switch {
	case !b.atPaths || isForeign(path):
	case filepath.IsAbs(path):
		paths = []string{path}
	case path == filepath.Base(path) && filepath.IsLocal(path) && path != ".":
		for _, dir := range b.libraryDirs {
			if file := filepath.Join(dir, path); regular(file) == nil {
				paths = append(paths, file)
			}
		}
		if len(paths) == 0 && len(b.libraryDirs) > 0 { // for the message
			paths = []string{filepath.Join(b.libraryDirs[0], path)}
		}
	}
	return paths
}

// isForeign reports whether a path is a Windows path on a system with other paths: it neither names a file here nor
// is the name of a file to look for in folders. It begins with a drive or a backslash.
func isForeign(path string) bool {
	if filepath.Separator == '\\' {
		return false
	}
	drive := len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') && ('a' <= path[0]|0x20 && path[0]|0x20 <= 'z')
	return drive || strings.HasPrefix(path, `\`)
}

// filled refuses anything but a regular file that has a size. Files that the kernel makes up have none, and reading
// some of them has effects.
func filled(path string) error {
	size, err := regularSize(path)
	if err == nil && size == 0 {
		err = errors.New("the file is empty")
	}
	return err
}
