package lint

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/lint/check"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/internal/grammar"
	"github.com/symtool/symtool/lint/internal/image"
	"github.com/symtool/symtool/lint/internal/measure"
	"github.com/symtool/symtool/lint/internal/names"
	"github.com/symtool/symtool/symfmt"
)

// Options configures a check. The zero value checks all rules.
type Options struct {
	File string // name for messages
	// Rules are those that are checked; nil for all.
	Rules []*Rule
	// MaxPerRule is how many findings of a rule are kept, 100 if it is 0; the others are counted.
	MaxPerRule int
	// MinCFI and MinLines are the shares of functions' bytes, in percent, that must
	// have call frame information and lines; 0 for no limit.
	MinCFI, MinLines float64
	// Binary is the file that the symbols are of, as dwarf2sym.Open returns it; nil for none.
	Binary symfmt.Binary
	// OwnBinary says that the symbols were made of Binary, whatever their id is.
	OwnBinary bool
	// Filter changes severities and takes findings away; nil for none. One filter
	// is for all files that are checked together.
	Filter *filter.Filter
	// StorePath is the path at which the file is found in a symbol store,
	// NAME/ID/NAME.sym; if it is empty, File, when that has this form.
	StorePath string
	// Stored reports whether the store that the file is in also has its module's symbols under
	// another name; nil without a store.
	Stored func(name string) bool
}

// Run checks a symbol file. The error is that of reading, or the context's; damage is a finding.
func Run(ctx context.Context, in io.Reader, o Options) (*Report, error) {
	if o.Rules == nil {
		o.Rules = Rules()
	}
	if o.Filter == nil {
		return run(ctx, in, o, nil)
	}
	file := o.Filter.File(o.File)
	r, err := run(ctx, in, o, file)
	if err != nil {
		return nil, err
	}
	file.Close()
	r.Suppressed, r.Known = file.Suppressed, file.Known
	return r, nil
}

// run checks a symbol file; its findings go through file, if it is not nil.
func run(ctx context.Context, in io.Reader, o Options, file *filter.File) (*Report, error) {
	p := check.New(check.Options{
		File: o.File, Rules: o.Rules, MaxPerRule: o.MaxPerRule, MinCFI: o.MinCFI, MinLines: o.MinLines,
		StorePath: o.StorePath, Stored: o.Stored,
	})
	if file != nil {
		file.Attach(p)
	}
	if binary, err := object.Of(o.Binary); err != nil {
		return nil, err
	} else if binary != nil {
		image.Open(p, binary, o.OwnBinary)
	}
	p.Begin()
	unreadable, err := read(ctx, p, in)
	if err != nil {
		return nil, err
	}
	c := measure.Measure(p, unreadable)
	p.Result.Coverage = c
	if unreadable {
		c.Reasons = []string{"the text is in UTF-16: no reader accepts the file"}
	} else {
		p.EndRules()
	}
	doubts(p, o.MinCFI)
	p.Result.Sort()
	return p.Result, nil
}

// doubts adds to the verdict what findings say against it.
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
		c.Contradict(misled, limit, "see "+strings.Join(misleading, ", "))
	}
	if len(refused) > 0 && p.HasModule {
		c.Reasons = append(c.Reasons, "rust-minidump may refuse the file: see "+strings.Join(refused, ", "))
	}
}

// checkEvery is how many records are read between looks at the context.
const checkEvery = 1 << 14

// read dispatches the records. unreadable says that the file has an encoding which no reader
// accepts: nothing is known of it.
func read(ctx context.Context, p *check.Pass, in io.Reader) (unreadable bool, err error) {
	rd := symfmt.NewReader(in, symfmt.ReadOptions{File: p.Options.File, Tolerant: true, MaxProblems: p.Options.MaxPerRule})
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
	p.Lines, p.Layout = rep.Lines, rep.Layout
	p.Result.Damage = rep.Damage
	p.As(grammar.BadRecord.ID, func() { syntax(p, rep) })
	return unreadable, nil
}

// encoding reports a file whose encoding no reader accepts, and returns whether err says so.
func encoding(p *check.Pass, err error) bool {
	var se *symfmt.SyntaxError
	if !errors.As(err, &se) {
		return false
	}
	p.As(grammar.UTF16Text.ID, func() { p.ReportPos(symfmt.Pos{Line: se.Line, Col: se.Col}, "%s", se.Msg) })
	return true
}

// syntax reports the lines that are not records. A record without a name is SYM601's where that rule
// is checked.
func syntax(p *check.Pass, rep symfmt.Report) {
	nameless := check.State[names.Nameless](p)
	dropped := rep.Dropped - nameless.Count
	for _, problem := range rep.Problems {
		var se *symfmt.SyntaxError
		switch {
		case !errors.As(problem.Err, &se):
			p.ReportLine(0, "%s", bin.Bare(problem.Err, p.Options.File))
		case nameless.Lines[se.Line]:
			dropped++
		default:
			p.ReportPos(symfmt.Pos{Line: se.Line, Col: se.Col}, "%s: %s", cmp.Or(se.Record, "line"), se.Msg)
		}
	}
	p.Count(dropped)
}
