package binfile

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
)

// noteAlone notes that a debug file, which is read without its program, lacks the program's unwind rules. Sections
// without bytes show that there were rules; NoteAlone reports these as lost. A dSYM never has such sections.
func (d *Reader) noteAlone(ctx context.Context, r *Result, f *object.File) {
	if f.HasCode() {
		if alone := f.Terms.UnwindAlone; alone != "" && r.Stats.CFIBlocks == 0 {
			r.Note(cli.StatusOK, "%s: no STACK CFI: %s", r.File, alone)
		}
		return
	}
	alone, s := f.Terms.UnwindAlone, f.StrippedUnwind()
	if alone == "" && s == nil {
		return
	}
	var set debugset.Set
	finder := d.finder(r)
	if d.Many {
		finder.Fetcher = nil
	}
	r.alone(&set, finder.Program(ctx, &set, f))
	if alone != "" && r.Stats.CFIBlocks == 0 {
		r.Note(cli.StatusOK, "%s: no STACK CFI: %s", r.File, r.dumpProgram("which has it", alone))
		return
	}
	if s == nil {
		return
	}
	what := "no STACK CFI"
	if r.Stats.CFIBlocks > 0 {
		what = "not all STACK CFI"
	}
	r.lacks = fmt.Sprintf("%s: %s: %s has no bytes in a debug file: %s", r.File, what, s.Name,
		r.dumpProgram("which has them", "dump its program, with this file as DEBUGFILE"))
}

// NoteAlone notes, with a status, that the file lacks unwind rules that only its program has.
func (r *Result) NoteAlone(status int) {
	if r.lacks != "" {
		r.Note(status, "%s", r.lacks)
	}
}

// alone records the program of a debug file that is read without it, or else where the program was looked for.
func (r *Result) alone(set *debugset.Set, program string) {
	r.Program = program
	for _, t := range set.Tried {
		r.NoProgram = append(r.NoProgram, cmp.Or(t.Place, t.Why))
	}
	for _, p := range set.Problems {
		r.problem(p)
	}
}

// dumpProgram names the program to dump, which has what a debug file lacks. If the program was not found, it returns
// otherwise, the advice, and where the program was looked for.
func (r *Result) dumpProgram(has, otherwise string) string {
	switch {
	case r.Program != "":
		return fmt.Sprintf("dump %s, %s, with this file as DEBUGFILE", r.Program, has)
	case len(r.NoProgram) > 0:
		return otherwise + "; it is not at " + strings.Join(r.NoProgram, ", ")
	}
	return otherwise
}
