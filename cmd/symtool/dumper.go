package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/elfobj"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// dumper is one call of dump.
type dumper struct {
	*dumpConfig
	stdout io.Writer
	msgs   *messages

	progress *progress // nil without a bar
	single   output    // nil with --store
	results  []*dumpResult
	root     *store.Store           // of --store
	placed   map[string]*dumpResult // with --store, by path
}

// dumpResult is the result for one file.
type dumpResult struct {
	fileSummary
	pending []pendingFile // with --store
	stack   []byte        // of a panic
	mapped  []srcmap.File
	read    fileList // what was opened, for --MD
}

// pendingFile is complete, but not under its name yet.
type pendingFile struct {
	*store.Pending
	place string // below the store
	path  string // with the store
}

// note adds a message for the user.
func (r *dumpResult) note(status int, format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
	r.Status = max(r.Status, status)
}

// remark is note for details that only --verbose prints.
func (r *dumpResult) remark(format string, args ...any) {
	r.remarks = append(r.remarks, fmt.Sprintf(format, args...))
}

func (r *dumpResult) problem(p bin.Problem) {
	r.Problems = append(r.Problems, newProblemSummary(p))
	r.lines = append(r.lines, problemLine(r.File, p))
	r.Status = max(r.Status, statusInput)
}

// fail ends the work on the file.
func (r *dumpResult) fail(err error) {
	status := &statusError{statusInput, err}
	errors.As(err, &status)
	r.Status = max(r.Status, status.status)
	r.Error, r.Output, r.Alias = status.Error(), "", ""
	var panicked *par.PanicError
	if errors.As(err, &panicked) {
		r.stack = panicked.Stack
		r.Error = r.File + ": internal error, please report it with the file: " + err.Error()
	}
}

// inputError gives err the name of the file, unless it has one. An input error stays as it is: it
// may name another file.
func inputError(file string, err error) error {
	if known, ok := err.(*statusError); ok {
		return known
	}
	return &statusError{statusInput, &namedError{err, named(file, err)}}
}

// named returns err's message with the file in front, unless err names one.
func named(file string, err error) string {
	if path, ok := err.(*fs.PathError); ok && path.Op == "open" {
		return path.Path + ": " + path.Err.Error() // without the system's call
	}
	if namesFile(err) {
		return err.Error()
	}
	return file + ": " + err.Error()
}

// namedError is an error with another message, which names the file.
type namedError struct {
	error
	text string
}

func (e *namedError) Error() string { return e.text }
func (e *namedError) Unwrap() error { return e.error }

// namesFile reports whether the message of err has the path of a file.
func namesFile(err error) bool {
	var (
		binErr  *bin.Error
		pathErr *fs.PathError
		syntax  *symfmt.SyntaxError
	)
	return errors.As(err, &binErr) && binErr.File != "" || errors.As(err, &pathErr) || errors.As(err, &syntax) && syntax.File != ""
}

// run dumps all files and prints the results in the order of the operands.
func (d *dumper) run(ctx context.Context) error {
	tuneCollector(dumpCollectorPercent)
	d.placed = map[string]*dumpResult{}
	for _, file := range d.files {
		d.results = append(d.results, &dumpResult{fileSummary: fileSummary{File: file}})
	}
	if err := d.maps.readManifests(); err != nil {
		return err
	}
	if err := d.openSingle(); err != nil {
		return err
	}
	defer d.abort()
	stop := d.startProgress()
	workers := min(d.jobs, len(d.files))
	err := par.Ordered(ctx, workers, len(d.files),
		func(ctx context.Context, worker, i int) (*dumpResult, error) {
			defer d.progress.finish(i)
			return d.guarded(ctx, i, share(d.jobs, workers, worker)), context.Cause(ctx)
		},
		func(_ int, r *dumpResult) error {
			d.place(r)
			d.report(r)
			return nil
		})
	stop()
	if err != nil {
		return err
	}
	return d.finish()
}

// share is the number of threads for one of several workers.
func share(jobs, workers, worker int) int {
	n := jobs / workers
	if worker < jobs%workers {
		n++
	}
	return n
}

// openSingle opens the output, or the store. It comes first, so that a mistake in the name is
// reported before the work, not after it.
func (d *dumper) openSingle() error {
	if d.store != "" {
		root, err := createStore(d.store, false)
		d.root = root
		return err
	}
	if d.gzip && d.toStdout() && isTerminal(d.stdout) {
		return usagef("dump", "--gzip writes no compressed data to a terminal: name a file with --output")
	}
	out, err := createOutput(d.output, d.stdout)
	if err != nil {
		return outputError(d.output, err)
	}
	if w, ok := out.(*wholeFile); ok {
		w.restat = d.restat
	}
	d.single = out
	return nil
}

func (d *dumper) toStdout() bool { return d.output == "-" }

// abort removes incomplete files.
func (d *dumper) abort() {
	if d.single != nil {
		d.single.Abort()
	}
	for _, r := range d.results {
		for _, p := range r.pending {
			p.Abort()
		}
	}
	if d.root != nil {
		d.root.Close()
	}
}

func (d *dumper) startProgress() (stop func()) {
	w := d.msgs.w
	if !isTerminal(w) || d.quiet || d.toStdout() && isTerminal(d.stdout) {
		return func() {}
	}
	sizes := make([]int64, len(d.files))
	for i, file := range d.files {
		if st, err := os.Stat(file); err == nil {
			sizes[i] = st.Size()
		}
	}
	p, stop := startProgress(w, d.msgs, sizes, progressDelay)
	d.progress = p
	return stop
}

// guarded dumps one file. Damage, and even a panic, is this file's alone.
func (d *dumper) guarded(ctx context.Context, i, jobs int) *dumpResult {
	r := d.results[i]
	options := d.options
	options.Jobs = jobs
	options.Opened = r.read.add
	options.Progress = d.progress.file(i)
	err := par.Each(ctx, 1, 1, func(ctx context.Context, _, _ int) error {
		return d.dump(ctx, r, options)
	})
	if err != nil {
		r.fail(err)
	}
	return r
}

func (d *dumper) dump(ctx context.Context, r *dumpResult, options dwarf2sym.Options) error {
	return d.read(ctx, r, &options, func(m *symfmt.Module, report *dwarf2sym.Report, binary *elfobj.File) error {
		d.judge(r, report)
		r.noteName("name")
		if !d.checkCFI {
			return d.write(ctx, r, m, &options, nil)
		}
		check, err := measureCFI(ctx, m, binary, func(also io.Writer) error { return d.write(ctx, r, m, &options, also) })
		if err != nil {
			return err
		}
		r.CFICheck = check
		if what := check.finding(d.minCFI); what != "" {
			r.note(statusFindings, "%s: %s", r.File, what)
		}
		return nil
	})
}

// read reads one file and its debug files. The module passed to use is valid until use returns.
func (d *dumper) read(ctx context.Context, r *dumpResult, options *dwarf2sym.Options, use func(*symfmt.Module, *dwarf2sym.Report, *elfobj.File) error) error {
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
	if options.Supplement = d.findSupplement(ctx, r, binary, debug); options.Supplement != nil {
		defer options.Supplement.Close()
	}
	tuneCollectorFor(binary, debug)
	options.Scratch = &elfobj.Scratch{}
	defer options.Scratch.Close()
	m, report, err := dwarf2sym.Read(ctx, binary, debug, *options)
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
	return use(m, report, binary)
}

// openDebug opens the separate debug file, or returns nil if there is none.
func (d *dumper) openDebug(ctx context.Context, r *dumpResult, binary *elfobj.File) (*elfobj.File, error) {
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
func (d *dumper) search(r *dumpResult) elfobj.Limits {
	l := r.limits()
	l.Hermetic = d.options.Hermetic
	return l
}

// findDebug finds the separate debug file here, or fetches it.
func (d *dumper) findDebug(ctx context.Context, r *dumpResult, binary *elfobj.File) *elfobj.File {
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
func (d *dumper) findSupplement(ctx context.Context, r *dumpResult, binary, debug *elfobj.File) *elfobj.File {
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

// judge reports what is unexpected in the result.
func (d *dumper) judge(r *dumpResult, report *dwarf2sym.Report) {
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
func (r *dumpResult) noteName(flag string) {
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

// write writes the symbol file, to the single output or into the store. also, if not
// nil, gets its text, too.
func (d *dumper) write(ctx context.Context, r *dumpResult, m *symfmt.Module, options *dwarf2sym.Options, also io.Writer) error {
	if d.store == "" {
		r.Output = d.output
		err := d.writeTo(ctx, d.single, m, options, also)
		if err == nil {
			err = d.single.Commit()
		}
		r.Unchanged = unchanged(d.single)
		return outputError(d.single.Name(), err)
	}
	path, err := d.writeToStore(ctx, r, m, options, also)
	r.Output = path
	if err != nil || !d.bothNames || r.fileName == "" {
		return err
	}
	other := *m
	other.Name = r.fileName
	r.Alias, err = d.writeToStore(ctx, r, &other, options, nil)
	return err
}

// writeToStore writes a symbol file that place will give its name.
func (d *dumper) writeToStore(ctx context.Context, r *dumpResult, m *symfmt.Module, options *dwarf2sym.Options, also io.Writer) (path string, err error) {
	place, err := store.Path(m, d.extension())
	if err != nil {
		return "", &statusError{statusOutput, fmt.Errorf("%s: %w", r.File, err)}
	}
	path = filepath.Join(d.store, place)
	out, err := d.root.Begin()
	if err != nil {
		return path, outputError(d.store, err)
	}
	out.Restat = d.restat
	r.pending = append(r.pending, pendingFile{out, place, path})
	if err = d.writeTo(ctx, out, m, options, also); err == nil {
		err = out.Finish()
	}
	return path, outputError(path, err)
}

func (d *dumper) extension() string {
	if d.gzip {
		return ".sym.gz"
	}
	return ".sym"
}

func (d *dumper) writeTo(ctx context.Context, out io.Writer, m *symfmt.Module, options *dwarf2sym.Options, also io.Writer) error {
	out = contextWriter{ctx, out}
	how := symfmt.WriteOptions{Jobs: options.Jobs, Passed: options.Scratch.Drop}
	if !d.gzip {
		return symfmt.Write(both(out, also), m, how)
	}
	z, err := store.Compressions[0].Writer(out)
	if err != nil {
		return err
	}
	if err := symfmt.Write(both(z, also), m, how); err != nil {
		return err
	}
	return z.Close()
}

// both writes to two writers, of which the second may be nil.
func both(out, also io.Writer) io.Writer {
	if also == nil {
		return out
	}
	return io.MultiWriter(out, also)
}

// place gives the files in the store their names. It is called in the order of the operands, so
// that of two with one path always the first wins.
func (d *dumper) place(r *dumpResult) {
	if len(r.pending) == 0 {
		return
	}
	r.Unchanged = true
	for _, p := range r.pending {
		if r.Error == "" {
			d.placeFile(r, p)
		}
	}
}

func (d *dumper) placeFile(r *dumpResult, p pendingFile) {
	first := d.placed[p.path]
	if first == nil {
		d.placed[p.path] = r
		if err := p.Replace(p.place); err != nil {
			r.fail(outputError(p.path, err))
		}
		r.Unchanged = r.Unchanged && p.Unchanged
		return
	}
	r.Unchanged = false
	switch outcome, _, err := p.Publish(p.place); {
	case err != nil:
		r.fail(outputError(p.path, err))
	case outcome == store.Differs:
		r.fail(&statusError{statusOutput, fmt.Errorf("%s: holds the symbols of %s, those of %s differ", p.path, first.File, r.File)})
	}
}

// finish prints the summary and returns the status of all files.
func (d *dumper) finish() error {
	status := statusOK
	var mapped []srcmap.File
	for _, r := range d.results {
		status = max(status, r.Status)
		if r.Error == "" {
			mapped = append(mapped, r.mapped...)
		}
	}
	if err := d.maps.writeList(mapped); err != nil {
		return err
	}
	if err := d.writeDepfile(); err != nil {
		return err
	}
	if d.json {
		if err := d.printJSON(status); err != nil {
			return err
		}
	}
	if status == statusOK {
		return nil
	}
	return &statusError{status, nil}
}
