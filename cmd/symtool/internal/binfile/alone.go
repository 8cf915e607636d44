package binfile

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
)

// noteAlone notes that a debug file, which is read without its program, lacks the rules that the program has. Sections
// that have no bytes say that there were rules: these are lost, and NoteAlone says so. A dSYM never has such sections.
func (d *Reader) noteAlone(r *Result, f *object.File) {
	if alone := f.Terms.UnwindAlone; alone != "" && r.Stats.CFIBlocks == 0 {
		r.Note(cli.StatusOK, "%s: no STACK CFI: %s", r.File, alone)
		return
	}
	s := f.StrippedUnwind()
	if s == nil || f.HasCode() {
		return
	}
	what := "no STACK CFI"
	if r.Stats.CFIBlocks > 0 {
		what = "not all STACK CFI"
	}
	r.alone = fmt.Sprintf("%s: %s: %s has no bytes in a debug file: %s", r.File, what, s.Name, d.program(r, f))
}

// NoteAlone notes what the file lacks that only its program has, with a status.
func (r *Result) NoteAlone(status int) {
	if r.alone != "" {
		r.Note(status, "%s", r.alone)
	}
}

// program says which file has what a debug file lacks, or where that was looked for.
func (d *Reader) program(r *Result, f *object.File) string {
	path, tried := objfile.FindProgram(f, d.DebugDirs, d.search(r))
	if path != "" {
		return fmt.Sprintf("dump %s, which has them, with this file as DEBUGFILE", path)
	}
	const advice = "dump its program, with this file as DEBUGFILE"
	if len(tried) == 0 {
		return advice
	}
	places := make([]string, len(tried))
	for i, t := range tried {
		places[i] = t.Path
	}
	return advice + "; it is not at " + strings.Join(places, ", ")
}
