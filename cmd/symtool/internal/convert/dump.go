package convert

import (
	"context"
	"errors"
	"io"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/formats"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
)

// runDump converts a process dump.
func (c *converter) runDump(ctx context.Context, in *formats.Input) error {
	file, err := in.Dump(ctx, dumpfile.Options{Core: elfcore.Options{Binaries: c.binaries, Tried: c.tried}})
	if err != nil {
		return cli.InputError(in.Name, err)
	}
	d := file.Dump
	defer file.Close()
	c.ReportProblems(in.Name, d.Problems, cli.StatusInput)
	if c.Strict {
		lost, err := c.writeDump(ctx, io.Discard, in, d)
		if err == nil {
			err = c.Strictly(lost)
		}
		if err != nil {
			c.ReportProblems(in.Name, lost, cli.StatusFindings)
			return err
		}
	}
	var lost []bin.Problem
	err = c.writeOut(func(out io.Writer) (err error) {
		lost, err = c.writeDump(ctx, out, in, d)
		return err
	})
	if err != nil {
		return err
	}
	c.ReportProblems(in.Name, lost, cli.StatusFindings)
	if n := withoutID(d); n > 0 && c.to.Name == dumpfile.Minidump && !c.Quiet {
		c.Msgs.Printf("symtool: %s: the dump does not hold the ids of %d of %s, and walkers find symbols by id: name the binaries with --binaries",
			in.Name, n, text.Count(len(d.Modules), "module"))
	}
	if c.Verbose {
		c.Msgs.Printf("symtool: %s: %s, %s, %s of memory", in.Name, text.Count(len(d.Threads), "thread"),
			text.Count(len(d.Modules), "module"), text.Count(len(d.Memory.Regions), "region"))
	}
	return nil
}

// writeDump writes a dump. If the format cannot hold the dump, it returns an error for the
// dump rather than the output.
func (c *converter) writeDump(ctx context.Context, out io.Writer, in *formats.Input, d *dump.Dump) ([]bin.Problem, error) {
	lost, err := dumpfile.Write(cli.ContextWriter{Ctx: ctx, W: out}, c.to.Name, d)
	var formless *bin.Error
	if errors.As(err, &formless) {
		err = cli.InputError(in.Name, err)
	}
	return lost, err
}

// withoutID returns the number of modules whose id is not in the dump.
func withoutID(d *dump.Dump) (n int) {
	for i := range d.Modules {
		if d.Modules[i].DebugID == "" {
			n++
		}
	}
	return n
}

// tried reports, with --verbose, why a file is not a module's binary.
func (c *converter) tried(path, why string) {
	if c.Verbose {
		c.Msgs.Printf("symtool: %s: %s", path, why)
	}
}
