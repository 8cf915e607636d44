package main

import (
	"io"

	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/walk/batch"
	"github.com/symtool/symtool/walk/report"
)

// write writes the line of a dump that was walked: that of symtool walk --format jsonl.
func (c *Config) write(w io.Writer, walked *batch.Walked) error {
	o := report.DocumentOptions{Dump: walked.Path, Version: version.Version, Registers: c.Registers}
	return report.NewDocument(walked.Result, o).Write(w, false)
}

// writeLine writes the line of a dump, which could be read or not.
func (c *Config) writeLine(w io.Writer, walked *batch.Walked) error {
	switch {
	case walked.Err != nil:
		return report.WriteFailure(w, walked.Path, walked.Err)
	case walked.Rendered != nil:
		_, err := w.Write(walked.Rendered)
		return err
	}
	return c.write(w, walked) // it is long
}
