package main

import (
	"context"

	"github.com/symtool/symtool/dwarf2sym"
)

// readELFSymbols dumps a binary, with the debug files that symtool dump finds here.
func readELFSymbols(ctx context.Context, c *formatJob, in *input, use func(*symbols) error) error {
	return c.dumpPair(ctx, in.path, "", "", use)
}

// dumpPair dumps a binary, with the debug file if given. fileName is the binary's name where its
// path does not contain it.
func (c *formatJob) dumpPair(ctx context.Context, path, debugFile, fileName string, use func(*symbols) error) error {
	options := dwarf2sym.Options{Demangle: true, Generator: generator, Jobs: c.jobs, CFI: c.source, FileName: fileName}
	reader := binaryReader{options: options, debugFile: debugFile, debugDirs: c.debugDirs}
	r := &binaryResult{File: path}
	return reader.read(ctx, r, func(b *readBinary) error {
		reader.judge(r, b.report)
		if !c.renamed {
			r.noteName("rename-module")
		}
		if !c.quiet {
			r.report(c.msgs, c.verbose)
		}
		c.status = max(c.status, r.Status)
		if err := c.strictStatus(r.Status); err != nil {
			return err
		}
		return use(&symbols{module: b.module, passed: b.passed})
	})
}
