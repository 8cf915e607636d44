package main

import (
	"context"
	"errors"
	"io"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
)

// runDump converts a dump of a process.
func (c *converter) runDump(ctx context.Context, in *input) error {
	o := dumpfile.Options{Core: elfcore.Options{Binaries: c.binaries, Tried: c.tried}}
	d, closer, err := dumpfile.Open(in.path, o)
	if err != nil {
		return inputError(in.name, err)
	}
	defer closer.Close()
	c.reportProblems(in.name, d.Problems, statusInput)
	if c.strict {
		lost, err := c.writeDump(ctx, io.Discard, in, d)
		if err == nil {
			err = c.strictly(lost)
		}
		if err != nil {
			c.reportProblems(in.name, lost, statusFindings)
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
	c.reportProblems(in.name, lost, statusFindings)
	if n := withoutID(d); n > 0 && c.to.name == dumpfile.Minidump && !c.quiet {
		c.msgs.printf("symtool: %s: the dump does not hold the ids of %d of %s, and walkers find symbols by id: name the binaries with --binaries",
			in.name, n, count(len(d.Modules), "module"))
	}
	if c.verbose {
		c.msgs.printf("symtool: %s: %s, %s, %s of memory", in.name, count(len(d.Threads), "thread"),
			count(len(d.Modules), "module"), count(len(d.Memory.Regions), "region"))
	}
	return nil
}

// writeDump writes a dump. If the format cannot hold it, the error is the dump's, and not the
// output's.
func (c *converter) writeDump(ctx context.Context, out io.Writer, in *input, d *dump.Dump) ([]bin.Problem, error) {
	lost, err := dumpfile.Write(contextWriter{ctx, out}, c.to.name, d)
	var formless *bin.Error
	if errors.As(err, &formless) {
		err = inputError(in.name, err)
	}
	return lost, err
}

// withoutID counts the modules whose id the dump does not hold.
func withoutID(d *dump.Dump) (n int) {
	for i := range d.Modules {
		if d.Modules[i].DebugID == "" {
			n++
		}
	}
	return n
}

// tried reports, with --verbose, why a file is not a module's.
func (c *converter) tried(path, why string) {
	if c.verbose {
		c.msgs.printf("symtool: %s: %s", path, why)
	}
}
