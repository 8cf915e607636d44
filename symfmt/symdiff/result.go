package symdiff

import (
	"cmp"
	"context"
	"fmt"

	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/symfmt"
)

// Result is the difference between two symbol files.
type Result struct {
	Old, New *Outline
	Options  Options

	// Changes are the differences in the module; in functions, by address in the
	// new file (removed ones by the address at which they would be); in PUBLICs;
	// and in STACK CFI and STACK WIN outside functions.
	Changes []Change
	Module  []Field    // fields of MODULE and INFO that differ
	Paths   []PathMove // folders of source files that differ
	Before  Coverage
	After   Coverage
	Counts  map[Kind]*Count

	funcs   *pairing
	publics []int32 // index of the old PUBLIC of each new one, or -1
	where   shifts
}

// Kind is the kind of record that a Change affects.
type Kind uint8

// The kinds.
const (
	Functions Kind = iota
	Publics
	CFI  // code outside functions
	Wins // outside functions
	Types
)

var kindNames = [...]string{"function", "PUBLIC", "STACK CFI", "STACK WIN", "type"}

// String returns the kind's name, as outputs show it.
func (k Kind) String() string { return kindNames[k] }

// Change is a single difference. Old and New are indices in the outlines' slices
// of its kind (for CFI, in Pieces; for Types, among those with a name), or -1 if absent.
type Change struct { // 20 bytes
	Kind     Kind
	By       matchKind
	What     Aspect
	Old, New int32
	Part     int32 // for Split, a function of the old file; for Merged, one of the new
}

// Compare compares two symbol files. The error comes from reading one of them
// or from ctx; damage is among the outlines' problems.
func Compare(ctx context.Context, before, after *Source, opts Options) (*Result, error) {
	sources := [...]*Source{before, after}
	outlines, err := par.Map(ctx, opts.Jobs, len(sources), func(ctx context.Context, _, item int) (*Outline, error) {
		return read(ctx, sources[item], true)
	})
	if err == nil {
		err = sameForm(ctx, outlines)
	}
	if err != nil {
		return nil, err
	}
	r := &Result{Old: outlines[0], New: outlines[1], Options: opts, Counts: map[Kind]*Count{}}
	if err := r.readVariables(ctx); err != nil {
		return nil, err
	}
	r.shareRows()
	if r.funcs, err = matchFuncs(r.Old, r.New); err != nil {
		return nil, err
	}
	r.matchPublics()
	r.compareModule()
	if err := r.compareFuncs(); err != nil {
		return nil, err
	}
	r.comparePublics()
	r.compareOutside()
	r.compareTypes()
	r.choose()
	r.Before, r.After = r.Old.coverage(), r.New.coverage()
	r.count()
	r.Old.reportEffort()
	r.New.reportEffort()
	return r, nil
}

// reportEffort adds a problem if not everything was compared.
func (o *Outline) reportEffort() {
	for _, e := range [...]struct {
		lost string
		over bool
	}{{"STACK CFI", o.effort.exceeded(len(o.CFI))}, {"STACK WIN", o.winLooks.exceeded(len(o.Wins))}} {
		if e.over {
			o.Problems = append(o.Problems, symfmt.Problem{Lost: e.lost, Err: fmt.Errorf("%s: more functions overlap than can be compared: for some, only the first %d %ss are", o.Source.Name, leastLooks, e.lost)})
		}
	}
}

// sameForm reads a file of the new form of INLINE again without the files of calls if
// the other file has the old form, which lacks them.
func sameForm(ctx context.Context, outlines []*Outline) (err error) {
	if outlines[0].inlineForm() == outlines[1].inlineForm() || outlines[0].inlineForm() == noInlines || outlines[1].inlineForm() == noInlines {
		return nil
	}
	for i, o := range outlines {
		if o.inlineForm() == newInlines {
			outlines[i], err = read(ctx, o.Source, false)
		}
	}
	return err
}

// The forms of a file's INLINE records, as outputs show them.
const (
	noInlines  = "none"
	oldInlines = "without call files"
	newInlines = "with call files"
)

func (o *Outline) inlineForm() string {
	switch {
	case o.Records[symfmt.KindInline] == 0:
		return noInlines
	case o.old:
		return oldInlines
	}
	return newInlines
}

// shareRows gives equal rows of STACK CFI the same number.
func (r *Result) shareRows() {
	to := r.Old.Rows.translate(r.New.Rows)
	for i := range r.New.CFI {
		s := &r.New.CFI[i]
		s.Row = to[s.Row]
	}
	r.New.Rows = r.Old.Rows
	r.New.CFI = joinSpans(r.New.CFI)
}

// Regressions returns the number of changes that make something worse, including those of MODULE.
func (r *Result) Regressions() (n int) {
	for _, c := range r.Counts {
		n += c.Regressions
	}
	for _, f := range r.Module {
		if f.Regression {
			n++
		}
	}
	return n + len(r.WorseCoverage())
}

// Same reports whether there are no differences that count.
func (r *Result) Same() bool { return len(r.Changes) == 0 && len(r.Module) == 0 && len(r.Paths) == 0 }

// Field is a field of MODULE or INFO that differs. A value is "" if the field is absent.
type Field struct {
	Name       string // "MODULE id", "INFO GENERATOR"
	Old, New   string
	Regression bool
}

// PathMove is a renamed folder of source files: in Files names, Old became New.
type PathMove struct {
	Old, New string
	Files    int
}

// Close closes both sources.
func (r *Result) Close() error { return cmp.Or(r.Old.Source.Close(), r.New.Source.Close()) }

// ReadError is a failure to read the details of a change, although the file was
// read before.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return e.Err.Error() }
func (e *ReadError) Unwrap() error { return e.Err }
