package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/cabinet"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/pdb"
)

// Programs gets Windows programs and PDBs from symbol servers.
type Programs struct{ servers *serverSupplier }

// NewPrograms returns a Programs that asks the servers of cfg. The error names the first malformed URL.
func NewPrograms(cfg Servers) (*Programs, error) {
	s, err := newSupplier(cfg)
	if err != nil {
		return nil, err
	}
	return &Programs{s}, nil
}

// PDB returns the path of the PDB with a name and an id, as in MODULE, in the cache, or "". tried lists the
// places that do not have it. The error joins the errors of files that were refused.
func (p *Programs) PDB(ctx context.Context, name, id string) (path string, tried []symfmt.Tried, err error) {
	s := &search{m: resolve.Module{DebugFile: name, DebugID: id}}
	if want, err := databaseOf(&s.m); err != nil {
		s.refuse(err)
	} else if want != nil {
		path, err = p.servers.program(ctx, s, want)
		if err != nil {
			return "", s.tried, err
		}
	}
	return path, s.tried, errors.Join(s.errs...)
}

// programs returns the symbols of a Windows module from its PDB and its program, if servers have at
// least one of them. The program has the rules for the stack of x86-64 and arm64. The only error is the
// context's.
func (c *serverSupplier) programs(ctx context.Context, s *search) (resolve.Symbols, error) {
	var paths []string
	for _, of := range []func(*resolve.Module) (*wanted, error){databaseOf, programOf} {
		want, err := of(&s.m)
		if want == nil || err != nil { // a bad name was refused with the symbol files
			continue
		}
		path, err := c.program(ctx, s, want)
		if err != nil {
			return nil, err
		}
		if path != "" {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil, nil
	}
	b, err := supplier.NewBinaries(paths, supplier.BinaryOptions{})
	if err != nil {
		s.refuse(err)
		return nil, nil
	}
	r, tried, err := b.Symbols(ctx, s.m)
	s.tried = append(s.tried, tried...)
	if err != nil {
		s.errs = append(s.errs, err)
	}
	return r, context.Cause(ctx)
}

// program returns the path of a file in the cache, into which it is fetched from the first server that has it, or
// "". The only error is the context's.
func (c *serverSupplier) program(ctx context.Context, s *search, want *wanted) (string, error) {
	place := want.in(c, nil)
	if place.Known() {
		return place.Path, nil
	}
	for _, server := range c.servers {
		if c.fetch(ctx, s, server, want) {
			return place.Path, nil
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
	}
	return "", nil
}

// databaseOf returns the PDB of a module, or nil for a module that has none.
func databaseOf(m *resolve.Module) (*wanted, error) {
	name := databaseName(m)
	if name == "" {
		return nil, nil
	}
	p, err := store.NewPlace(name, strings.ToUpper(m.DebugID))
	if err != nil {
		return nil, err
	}
	return program(p, func(path string) error {
		f, err := pdb.OpenID(path, p.ID)
		if err == nil {
			f.Close()
		}
		return err
	}), nil
}

// databaseName returns the name of a module's PDB, or "".
func databaseName(m *resolve.Module) string {
	for _, name := range m.Names() {
		if strings.EqualFold(filepath.Ext(name), ".pdb") {
			return name
		}
	}
	return ""
}

// programOf returns the program of a module with a PDB, or nil if its id is unknown.
func programOf(m *resolve.Module) (*wanted, error) {
	if databaseName(m) == "" || m.CodeID == "" || m.Name == "" {
		return nil, nil
	}
	p, err := store.NewPlace(m.Name, strings.ToUpper(m.CodeID))
	if err != nil {
		return nil, err
	}
	return program(p, func(path string) error { return checkBinary(path, p.ID) }), nil
}

// program returns a file that servers have either unchanged or in a cabinet, with _ as the last
// character of its name.
func program(p store.Place, check func(path string) error) *wanted {
	copy := func(w io.Writer, body io.Reader) error {
		_, err := io.Copy(w, body)
		return err
	}
	return &wanted{place: p, name: p.Name, what: " " + p.Name, check: check, forms: []form{
		{p.Name, copy},
		{p.Name[:len(p.Name)-1] + "_", cabinet.Unpack},
	}}
}

// checkBinary returns an error unless the file at path is the program with a code id.
func checkBinary(path, id string) error {
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		return errors.New(bin.Bare(err, path))
	}
	defer f.Close()
	if got, _, _ := strings.Cut(f.CodeID(f.BuildID(), ""), " "); !strings.EqualFold(got, id) {
		return fmt.Errorf("%w: code id %s, want %s", pdb.ErrOtherBuild, got, id)
	}
	return nil
}
