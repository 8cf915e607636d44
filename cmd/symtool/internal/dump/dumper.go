package dump

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// dumper is a call of dump.
type dumper struct {
	*dumpConfig
	stdout io.Writer
	msgs   *cli.Messages

	progress *cli.Progress // nil if there is no bar
	single   cli.Output    // nil with --store
	results  []*dumpResult
	archives []string               // packages
	plan     *plan                  // of folders and packages
	ready    []*build               // of packages; complete and not yet dumped
	waiting  int64                  // bytes of ready
	members  int                    // number of binaries in packages
	again    []int                  // number of times that each package was read again
	working  chan struct{}          // has an element for each scan of a package and each dump in progress, at most jobs
	root     *store.Store           // of --store
	placed   map[string]*dumpResult // with --store, by path
}

// dumpResult is the result for one file.
type dumpResult struct {
	binfile.Result
	number  int           // of its file or package, for the progress bar
	cpu     string        // of the binary to read in a file that has several
	debug   string        // path of its debug file or PDB, if known
	pending []pendingFile // with --store
	stack   []byte        // from a panic

	build      *build                    // for a file of a folder or package
	members    map[string]binfile.Member // members of packages that are read for it
	supplement string                    // the member that dwz made, or ""
	damaged    bool                      // a problem with a package; nothing is dumped
}

// pendingFile is a file that is complete but does not have its final name yet.
type pendingFile struct {
	*store.Pending
	place string // relative to the store
	path  string // including the store
	noID  bool   // without an ID, several builds of the module have the same place
}

// fail records an error that ends the work on the file.
func (r *dumpResult) fail(err error) {
	status := &cli.StatusError{Status: cli.StatusInput, Err: err}
	errors.As(err, &status)
	r.Status = max(r.Status, status.Status)
	r.Error, r.Output, r.Alias = status.Error(), "", ""
	var panicked *par.PanicError
	if errors.As(err, &panicked) {
		r.stack = panicked.Stack
		r.Error = r.File + ": internal error, please report it with the file: " + err.Error()
	}
}

// run dumps all files and prints the results in the order of the operands.
func (d *dumper) run(ctx context.Context) error {
	d.placed = map[string]*dumpResult{}
	if err := d.expand(ctx); err != nil {
		return err
	}
	if err := d.maps.ReadManifests(); err != nil {
		return err
	}
	if err := d.openSingle(); err != nil {
		return err
	}
	defer d.abort()
	stop := d.startProgress()
	err := d.dumpAll(ctx, d.results)
	for _, r := range d.results {
		r.build = nil
	}
	if err == nil && len(d.archives) > 0 {
		err = d.dumpPackages(ctx)
		d.noMembers()
	}
	stop()
	if err != nil {
		return err
	}
	return d.finish()
}

// dumpAll dumps files concurrently and prints the results in order.
func (d *dumper) dumpAll(ctx context.Context, results []*dumpResult) error {
	workers := min(d.jobs, len(results))
	return par.OrderedLight(ctx, workers, len(results),
		func(ctx context.Context, worker, i int) (*dumpResult, error) {
			r := results[i]
			defer d.progress.Finish(r.number)
			d.begin()
			defer d.end()
			d.guarded(ctx, r, share(d.jobs, workers, worker))
			return r, context.Cause(ctx)
		},
		func(_ int, r *dumpResult) error {
			d.place(r)
			d.report(r)
			return nil
		})
}

// begin waits until one of the jobs is free. Callers get a job in the order of their calls.
func (d *dumper) begin() {
	if d.working != nil {
		d.working <- struct{}{}
	}
}

// end frees the job that begin acquired.
func (d *dumper) end() {
	if d.working != nil {
		<-d.working
	}
}

// share returns the number of threads that one of several workers may use.
func share(jobs, workers, worker int) int {
	n := jobs / workers
	if worker < jobs%workers {
		n++
	}
	return n
}

// openSingle opens the output or the store. It runs first, so that a wrong name is reported
// before the work instead of after it.
func (d *dumper) openSingle() error {
	if d.store != "" {
		root, err := cli.CreateStore(d.store, false)
		d.root = root
		return err
	}
	if d.compression != nil && d.toStdout() && cli.IsTerminal(d.stdout) {
		return cli.Usagef("dump", "--%s would write compressed data to a terminal: name a file with --output", d.compression.Name)
	}
	out, err := cli.CreateOutput(d.output, d.stdout)
	if err != nil {
		return cli.OutputError(d.output, err)
	}
	if w, ok := out.(*cli.WholeFile); ok {
		w.Restat = d.restat
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
	w := d.msgs.W
	if !cli.IsTerminal(w) || d.quiet || d.toStdout() && cli.IsTerminal(d.stdout) {
		return func() {}
	}
	sizes := make([]int64, len(d.files))
	for i, file := range d.files {
		if st, err := os.Stat(file); err == nil {
			sizes[i] = st.Size()
		}
	}
	p, stop := cli.StartProgress(w, d.msgs, sizes, cli.ProgressDelay)
	d.progress = p
	return stop
}

// guarded dumps one file. Damage, and even a panic, affects only this file.
func (d *dumper) guarded(ctx context.Context, r *dumpResult, jobs int) {
	if r.Error != "" || r.damaged {
		return
	}
	reader := d.Reader
	reader.CPU, reader.Members, reader.Supplement = r.cpu, r.members, r.supplement
	if r.debug != "" {
		reader.DebugFile = r.debug
	}
	reader.Options.Jobs = jobs
	reader.Options.Opened = r.Opened.Add
	reader.Options.Progress = d.progress.File(r.number)
	err := par.Each(ctx, 1, 1, func(ctx context.Context, _, _ int) error {
		return d.dump(ctx, r, &reader)
	})
	if err != nil {
		r.fail(err)
	}
}

func (d *dumper) dump(ctx context.Context, r *dumpResult, reader *binfile.Reader) error {
	return reader.Read(ctx, &r.Result, func(b *binfile.Binary) error {
		reader.Judge(&r.Result, b.Result)
		if b.NoDebugInfo && d.NoDebug.Skipped {
			return nil
		}
		r.NoteName("name")
		r.NoteAlone(cli.StatusInput)
		b.Module.Infos = append(b.Module.Infos, d.infos...)
		b.Module.Digest = d.digest
		how := symfmt.WriteOptions{Jobs: reader.Options.Jobs, Passed: b.Drop, Names: b.Names()}
		if err := d.write(ctx, r, b.Module, how); err != nil || !d.checkCFI {
			return err
		}
		check, err := measureCFI(ctx, b.Module, b.File)
		if err != nil {
			return err
		}
		r.CFICheck = check
		if what := check.Finding(d.minCFI); what != "" {
			r.Note(cli.StatusFindings, "%s: %s", r.File, what)
		}
		return nil
	})
}

// write writes the symbol file to the single output or into the store.
func (d *dumper) write(ctx context.Context, r *dumpResult, m *symfmt.Module, how symfmt.WriteOptions) error {
	if d.store == "" {
		r.Output = d.output
		err := d.writeTo(ctx, d.single, m, how)
		if err == nil {
			err = d.single.Commit()
		}
		r.Unchanged = cli.Unchanged(d.single)
		return cli.OutputError(d.single.Name(), err)
	}
	path, err := d.writeToStore(ctx, r, m, how)
	r.Output = path
	if err != nil || !d.bothNames || r.FileName == "" {
		return err
	}
	other := *m
	other.Name = r.FileName
	r.Alias, err = d.writeToStore(ctx, r, &other, how)
	return err
}

// writeToStore writes a symbol file, and the variables beside it. place renames them later.
func (d *dumper) writeToStore(ctx context.Context, r *dumpResult, m *symfmt.Module, how symfmt.WriteOptions) (path string, err error) {
	symbols, vars := m.SplitVars()
	if path, err = d.writeFile(ctx, r, symbols, ".sym", how); err == nil && vars != nil {
		_, err = d.writeFile(ctx, r, vars, ".vars", how)
	}
	return path, err
}

// writeFile writes a file of the store.
func (d *dumper) writeFile(ctx context.Context, r *dumpResult, m *symfmt.Module, extension string, how symfmt.WriteOptions) (path string, err error) {
	if d.compression != nil {
		extension += d.compression.Ext
	}
	place, err := store.Path(m, extension)
	if err != nil {
		return "", &cli.StatusError{Status: cli.StatusInput, Err: fmt.Errorf("%s: %w: --name gives the module another name", r.File, err)}
	}
	path = filepath.Join(d.store, place)
	out, err := d.root.Begin()
	if err != nil {
		return path, cli.OutputError(d.store, err)
	}
	out.Restat = d.restat
	r.pending = append(r.pending, pendingFile{out, place, path, strings.Trim(m.ID, "0") == ""})
	if err = d.writeTo(ctx, out, m, how); err == nil {
		err = out.Finish()
	}
	return path, cli.OutputError(path, err)
}

func (d *dumper) writeTo(ctx context.Context, out io.Writer, m *symfmt.Module, how symfmt.WriteOptions) error {
	out = cli.ContextWriter{Ctx: ctx, W: out}
	if d.compression == nil {
		return symfmt.Write(out, m, how)
	}
	z, err := d.compression.Writer(out)
	if err != nil {
		return err
	}
	if err := symfmt.Write(z, m, how); err != nil {
		return err
	}
	return z.Close()
}

// place renames the files in the store. It is called in the order of the operands, so that the
// first of two files with the same path always wins.
func (d *dumper) place(r *dumpResult) {
	if len(r.pending) == 0 {
		return
	}
	r.Unchanged = true
	for _, p := range r.pending {
		if r.Error == "" {
			d.placeFile(r, p)
		}
		p.Abort()
	}
	r.pending = nil // each pending file holds a buffer
}

func (d *dumper) placeFile(r *dumpResult, p pendingFile) {
	first := d.placed[p.path]
	if first == nil && !p.noID {
		d.placed[p.path] = r
		if err := p.Replace(p.place); err != nil {
			r.fail(cli.OutputError(p.path, err))
		}
		r.Unchanged = r.Unchanged && p.Unchanged
		return
	}
	switch outcome, existing, err := p.Publish(p.place); {
	case err != nil:
		r.fail(cli.OutputError(p.path, err))
	case first == nil && outcome == store.Differs:
		r.fail(&cli.StatusError{Status: cli.StatusOutput, Err: fmt.Errorf(
			"%s: not replaced: %s has no id that tells it from another build: remove the former, or dump to another folder, or give the build an id with --id",
			filepath.Join(d.store, existing), r.File)})
	case first == nil:
		d.placed[p.path] = r
		r.Unchanged = r.Unchanged && outcome == store.Same
		return
	case outcome == store.Differs:
		r.fail(&cli.StatusError{Status: cli.StatusOutput, Err: fmt.Errorf("%s: holds the symbols of %s, which differ from those of %s", p.path, first.File, r.File)})
	}
	r.Unchanged = false
}

// finish prints the summary and returns the status of all files.
func (d *dumper) finish() error {
	status, written := cli.StatusOK, true
	var mapped []srcmap.File
	for _, r := range d.results {
		status = max(status, r.Status)
		if r.Error == "" {
			mapped = append(mapped, r.MappedFiles...)
		} else {
			written = false
		}
	}
	if err := d.maps.WriteList(mapped); err != nil {
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
	if status == cli.StatusOK {
		return nil
	}
	return &cli.StatusError{Status: status, Written: written}
}
