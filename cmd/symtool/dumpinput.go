package main

import (
	"context"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/elfobj"
	"github.com/symtool/symtool/symfmt"
)

// binaryReader dumps binaries for commands that take symbol files too.
type binaryReader struct {
	fileName  string // "" for the name in its path
	cfi       dwarf2sym.CFISource
	debugDirs []string
	jobs      int
	verbose   bool
	quiet     bool
	msgs      *messages
}

// read dumps a binary, with the debug file if one is named. The module passed to use is valid until
// use returns.
func (b *binaryReader) read(ctx context.Context, name, debugFile string, use func(*symfmt.Module, *dumpResult, func()) error) error {
	options := dwarf2sym.Options{Demangle: true, Generator: generator, Jobs: b.jobs, CFI: b.cfi, FileName: b.fileName}
	d := &dumper{dumpConfig: &dumpConfig{options: options, debugFile: debugFile, debugDirs: b.debugDirs}, msgs: b.msgs}
	r := &dumpResult{fileSummary: fileSummary{File: name}}
	return d.read(ctx, r, &options, func(m *symfmt.Module, report *dwarf2sym.Report, _ *elfobj.File) error {
		d.judge(r, report)
		return use(m, r, options.Scratch.Drop)
	})
}

// report prints what a dump of the binary would.
func (b *binaryReader) report(r *dumpResult) {
	if b.quiet {
		return
	}
	out := problemLines{msgs: b.msgs, all: b.verbose, hint: verboseHint}
	for _, line := range r.lines {
		out.add(line)
	}
	out.end()
	for _, note := range r.Notes {
		b.msgs.warnf("symtool: %s", note)
	}
}
