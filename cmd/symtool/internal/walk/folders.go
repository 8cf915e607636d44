package walk

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/walk/batch"
	"github.com/symtool/symtool/walk/dumpfile"
)

// dumpsOf returns the dumps that operands stand for: of a folder, the dumps below it in the order of
// their names. Files whose names begin with a dot are left out, as are those that are not dumps. A
// folder that has none, or cannot be read, stays, and walking it reports why.
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

// unread returns the message for a dump that cannot be read, or for a folder that dumpsOf left.
func unread(w *batch.Walked) string {
	if errors.Is(w.Err, dumpfile.ErrNotDump) && cli.IsFolder(w.Path) {
		return w.Path + ": no dumps in this folder: want minidumps, ELF cores or microdumps"
	}
	return cli.Named(w.Path, w.Err)
}
