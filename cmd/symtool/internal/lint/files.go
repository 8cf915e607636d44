package lint

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/filekind"
	"github.com/symtool/symtool/cmd/symtool/internal/suppliers"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
)

// lintInput is a symbol file to check.
type lintInput struct {
	name string // "-" for standard input
	err  error  // from searching for it
}

func (in lintInput) String() string {
	if in.name == "-" {
		return cli.StandardInput
	}
	return in.name
}

// stored returns a function that reports whether the store that contains the file has symbols with
// the file's id under a given name. It returns nil if the file's folder is not NAME/ID in a store.
func (in lintInput) stored(id string) func(name string) bool {
	path, err := filepath.Abs(in.name)
	folder := filepath.Dir(path)
	if err != nil || id == "" || !strings.EqualFold(filepath.Base(folder), id) {
		return nil
	}
	root := filepath.Dir(filepath.Dir(folder))
	return func(name string) bool {
		place, err := store.NewPlace(name, filepath.Base(folder))
		return err == nil && cli.HasSymbols(root, place)
	}
}

// lintInputs returns the files that operands stand for. Files below a folder are in the order of
// their names.
func lintInputs(operands []string) (inputs []lintInput) {
	for _, arg := range operands {
		if arg == "-" || !cli.IsFolder(arg) {
			inputs = append(inputs, lintInput{name: arg})
			continue
		}
		n := len(inputs)
		err := filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil: // skips only this folder
				inputs = append(inputs, lintInput{path, err})
			case !d.IsDir() && (cli.HasSymbolSuffix(path) || cli.HasVariableSuffix(path)):
				inputs = append(inputs, lintInput{name: path})
			}
			return nil
		})
		if err == nil && len(inputs) == n {
			err = fmt.Errorf("no symbol files in this folder: want %s", strings.Join(cli.SymbolSuffixes, ", "))
		}
		if err != nil {
			inputs = append(inputs, lintInput{arg, err})
		}
	}
	return inputs
}

// text opens the text of a symbol file. close is never nil.
func (in lintInput) text(stdin io.Reader) (text *bufio.Reader, close func() error, err error) {
	close = func() error { return nil }
	if in.err != nil {
		return nil, close, in.err
	}
	raw := stdin
	if in.name != "-" {
		if cli.IsFolder(in.name) { // a folder named a.sym may be in a store
			return nil, close, errors.New("is a folder")
		}
		f, err := os.Open(in.name)
		if err != nil {
			return nil, close, err
		}
		raw, close = f, f.Close
	}
	return bufio.NewReaderSize(raw, 64<<10), close, nil
}

// lintBinaries finds the binaries of symbol files.
type lintBinaries struct {
	path   string // path of the only one, or ""
	mu     sync.Mutex
	folder *supplier.Binaries // or nil
}

// open opens path, the value of --binary. operands are the symbol files.
func (b *lintBinaries) open(path string, operands []string) error {
	if path == "" {
		return nil
	}
	if len(operands) == 1 && filekind.IsSymbols(path) && filekind.IsBinary(operands[0]) {
		return fmt.Errorf("--binary %s is a symbol file, and %s a binary: swap them", path, operands[0])
	}
	if !objfile.IsFolder(path) {
		b.path = path
		return nil
	}
	var err error
	b.folder, err = supplier.NewBinaries([]string{path}, supplier.BinaryOptions{})
	if err != nil {
		return &cli.StatusError{Status: cli.StatusInput, Err: err}
	}
	return nil
}

// find opens a module's binary, which the caller must close. It returns nil without --binary.
func (b *lintBinaries) find(ctx context.Context, m suppliers.ModuleName) (symfmt.Binary, error) {
	if b.path != "" {
		return b.only(m)
	}
	if b.folder == nil {
		return nil, nil
	}
	if m.ID == "" {
		return nil, errors.New("no binary: the file does not begin with a MODULE record")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	f, _, err := b.folder.Binary(ctx, resolve.Module{Name: m.Name, DebugID: m.ID})
	if f == nil && err == nil {
		err = fmt.Errorf("no binary with the id %s of %s", m.ID, m.Name)
	}
	return f, err
}

// only opens the only binary. In a universal file, it opens the binary with the module's id.
func (b *lintBinaries) only(m suppliers.ModuleName) (symfmt.Binary, error) {
	limits := object.DefaultLimits()
	if id, err := hex.DecodeString(strings.TrimSuffix(m.ID, "0")); err == nil {
		limits.ID = id
	}
	f, err := objfile.Open(b.path, limits)
	if errors.Is(err, object.ErrSeveral) {
		return nil, fmt.Errorf("%w: none has the id %s", err, m.ID)
	} else if err != nil {
		return nil, err
	}
	return f, nil
}

// headModule returns the module named by the first line of a text, if any.
func headModule(head []byte) (m suppliers.ModuleName) {
	rec, err := symfmt.NewReader(bytes.NewReader(head), symfmt.ReadOptions{}).Next() // compressed data ends early
	if err == nil && rec.Kind == symfmt.KindModule {
		m.ID, m.Name = strings.ToUpper(string(rec.DebugID)), string(rec.Name)
	}
	return m
}
