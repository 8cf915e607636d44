// Package lint checks whether a symbol file is good enough: whether it follows the format, agrees with
// itself and with the binary, and covers the code with call frame information and lines.
//
// Run checks a file. Package lint/finding has what a run takes and returns: rules, also of a program's own, and
// findings. Package lint/report writes the findings, lint/config reads the settings of a project,
// and lint/filter applies them.
//
// A file is read once, record by record. What later rules need is kept in tables that take a few bytes per
// record: functions, public symbols and blocks of STACK CFI, but not lines and inlined calls.
package lint

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/rules/coverage"
	"github.com/symtool/symtool/lint/internal/rules/grammar"
	"github.com/symtool/symtool/lint/internal/rules/names"
	"github.com/symtool/symtool/symfmt"
)

// Options configures a check. The zero value checks all rules.
type Options struct {
	File string // used in messages
	// Rules are the rules to check: some of those that the function Rules returns, and rules of the caller's own, which
	// have a Check. nil means all of the former.
	Rules []*finding.Rule
	// MaxPerRule is the number of findings kept for each rule; 0 means DefaultMaxPerRule. Further findings
	// are only counted.
	MaxPerRule int
	// MinCFI is the required share, in percent, of the code with call frame information (see
	// coverage.CodeShare). MinLines is the required share of functions' bytes with lines. 0 means no
	// requirement.
	MinCFI, MinLines float64
	// Binary is the binary that the symbols describe, as returned by dwarf2sym.Open, or nil.
	Binary symfmt.Binary
	// OwnBinary means that the symbols were made from Binary, even if the ids differ.
	OwnBinary bool
	// Filter changes severities and removes findings; may be nil. All files that
	// are checked together share one filter.
	Filter *filter.Filter
	// StorePath is the path of the file in a symbol store,
	// NAME/ID/NAME.sym. If it is empty, File is used if it has this form.
	StorePath string
	// Map, if non-nil, is filled with the layout of the module.
	Map *Map
	// Stored reports whether the store that contains the file also has symbols of the file's module under
	// the given name. It is nil without a store.
	Stored func(name string) bool
}

// DefaultMaxPerRule is the default of Options.MaxPerRule.
const DefaultMaxPerRule = check.DefaultMaxPerRule

// Run checks the records of a symbol file. It returns an error if reading fails or ctx is done; damage to
// the file is a finding, not an error.
func Run(ctx context.Context, in symfmt.Records, o Options) (*finding.Report, error) {
	if o.Filter == nil {
		p, err := run(ctx, in, o, nil)
		if err != nil {
			return nil, err
		}
		return p.Result, nil
	}
	file := o.Filter.File(o.File)
	p, err := run(ctx, in, o, file)
	if err != nil {
		return nil, err
	}
	file.Close()
	p.Result.Suppressed, p.Result.Known = file.Suppressed, file.Known
	return p.Result, nil
}

// run checks a symbol file; its findings pass through file unless it is nil.
func run(ctx context.Context, in symfmt.Records, o Options, file *filter.File) (*check.Pass, error) {
	rules, err := checksOf(o.Rules)
	if err != nil {
		return nil, err
	}
	p := check.New(check.Options{
		File: o.File, Rules: rules, MaxPerRule: o.MaxPerRule, MinCFI: o.MinCFI, MinLines: o.MinLines,
		StorePath: o.StorePath, Stored: o.Stored,
	})
	if file != nil {
		p.Sieve = file
		p.Watch(func(r *symfmt.Record) { file.See(r, p.Index(r)) }, symfmt.KindFunc, symfmt.KindPublic)
	}
	if o.Map != nil {
		p.Watch(o.Map.see, symfmt.KindFunc, symfmt.KindLine, symfmt.KindPublic)
	}
	if binary, err := object.Of(o.Binary); err != nil {
		return nil, err
	} else if binary != nil {
		p.Open(binary, o.OwnBinary)
	}
	p.Begin()
	unreadable, err := read(ctx, p, in)
	if err != nil {
		return nil, err
	}
	c := coverage.Measure(p, unreadable)
	p.Result.Coverage = c
	if unreadable {
		c.Reasons = []string{"the text is in UTF-16: no reader accepts the file"}
	} else {
		p.EndRules()
		if o.Map != nil {
			o.Map.finish(p)
		}
	}
	doubts(p, o.MinCFI)
	p.Result.Sort()
	return p, nil
}

// doubts adds to the verdict the findings that contradict it.
func doubts(p *check.Pass, limit float64) {
	misled, c := 0, p.Result.Coverage
	var misleading, refused []string
	for _, found := range p.Result.ByRule() {
		if found.Rule.Misleads {
			misled += found.Count
			misleading = append(misleading, found.Rule.ID)
		}
		if found.Rule.Refused {
			refused = append(refused, found.Rule.ID)
		}
	}
	if misled > 0 {
		coverage.Contradict(c, misled, limit, "see "+strings.Join(misleading, ", "))
	}
	if len(refused) > 0 && p.HasModule {
		c.Reasons = append(c.Reasons, "rust-minidump may refuse the file: see "+strings.Join(refused, ", "))
	}
}

// checkEvery is the number of records after which the context is checked.
const checkEvery = 1 << 14

// minProblems is the least number of reading problems kept for Report.Lost.
const minProblems = 1000

// read dispatches the records. unreadable means that no reader accepts the file's encoding, so nothing is
// known about the file.
func read(ctx context.Context, p *check.Pass, in symfmt.Records) (unreadable bool, err error) {
	rd := in.Reader(symfmt.ReadOptions{File: p.Options.File, Tolerant: true, Grouped: true, Orphans: true, MaxProblems: max(p.Options.MaxPerRule, minProblems)})
	for {
		r, err := rd.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				break
			}
			if !encoding(p, err) {
				return false, err
			}
			unreadable = true
			break
		}
		p.See(r)
		if p.Records%checkEvery == 0 && ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
	}
	p.EndRecords()
	rep := rd.Report()
	p.Result.Bytes, p.Result.Lines = rep.Bytes, rep.Lines
	p.Lines, p.Layout, p.Cut = rep.Lines, rep.Layout, rep.Cut
	p.Result.Damage, p.Result.Lost = rep.Damage, rep.Problems
	p.As(grammar.BadRecord.ID, func() { syntax(p, rep) })
	return unreadable, nil
}

// encoding reports a file in an encoding that no reader accepts. It returns false, without a finding, if
// err is something else.
func encoding(p *check.Pass, err error) bool {
	var se *symfmt.SyntaxError
	if !errors.As(err, &se) {
		return false
	}
	p.As(grammar.UTF16Text.ID, func() { p.ReportPos(symfmt.Pos{Line: se.Line, Col: se.Col}, "%s", se.Msg) })
	return true
}

// syntax reports the lines that are not records. It leaves a record without a name to SYM601 if that rule
// is checked, a truncated line to SYM120, and a record without an owner to other rules.
func syntax(p *check.Pass, rep symfmt.Report) {
	nameless := check.State[names.Nameless](p)
	dropped := rep.Dropped - nameless.Count - rep.Ownerless
	if rep.Cut != nil {
		dropped--
	}
	for _, problem := range rep.Problems {
		var se *symfmt.SyntaxError
		switch {
		case problem.Err == rep.Cut:
			dropped++
		case errors.As(problem.Err, &se) && se.Ownerless:
			dropped++
		case se == nil:
			p.ReportLine(0, "%s", bin.Bare(problem.Err, p.Options.File))
		case nameless.Lines[se.Line]:
			dropped++
		default:
			p.ReportPos(symfmt.Pos{Line: se.Line, Col: se.Col}, "%s: %s", cmp.Or(se.Record, "line"), se.Msg)
		}
	}
	p.Count(dropped)
}
