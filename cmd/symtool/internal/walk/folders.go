package walk

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/fleet"
)

// dumpsOf replaces each operand that is a folder with the dumps below it, in the order of their
// names. It leaves out files that are not dumps, and files and folders whose names begin with a dot.
// A folder that has no dumps, or cannot be read, is not replaced; walking it reports why.
func dumpsOf(operands []string) (files []string) {
	for _, operand := range operands {
		if !cli.IsFolder(operand) {
			files = append(files, operand)
			continue
		}
		n := len(files)
		_ = filepath.WalkDir(operand, func(path string, d fs.DirEntry, err error) error {
			hidden := path != operand && strings.HasPrefix(d.Name(), ".")
			switch {
			case err != nil:
				files = append(files, path)
			case hidden && d.IsDir():
				return filepath.SkipDir
			case !hidden && !d.IsDir() && dumpfile.FormatOf(path) != "":
				files = append(files, path)
			}
			return nil
		})
		if len(files) == n {
			files = append(files, operand)
		}
	}
	return files
}

// unread returns the message for a dump that cannot be read, or for a folder that dumpsOf did not
// replace.
func unread(w *fleet.Walked) string {
	if errors.Is(w.Err, dumpfile.ErrNotDump) && cli.IsFolder(w.Path) {
		return w.Path + ": no dumps in this folder: want minidumps, ELF cores or microdumps"
	}
	return cli.Named(w.Path, w.Err)
}
