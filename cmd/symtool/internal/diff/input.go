package diff

import (
	"context"
	"os"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/filekind"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/symfmt/symdiff"
)

// compare compares two files. The caller must close the Result.
func (d *differ) compare(ctx context.Context, old, new string) (*symdiff.Result, error) {
	names := [...]string{old, new}
	sources, err := par.Map(ctx, d.options.Jobs, len(names), func(ctx context.Context, _, i int) (*symdiff.Source, error) {
		return d.open(ctx, names[i])
	})
	if err != nil {
		for _, s := range sources {
			if s != nil {
				s.Close()
			}
		}
		return nil, err
	}
	cli.TuneCollector(cli.DiffCollectorPercent)
	r, err := symdiff.Compare(ctx, sources[0], sources[1], d.options)
	if err != nil {
		sources[0].Close()
		sources[1].Close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &cli.StatusError{Status: cli.StatusInput, Err: err}
	}
	d.reportProblems(r.Old)
	d.reportProblems(r.New)
	return r, nil
}

// reportProblems prints the damage of a file.
func (d *differ) reportProblems(o *symdiff.Outline) {
	out := cli.ProblemLines{Msgs: d.msgs, All: d.verbose, Hint: cli.VerboseHint}
	for _, p := range o.Problems {
		out.Add(cli.ProblemLine(o.Source.Name, p))
	}
	out.End()
	if o.Dropped > 0 {
		d.msgs.Warnf("symtool: %s: and %s", o.Source.Name, text.Count(o.Dropped, "more problem"))
	}
	if len(o.Problems) > 0 {
		d.status = max(d.status, cli.StatusInput)
	}
}

// open opens a symbol file, or dumps a binary or a PDB.
func (d *differ) open(ctx context.Context, name string) (*symdiff.Source, error) {
	if name == "-" {
		s, err := symdiff.Spool(os.Stdin, "standard input")
		if err != nil {
			return nil, &cli.StatusError{Status: cli.StatusInput, Err: err}
		}
		return s, nil
	}
	if filekind.Dumped(name) != nil {
		return d.dump(ctx, name)
	}
	if err := filekind.NotSymbolFile(name); err != nil {
		return nil, cli.InputError(name, err)
	}
	s, err := symdiff.OpenSource(name)
	if err != nil {
		return nil, cli.InputError(name, err)
	}
	return s, nil
}

// dump returns the symbols of a binary or a PDB.
func (d *differ) dump(ctx context.Context, name string) (*symdiff.Source, error) {
	options := dwarf2sym.Options{Demangle: true, Generator: version.Generator, Jobs: d.options.Jobs}
	if d.options.On(symdiff.OnVariables) {
		options.Vars = dwarf2sym.VarOptions{Params: true, Locals: true, FullTypes: true}
	}
	reader := binfile.Reader{Options: options, DebugDirs: d.debugDirs, CPU: d.cpu}
	r := &binfile.Result{File: name}
	b, err := reader.Open(ctx, r)
	if err != nil {
		return nil, err
	}
	reader.Judge(r, b.Result)
	r.NoteAlone(cli.StatusOK)
	d.msgs.Exclusive(func() { d.status = max(d.status, r.Status) })
	r.Report(d.msgs, d.verbose)
	return symdiff.NewModuleSource(b.Module, name, b), nil
}
