package formats

import (
	"context"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/version"
)

// readBinary dumps a binary with the debug files that symtool dump would find on this machine.
// If only STACK CFI is needed, it reads only the rules for unwinding.
func readBinary(ctx context.Context, c *Job, in *Input, use func(*Symbols) error) error {
	if c.To != nil && c.To.OnlyRules() {
		return readRules(ctx, c, in, use)
	}
	return readWhole(ctx, c, in, use)
}

// readWhole dumps a binary or a PDB in full, even if only a part is needed.
func readWhole(ctx context.Context, c *Job, in *Input, use func(*Symbols) error) error {
	return c.DumpPair(ctx, in.Path, "", "", use)
}

// DumpPair dumps a binary with its debug file, if given. fileName is the binary's name, for a
// path that does not contain it.
func (c *Job) DumpPair(ctx context.Context, path, debugFile, fileName string, use func(*Symbols) error) error {
	options := dwarf2sym.Options{Demangle: true, Generator: version.Generator, Jobs: c.Jobs, CFI: c.Source, FileName: fileName}
	reader := binfile.Reader{Options: options, DebugFile: debugFile, DebugDirs: c.DebugDirs, CPU: c.CPU}
	r := &binfile.Result{File: path}
	return reader.Read(ctx, r, func(b *binfile.Binary) error {
		reader.Judge(r, b.Result)
		if !c.Renamed {
			r.NoteName("rename-module")
		}
		r.NoteAlone(cli.StatusInput)
		if !c.Quiet {
			r.Report(c.Msgs, c.Verbose)
		}
		c.Status = max(c.Status, r.Status)
		if err := c.StrictStatus(r.Status); err != nil {
			return err
		}
		return use(&Symbols{Module: b.Module, Passed: b.Drop})
	})
}
