package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/debuginfod"
	elfobj "github.com/symtool/symtool/internal/object/elf"
	"github.com/symtool/symtool/symfmt"
)

// binaryReader reads binaries, with the debug files that belong to them.
type binaryReader struct {
	options   dwarf2sym.Options
	debugFile string // "" to look for one
	debugDirs []string
	client    *debuginfod.Client // nil: no servers
	buildID   []byte             // of a binary that is fetched, in place of a file
}

// readBinary is a binary that was read.
type readBinary struct {
	module *symfmt.Module
	report *dwarf2sym.Report
	file   *elfobj.File
	passed func() // for symfmt.WriteOptions
}

// openBinary opens FILE, or the file with --build-id.
func (d *binaryReader) openBinary(ctx context.Context, r *binaryResult) (*elfobj.File, error) {
	if d.buildID != nil {
		path, tried, err := d.client.Fetch(ctx, debuginfod.Executable, d.buildID)
		if err != nil {
			r.tried = append(r.tried, tried...)
			return nil, inputError(r.File, err)
		}
		r.File = path
	}
	limits := r.limits()
	if d.buildID != nil {
		limits.Opened = nil
	}
	binary, err := elfobj.Open(r.File, limits)
	if err != nil {
		return nil, inputError(r.File, err)
	}
	return binary, nil
}

// openDebug opens the separate debug file, or returns nil if there is none.
func (d *binaryReader) openDebug(ctx context.Context, r *binaryResult, binary *elfobj.File) (*elfobj.File, error) {
	if d.debugFile == "" {
		return d.findDebug(ctx, r, binary), nil
	}
	debug, err := elfobj.Open(d.debugFile, r.limits())
	if err != nil {
		return nil, inputError(d.debugFile, err)
	}
	if err := elfobj.CheckPair(binary, debug); err != nil {
		debug.Close()
		return nil, inputError(d.debugFile, fmt.Errorf("%w of %s; with --store both are dumped", err, r.File))
	}
	return debug, nil
}

// search says how other files are found.
func (d *binaryReader) search(r *binaryResult) elfobj.Limits {
	l := r.limits()
	l.Hermetic = d.options.Hermetic
	return l
}

// findDebug finds the separate debug file here, or fetches it.
func (d *binaryReader) findDebug(ctx context.Context, r *binaryResult, binary *elfobj.File) *elfobj.File {
	if binary.HasDWARF() {
		return nil
	}
	const what = "separate debug file"
	debug, tried, err := elfobj.FindDebug(binary, d.debugDirs, d.search(r))
	if err != nil {
		r.problem(bin.Problem{Lost: what, Err: err})
	}
	r.tried = append(r.tried, elfobj.Lines(tried)...)
	if d.options.CFIOnly || debug != nil && debug.HasDWARF() {
		return debug
	}
	fetched := d.fetchDebug(ctx, r, binary.BuildID(), what)
	if fetched == nil {
		return debug
	}
	if err := elfobj.CheckPair(binary, fetched); err != nil {
		r.problem(bin.Problem{Lost: what, Err: err})
		fetched.Close()
		return debug
	}
	if debug != nil {
		debug.Close()
	}
	return fetched
}

// findSupplement finds or fetches the supplementary file of the debug information, if it has one.
// If it is missing, that is reported with what is lost.
func (d *binaryReader) findSupplement(ctx context.Context, r *binaryResult, binary, debug *elfobj.File) *elfobj.File {
	if debug != nil && debug.HasDWARF() {
		binary = debug
	}
	link, err := binary.SupLink()
	if link == nil || err != nil || d.options.CFIOnly {
		return nil // the reader reports damage
	}
	const what = "names in the supplementary file"
	sup, tried, err := elfobj.FindSupplement(binary, link, d.debugDirs, d.search(r))
	if err != nil {
		r.problem(bin.Problem{Lost: what, Err: err})
	}
	if sup != nil {
		return sup
	}
	r.tried = append(r.tried, elfobj.Lines(tried)...)
	if sup = d.fetchDebug(ctx, r, link.ID, what); sup == nil {
		r.Looked = r.tried
	}
	return sup
}

// fetchDebug fetches the debug file, or the supplementary one, with the build-id; nil without one.
// what is the loss to report when a server fails.
func (d *binaryReader) fetchDebug(ctx context.Context, r *binaryResult, buildID []byte, what string) *elfobj.File {
	if d.client == nil {
		return nil
	}
	if len(buildID) == 0 {
		r.tried = append(r.tried, "debuginfod: there is no build-id to ask for")
		return nil
	}
	path, tried, err := d.client.Fetch(ctx, debuginfod.Debuginfo, buildID)
	r.tried = append(r.tried, tried...)
	if errors.Is(err, debuginfod.ErrNotFound) || ctx.Err() != nil {
		return nil
	}
	var debug *elfobj.File
	if err == nil {
		debug, err = elfobj.Open(path, elfobj.DefaultLimits())
	}
	if err != nil {
		r.problem(bin.Problem{Lost: what, Err: err})
		return nil
	}
	return debug
}

// read reads one file and its debug files. What is passed to use is valid until use returns.
func (d *binaryReader) read(ctx context.Context, r *binaryResult, use func(*readBinary) error) error {
	binary, err := d.openBinary(ctx, r)
	if err != nil {
		return err
	}
	defer binary.Close()
	debug, err := d.openDebug(ctx, r, binary)
	if err != nil {
		return err
	}
	if debug != nil {
		r.DebugFile = debug.Path
		defer debug.Close()
	}
	options := d.options
	if options.Supplement = d.findSupplement(ctx, r, binary, debug); options.Supplement != nil {
		defer options.Supplement.Close()
	}
	tuneCollectorFor(binary, debug)
	options.Scratch = &elfobj.Scratch{}
	defer options.Scratch.Close()
	m, report, err := dwarf2sym.Read(ctx, binary, debug, options)
	if err != nil {
		return inputError(r.File, err)
	}
	r.Module = &moduleSummary{m.OS, m.Arch, m.ID, m.Name}
	r.Stats, r.others, r.mapped = &report.Stats, report.Others, report.Mapped
	r.Mapped = mappedSummaries(report.Mapped)
	r.fileName, r.nameGuessed = report.FileName, report.NameGuessed
	for _, p := range report.Problems {
		r.problem(p)
	}
	return use(&readBinary{m, report, binary, options.Scratch.Drop})
}

// judge reports what is unexpected in the result.
func (d *binaryReader) judge(r *binaryResult, report *dwarf2sym.Report) {
	if report.NoDebugInfo {
		r.note(statusInput, "%s: no debug information: no functions and lines; symtool doctor tells what would bring them", r.File)
		r.Looked = r.tried
	}
	if unloaded(&report.Stats) {
		r.note(statusInput, "%s: %s", r.File, unloadedText)
	}
	if report.PackageUnused {
		r.note(statusOK, "%s: --dwp %s is not used: the debug information is not split", r.File, d.options.Package)
	}
	if report.ORC {
		r.remark("%s: .orc_unwind is not read: %s", r.File, cfiSource(&report.Stats))
	}
	if report.Stats.CFISource == dwarf2sym.SourceSFrame {
		r.remark("%s: STACK CFI is from .sframe, which has rules for the CFA, the return address and the frame pointer only", r.File)
	}
}

// unloaded reports whether everything that was read describes code that the linker dropped.
func unloaded(s *dwarf2sym.Stats) bool {
	return s.DeadFuncs+s.CFIDead > 0 && s.Funcs+s.Publics+s.CFIBlocks == 0
}

const unloadedText = "no functions and no call frame information: all have addresses outside of the segments that are loaded; the program headers may be damaged"

// noteName notes that MODULE's name, which lookups depend on, is a guess. flag
// names another.
func (r *binaryResult) noteName(flag string) {
	if r.nameGuessed {
		r.note(statusFindings, "%s: MODULE is named %s after the debug file, which does not have the binary's own name: "+
			"dump the binary with its debug file, or give --%s", r.File, r.Module.Name, flag)
	}
}

// cfiSource names the source of STACK CFI in a file that has .orc_unwind.
func cfiSource(s *dwarf2sym.Stats) string {
	switch s.CFISource {
	case dwarf2sym.SourceDWARF:
		return "STACK CFI is from DWARF alone"
	case dwarf2sym.SourceSFrame:
		return "STACK CFI is from .sframe"
	}
	return "no STACK CFI"
}

// note adds a message for the user.
func (r *binaryResult) note(status int, format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
	r.Status = max(r.Status, status)
}

// remark is note for details that only --verbose prints.
func (r *binaryResult) remark(format string, args ...any) {
	r.remarks = append(r.remarks, fmt.Sprintf(format, args...))
}

func (r *binaryResult) problem(p bin.Problem) {
	r.Problems = append(r.Problems, newProblemSummary(p))
	r.lines = append(r.lines, problemLine(r.File, p))
	r.Status = max(r.Status, statusInput)
}
