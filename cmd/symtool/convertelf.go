package main

import (
	"context"

	"github.com/symtool/symtool/symfmt"
)

// readELFSymbols dumps a binary, with the debug files that symtool dump finds here.
func readELFSymbols(ctx context.Context, c *converter, in *input, use func(*symbols) error) error {
	return c.dumpPair(ctx, in.path, "", "", use)
}

// dumpPair dumps a binary, with the debug file if given. fileName is the binary's name where its
// path does not contain it.
func (c *converter) dumpPair(ctx context.Context, path, debugFile, fileName string, use func(*symbols) error) error {
	reader := &binaryReader{fileName: fileName, cfi: c.source, debugDirs: c.debugDirs, jobs: c.jobs, verbose: c.verbose, quiet: c.quiet, msgs: c.msgs}
	return reader.read(ctx, path, debugFile, func(m *symfmt.Module, r *dumpResult, passed func()) error {
		if c.edit.name == "" {
			r.noteName("rename-module")
		}
		reader.report(r)
		c.status = max(c.status, r.Status)
		if err := c.strictStatus(r.Status); err != nil {
			return err
		}
		return use(&symbols{module: m, passed: passed})
	})
}
