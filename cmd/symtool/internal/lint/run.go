package lint

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/filekind"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/symfmt"
)

// linted is the result for one file.
type linted struct {
	input  lintInput
	report *finding.Report // nil if err is set
	chart  *lint.Map       // for a page
	err    error
	stack  []byte // from a panic
}

// run checks all files and prints the findings in the order of the operands.
func (l *linter) run(ctx context.Context) error {
	inputs := l.dropRepeats(lintInputs(l.operands))
	out, err := cli.CreateOutput(l.output, l.stdout)
	if err != nil {
		return cli.OutputError(l.output, err)
	}
	defer out.Abort()
	done := &lintDone{maps: map[*finding.Report]*lint.Map{}}
	err = par.Ordered(ctx, min(l.jobs, len(inputs)), len(inputs),
		func(ctx context.Context, _, i int) (*linted, error) {
			return l.guarded(ctx, inputs[i]), context.Cause(ctx)
		},
		func(_ int, r *linted) error { return l.take(out, done, r) })
	if err == nil {
		err = l.printEnd(out, done)
	}
	if err == nil {
		err = out.Commit()
	}
	if err := cli.OutputError(out.Name(), err); err != nil {
		return err
	}
	l.reportRepeats()
	return l.end()
}

// end writes the baseline and the stamp, and returns the status.
func (l *linter) end() error {
	if err := l.writeBaseline(); err != nil {
		return err
	}
	if f := l.options.Filter; f != nil {
		l.judge(f.Report(l.options.Rules))
	}
	if l.status != cli.StatusOK {
		return &cli.StatusError{Status: l.status}
	}
	return l.writeStamp()
}

// guarded checks one file. Damage, and even a panic, affects only this file.
func (l *linter) guarded(ctx context.Context, in lintInput) *linted {
	r := &linted{input: in}
	r.err = par.Each(ctx, 1, 1, func(ctx context.Context, _, _ int) error { return l.check(ctx, r) })
	var panicked *par.PanicError
	if errors.As(r.err, &panicked) {
		r.report, r.stack = nil, panicked.Stack
		r.err = fmt.Errorf("internal error, please report it with the file: %w", r.err)
	}
	return r
}

// check reads one file.
func (l *linter) check(ctx context.Context, r *linted) error {
	text, closeText, err := r.input.text(l.stdin)
	if err != nil {
		return err
	}
	defer closeText()
	options := l.options
	options.File = r.input.String()
	head, _ := text.Peek(cli.ModuleHead) // reading on will return the error again
	if err := filekind.NotSymbols(head); err != nil {
		return err
	}
	module := headModule(head)
	options.Stored = r.input.stored(module.ID)
	binary, err := l.binaries.find(ctx, module)
	if err != nil {
		return err
	}
	if binary != nil {
		options.Binary = binary
		defer binary.Close()
	}
	if l.format.page {
		r.chart = &lint.Map{}
		options.Map = r.chart
	}
	if r.report, err = lint.Run(ctx, symfmt.TextRecords(text), options); err != nil {
		return err
	}
	return l.readNames(r)
}

// readNames reads what documents and the verdict show about functions and is unknown until the end of the file. It
// reads the file again for this, so for standard input it does nothing.
func (l *linter) readNames(r *linted) error {
	if r.input.name == "-" {
		return nil
	}
	for _, pass := range []struct {
		wanted bool
		read   func(io.Reader) error
	}{
		{l.format.functions && r.report.NamesWanted(), r.report.ReadNames},
		{l.format.sources && len(r.report.Findings) > 0, r.report.ReadFuncStarts},
		{l.verdict, r.report.Coverage.ReadNames},
	} {
		if !pass.wanted {
			continue
		}
		if err := l.readAgain(r.input, pass.read); err != nil {
			return err
		}
	}
	return nil
}

// readAgain reads a file once more.
func (l *linter) readAgain(in lintInput, read func(io.Reader) error) error {
	text, closeText, err := in.text(nil)
	if err != nil {
		return err
	}
	defer closeText()
	return read(text)
}

// take prints the findings of a file, or stores them for the document.
func (l *linter) take(out io.Writer, done *lintDone, r *linted) error {
	if r.err != nil {
		l.status = max(l.status, cli.StatusInput)
		l.msgs.Printf("symtool: %s", cli.Named(r.input.String(), r.err))
		if len(r.stack) > 0 {
			_, _ = l.msgs.Write(r.stack)
		}
		l.unread(r.input)
		done.reports = append(done.reports, finding.Unreadable(r.input.String(), r.err))
		return nil
	}
	l.judge(r.report)
	if damage := r.report.Damage; damage != nil {
		l.unread(r.input)
		if r.report.Counts["SYM101"] == 0 {
			l.msgs.Warnf("symtool: %v", damage) // if no finding reports it
		}
	}
	if l.format.text() {
		if err := l.printFile(out, r.report); err != nil {
			return err
		}
	}
	done.add(r)
	return nil
}

// unread records that a file was not read to its end.
func (l *linter) unread(in lintInput) {
	if l.options.Filter != nil {
		l.options.Filter.Unread(in.String())
	}
}

// judge sets the status from a file's findings, unless they are written to a baseline.
func (l *linter) judge(r *finding.Report) {
	if r.Damage != nil {
		l.status = max(l.status, cli.StatusInput)
	}
	worst, found := r.Worst()
	if found && !l.failOn.never && l.recordTo == "" && worst >= l.failOn.severity {
		l.status = max(l.status, cli.StatusFindings)
	}
}
