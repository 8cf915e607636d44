package upload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/filekind"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/internal/upload"
	"github.com/symtool/symtool/resolve/store"
)

func (r *uploadRun) run(ctx context.Context) error {
	if err := r.readList(); err != nil {
		return err
	}
	if r.resume != "" {
		list, err := upload.OpenResume(r.resume)
		if err != nil {
			return cli.OutputError(r.resume, err)
		}
		defer list.Close()
		r.options.Resume = list
	}
	paths := r.paths()
	r.sayUnsent()
	results, err := r.send(ctx, paths)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var list *upload.ResumeError
	if errors.As(err, &list) {
		err = cli.OutputError(r.resume, list.Err)
	}
	if printErr := r.report(results); err == nil {
		err = printErr
	}
	if err != nil {
		return err
	}
	if r.status != cli.StatusOK {
		return &cli.StatusError{Status: r.status}
	}
	return nil
}

func (r *uploadRun) raise(status int) { r.status = max(r.status, status) }

// readList reads the list of the modules to send.
func (r *uploadRun) readList() error {
	if r.list == "" {
		return nil
	}
	f, err := os.Open(r.list)
	if err != nil {
		return cli.FileError(r.list, err)
	}
	defer f.Close()
	r.options.Wanted = map[store.Place]bool{}
	err = store.ReadWanted(f, func(p store.Place) error {
		if !r.options.Wanted[p] {
			r.wanted = append(r.wanted, p)
		}
		r.options.Wanted[p] = true
		return nil
	})
	if err != nil {
		return cli.FileError(r.list, err)
	}
	return nil
}

// fail reports an error that affects only one operand.
func (r *uploadRun) fail(err error) {
	status := &cli.StatusError{Status: cli.StatusInput, Err: err}
	errors.As(err, &status)
	r.raise(status.Status)
	r.msgs.Printf("symtool: %v", err)
}

// paths returns the operands, with stores replaced by their symbol files.
func (r *uploadRun) paths() (paths []string) {
	for _, operand := range r.files {
		if !cli.IsFolder(operand) {
			paths = append(paths, operand)
			continue
		}
		more, err := r.inStore(operand)
		if err != nil {
			r.fail(cli.FileError(operand, err))
		}
		paths = append(paths, more...)
	}
	return paths
}

// inStore returns the symbol files in a store. If a version has several, it returns the first one.
func (r *uploadRun) inStore(dir string) (paths []string, err error) {
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if r.options.Wanted != nil {
		for _, p := range r.wanted {
			more, err := r.ofModule(s, p)
			if err != nil {
				r.fail(cli.FileError(dir, err))
			}
			paths = append(paths, more...)
		}
		return paths, nil
	}
	l, err := s.List(time.Now())
	if err != nil {
		return nil, err
	}
	for _, p := range l.Problems {
		r.raise(cli.StatusInput)
		r.msgs.Printf("symtool: %v", p)
	}
	for _, v := range l.Versions {
		paths = append(paths, r.ofVersion(s, v)...)
	}
	if len(paths) == 0 && r.unsent == 0 {
		return nil, errors.New("is not a store: it has no symbol files NAME/ID/NAME.sym")
	}
	return paths, nil
}

// ofModule returns the files to send for a module on the list: its symbol file and, with --vars, its variables.
func (r *uploadRun) ofModule(s *store.Store, p store.Place) (paths []string, err error) {
	path, err := s.Has(p)
	if err == nil && path != "" {
		paths = append(paths, s.Path(path))
	}
	if path, failed := s.HasVariables(p); failed != nil {
		err = cmp.Or(err, failed)
	} else if path != "" {
		paths = append(paths, r.variables(s.Path(path))...)
	}
	return paths, err
}

// ofVersion is like ofModule, for a version. The store may have several symbol files for it; the first is sent.
func (r *uploadRun) ofVersion(s *store.Store, v *store.Version) (paths []string) {
	var symbols, variables []string
	for _, e := range v.Files {
		if _, ext, _ := store.StemOf(e.Path); ext == ".vars" {
			variables = append(variables, s.Path(e.Path))
		} else {
			symbols = append(symbols, s.Path(e.Path))
		}
	}
	if len(variables) > 0 {
		paths = r.variables(variables[0])
	}
	return append(symbols[:min(1, len(symbols))], paths...)
}

// variables returns the file if variables are to be sent. Otherwise it counts the file.
func (r *uploadRun) variables(path string) []string {
	if r.vars {
		return []string{path}
	}
	r.unsent++
	return nil
}

// sayUnsent reports how many files of variables were not sent.
func (r *uploadRun) sayUnsent() {
	if r.unsent == 0 || r.quiet {
		return
	}
	how := "--vars sends them"
	if r.options.Protocol != upload.Put && r.options.Protocol != upload.S3 {
		how = "--protocol put and buckets take them, with --vars"
	}
	r.msgs.Printf("symtool: %s: %s of variables not sent: %s", r.shown, text.Count(r.unsent, "file"), how)
}

// send sends the files, and reports results as they arrive.
func (r *uploadRun) send(ctx context.Context, paths []string) ([]*upload.Result, error) {
	bar, stop := r.startProgress(paths)
	defer stop()
	o := r.options
	o.Temporary = func(path string, exists bool) {
		if exists {
			cli.Temporaries.Add(path)
		} else {
			cli.Temporaries.Forget(path)
		}
	}
	if r.verbose {
		o.Log = func(line string) { r.msgs.Printf("symtool: %s", line) }
	}
	o.Progress = func(item int, done, total int64) {
		if advance := bar.File(item); advance != nil {
			advance(done, total)
		}
	}
	u, err := upload.New(o)
	if err != nil {
		return nil, cli.Usagef("upload", "%v", err)
	}
	var results []*upload.Result
	lines := cli.ProblemLines{Msgs: r.msgs, All: r.verbose, Hint: cli.VerboseHint}
	err = u.Run(ctx, paths, func(x *upload.Result) {
		bar.Finish(x.Item)
		r.reportResult(x, &lines)
		results = append(results, x)
	})
	if ctx.Err() == nil {
		lines.End()
		if slices.ContainsFunc(results, func(x *upload.Result) bool { return upload.RefusesMethod(x.Err) }) {
			r.msgs.Warnf("symtool: %s: %s", r.shown, refusedAdvice(r.options.Protocol))
		}
	}
	upload.Sort(results)
	return results, err
}

// refusedAdvice returns advice for a server that accepts nothing by this protocol.
func refusedAdvice(p upload.Protocol) string {
	if p == upload.Put {
		return "PUT is not accepted there: the server must support it (WebDAV), or another --protocol; to add files to what symtool serve serves, use symtool store add"
	}
	return string(p) + " is not accepted there: is URL the address of the server's API, and --protocol the server's?"
}

// reportResult prints the outcome for a file.
func (r *uploadRun) reportResult(x *upload.Result, lines *cli.ProblemLines) {
	for _, fault := range x.Faults {
		r.raise(cli.StatusInput)
		lines.Add(x.Path + ": " + fault)
	}
	switch {
	case x.Outcome == upload.Rejected:
		r.raise(cli.StatusInput)
		lines.Add(cli.FileError(x.Path, cmp.Or(filekind.NotSymbolFile(x.Path), x.Err)).Error())
	case x.Outcome == upload.Failed:
		r.raise(cli.StatusOutput)
		if x.Target == "" {
			lines.Add(cli.FileError(x.Path, x.Err).Error())
			return
		}
		lines.Add(fmt.Sprintf("%s: to %s: %v", x.Path, x.Target, x.Err))
	case r.verbose:
		r.msgs.Printf("symtool: %s: %s: %s", x.Path, outcomeWords[x.Outcome], x.Target)
	}
}

// outcomeWords maps outcomes to the words for them.
var outcomeWords = map[upload.Outcome]string{
	upload.Uploaded: "uploaded", upload.Present: "already there", upload.Resumed: "done before", upload.Planned: "to be sent",
	upload.Unwanted: "not in the list", upload.Failed: "failed", upload.Rejected: "not readable",
}

func (r *uploadRun) startProgress(paths []string) (p *cli.Progress, stop func()) {
	if !cli.IsTerminal(r.msgs.W) || r.quiet || r.verbose {
		return nil, func() {}
	}
	sizes := make([]int64, len(paths))
	for i, path := range paths {
		if st, err := os.Stat(path); err == nil {
			sizes[i] = st.Size()
		}
	}
	return cli.StartProgress(r.msgs.W, r.msgs, sizes, cli.ProgressDelay)
}
