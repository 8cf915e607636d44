package store

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/filekind"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/resolve/store"
)

// addedFile is the result of adding a file.
type addedFile struct {
	addition *store.Addition // nil if there was an error
	err      error
}

// add adds files to the store. A file that cannot be read is reported and skipped.
func (r *storeRun) add(ctx context.Context) error {
	files := r.addFiles()
	var done []*store.Addition
	err := par.OrderedLight(ctx, r.jobs, len(files),
		func(ctx context.Context, _, i int) (addedFile, error) {
			a, err := r.addOne(ctx, files[i])
			return addedFile{a, err}, context.Cause(ctx)
		},
		func(i int, f addedFile) error {
			r.reportAdded(files[i], f)
			if f.addition != nil {
				done = append(done, f.addition)
			}
			return nil
		})
	if err != nil {
		return err
	}
	if r.keep > 0 {
		if err := r.keepLast(ctx, done); err != nil {
			return err
		}
	}
	if r.list == "" {
		return nil
	}
	r.output = r.list
	return r.print(func(w io.Writer) error {
		for _, a := range done {
			if _, err := fmt.Fprintf(w, "%v\t%s\n", a.Outcome, filepath.ToSlash(a.Path)); err != nil {
				return err
			}
		}
		return nil
	})
}

// addFiles returns the operands, with each folder replaced by the symbol files, Windows programs and PDBs below
// it.
func (r *storeRun) addFiles() (files []string) {
	for _, operand := range r.files {
		if !cli.IsFolder(operand) {
			files = append(files, operand)
			continue
		}
		if err := filekind.NotSymbolFile(operand); err != nil { // it may be a macOS bundle
			r.fail(cli.FileError(operand, err))
			continue
		}
		before := len(files)
		err := filepath.WalkDir(operand, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				r.fail(cli.FileError(path, err))
			} else if !d.IsDir() && (cli.HasSymbolSuffix(path) || cli.HasVariableSuffix(path) || hasProgramSuffix(path)) {
				files = append(files, path)
			}
			return nil
		})
		if err == nil && len(files) == before {
			err = fmt.Errorf("no symbol files in this folder: want %s", strings.Join(slices.Concat(cli.SymbolSuffixes, programSuffixes()), ", "))
		}
		if err != nil {
			r.fail(cli.FileError(operand, err))
		}
	}
	return files
}

// fail reports an error that affects only one file.
func (r *storeRun) fail(err error) {
	status := &cli.StatusError{Status: cli.StatusInput, Err: err}
	errors.As(err, &status)
	r.raise(status.Status)
	r.msgs.Printf("symtool: %v", err)
}

func (r *storeRun) addOne(ctx context.Context, file string) (*store.Addition, error) {
	name, in := file, r.stdin
	if file == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(file)
		if err != nil {
			return nil, cli.FileError(file, err)
		}
		defer f.Close()
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() && store.IsProgram(f) {
			return r.addProgram(ctx, f, file)
		}
		in = f
	}
	text := bufio.NewReader(bin.ContextReader(ctx, in))
	head, _ := text.Peek(cli.ModuleHead) // reading on will return the error again
	if err := filekind.NotSymbols(head); err != nil {
		return nil, cli.InputError(name, err)
	}
	a, err := r.store.Add(text, store.AddOptions{Compression: r.compression, Damaged: r.damaged, Replace: r.replace})
	return a, r.addError(name, err)
}

// addError returns the error of adding a file, with the name of the store or of the file, whichever failed.
func (r *storeRun) addError(name string, err error) error {
	var writing *store.WriteError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &writing):
		return cli.OutputError(r.dir, writing.Err)
	}
	return cli.FileError(name, err)
}

// reportAdded prints the result for a file.
func (r *storeRun) reportAdded(file string, f addedFile) {
	if file == "-" {
		file = "standard input"
	}
	if f.err != nil {
		r.fail(f.err)
		return
	}
	path := r.store.Path(f.addition.Path)
	for _, fault := range f.addition.Faults {
		r.fail(cli.InputError(file, errors.New(fault)))
	}
	switch how := f.addition.Outcome; {
	case how == store.Differs:
		r.fail(cli.OtherContents(path, file))
	case r.verbose && how == store.Same:
		r.msgs.Printf("symtool: %s: already exists as %s", file, path)
	case r.verbose && how == store.Replaced:
		r.msgs.Printf("symtool: %s: written to %s in place of another", file, path)
	case r.verbose:
		r.msgs.Printf("symtool: %s: written to %s", file, path)
	}
}

// keepLast removes old versions of the modules that were added.
func (r *storeRun) keepLast(ctx context.Context, done []*store.Addition) error {
	modules, these := map[string]bool{}, map[string]bool{}
	for _, a := range done {
		modules[a.Place.Name] = true
		these[a.Place.Name+"/"+a.Place.ID] = true
	}
	policy := store.Policy{
		KeepLast: r.keep, MaxSize: -1, Modules: modules,
		Keep: func(v *store.Version) bool { return these[v.Name+"/"+v.ID] },
		Removed: func(x store.Removal) {
			if r.verbose {
				r.msgs.Printf("symtool: %s: removed (%s)", r.store.Path(x.Path), removalWords[x.Why])
			}
		},
	}
	c, err := r.store.Collect(ctx, policy, time.Now())
	if err != nil {
		return cmp.Or(context.Cause(ctx), cli.OutputError(r.dir, err))
	}
	for _, p := range c.Problems {
		r.fail(&cli.StatusError{Status: cli.StatusOutput, Err: p.Err})
	}
	return nil
}
