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

// here opens the module's binary at its path on this machine. The path comes from the dump: only regular files with
// contents are opened, and only one with the module's id is used.
func (b *Binaries) here(s *search) *object.File {
	path := strings.TrimSuffix(s.m.Path, deletedMark)
	if !b.atPaths || !filepath.IsAbs(path) {
		return nil
	}
	if err := filled(path); err != nil {
		s.miss(path, "%v", bin.WithoutPath(err))
		return nil
	}
	return s.openBinary(path)
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
