package binfile

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/pdb"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// IsPDB reports whether the file at path begins as a PDB. It does not open a pipe, which would wait for a writer.
func IsPDB(path string) bool {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [pdb.HeadSize]byte
	n, _ := f.ReadAt(head[:], 0)
	return pdb.Match(head[:n])
}

// ProgramID returns the id of the Windows binary at path that a PDB describes, or "".
func ProgramID(path string) string {
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		return ""
	}
	defer f.Close()
	if f.PDB == "" {
		return ""
	}
	return f.ID()
}

// StoreID implements store.ProgramID.
func StoreID(r io.ReaderAt, size int64, path string) (string, error) {
	var head [pdb.HeadSize]byte
	if n, _ := r.ReadAt(head[:], 0); pdb.Match(head[:n]) {
		return pdb.ID(r, size, path)
	}
	f, err := objfile.New(r, size, path, object.DefaultLimits())
	if err != nil {
		return "", err
	}
	defer f.Close()
	id, _, _ := strings.Cut(f.CodeID(f.BuildID(), ""), " ")
	return id, nil
}

// readPDB reads the PDB at path, with the names that the options ask for.
func (d *Reader) readPDB(ctx context.Context, r *Result, path string) (*symfmt.Module, error) {
	if d.Options.Mapping != nil {
		return nil, errors.New("a mapping does not apply to the source files of a PDB; --prefix-map does")
	}
	if d.Options.Vars.Params || d.Options.Vars.Locals {
		r.problem(bin.Problem{Lost: "variables", Err: &bin.Error{File: path, Msg: "variables of a PDB are not read"}})
	}
	if st, err := os.Stat(path); err == nil {
		cli.TuneCollectorForPDB(st.Size())
	}
	result, err := d.readDatabase(ctx, path, pdb.Options{Jobs: d.Options.Jobs, NoInlines: d.Options.NoInlines, RawNames: !d.Options.Demangle})
	if err != nil {
		return nil, err
	}
	for _, p := range result.Problems {
		r.problem(p)
		r.Partial = r.Partial || errors.Is(p.Err, pdb.ErrPartial)
	}
	m := result.Module
	for i := range m.Files {
		m.Files[i].Name = srcmap.ReplacePrefix(d.Options.PrefixMap, m.Files[i].Name)
	}
	return m, nil
}

// findPDB returns the path of the PDB of a Windows binary: the one that was named, or one that has its id and lies
// beside it or in a folder of debug files, or that a server has; "" if there is none.
func (d *Reader) findPDB(ctx context.Context, r *Result, binary *object.File) (string, error) {
	if binary.OS != "windows" || d.Options.CFIOnly {
		return "", nil
	}
	if d.DebugFile != "" {
		if !d.isPDB(d.DebugFile) {
			return "", nil
		}
		if err := d.checkPDB(d.DebugFile, binary.ID()); err != nil {
			return "", cli.InputError(d.DebugFile, err)
		}
		r.Opened.Add(d.DebugFile)
		return d.DebugFile, nil
	}
	var set debugset.Set
	finder, fetched := d.finder(r), ""
	if fetch := finder.Database; fetch != nil {
		finder.Database = func(ctx context.Context, s *debugset.Set, name, id string) (path string, err error) {
			fetched, err = fetch(ctx, s, name, id)
			return fetched, err
		}
	}
	path, err := finder.PDB(ctx, &set, binary)
	r.take(&set, "PDB")
	if path != fetched { // what is fetched is not an input of a build
		r.Opened.Add(path)
	}
	return path, err
}

// fetchPDB fetches a PDB from symbol servers; "" if they do not have it. An error is that of the context.
func (d *Reader) fetchPDB(ctx context.Context, s *debugset.Set, name, id string) (string, error) {
	if d.Programs == nil || id == "" {
		return "", nil
	}
	path, tried, err := d.Programs.PDB(ctx, name, id)
	for _, t := range tried {
		s.Tried = append(s.Tried, object.Tried{Path: t.Place, Why: t.Why})
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil && path == "" {
		s.Problems = append(s.Problems, bin.Problem{Lost: "PDB", Err: err})
	}
	return path, nil
}

// addPDB puts what a PDB describes into the module of its binary, which has the rules for the stack
// and, without a PDB, exported functions alone.
func (d *Reader) addPDB(ctx context.Context, r *Result, path string, report *dwarf2sym.Result) error {
	m, err := d.readPDB(ctx, r, path)
	if err != nil {
		return cli.InputError(path, err)
	}
	if pdb.Complete(report.Module, m); d.Options.NoCFI {
		report.Module.Wins = nil
	}
	report.NoDebugInfo = false
	countPDB(report)
	r.DebugFile, r.PDB = path, path
	return nil
}

// countPDB counts the records that came from a PDB.
func countPDB(report *dwarf2sym.Result) {
	m, s := report.Module, &report.Stats
	s.Funcs, s.Files, s.Origins, s.Publics = len(m.Funcs), len(m.Files), len(m.Origins), len(m.Publics)
	s.StackWins = len(m.Wins)
	s.Inlines, s.Lines = 0, 0
	for i := range m.Funcs {
		inlines, lines := m.Funcs[i].Body.Counts()
		s.Inlines += inlines
		s.Lines += lines
	}
}

// openAlone reads a PDB without its binary: the rules for the stack of x86_64 and arm64 are in that.
func (d *Reader) openAlone(ctx context.Context, r *Result) (*Binary, error) {
	r.Opened.Add(r.File)
	m, err := d.readPDB(ctx, r, r.File)
	if err != nil {
		return nil, cli.InputError(r.File, err)
	}
	o := &d.Options
	if o.Name != "" {
		m.Name = o.Name
	}
	if o.ID != "" {
		m.ID = o.ID
	}
	if o.OS != "" {
		m.OS = o.OS
	}
	if o.Generator != "" {
		m.Infos = append(m.Infos, symfmt.Info{Key: "GENERATOR", Value: o.Generator})
	}
	if o.NoCFI {
		m.Wins = nil
	}
	if o.CFIOnly {
		m.Files, m.Origins, m.Funcs, m.Publics = nil, nil, nil, nil
	}
	report := &dwarf2sym.Result{Module: m}
	countPDB(report)
	r.Module = &ModuleSummary{m.OS, m.Arch, m.ID, m.Name}
	stats := report.Stats
	r.Stats, r.PDB = &stats, r.File
	if cpu := arch.ByName(m.Arch); cpu != arch.X86 && !o.NoCFI {
		var set debugset.Set
		r.alone(&set, d.finder(r).ProgramOfPDB(&set, r.File, m.ID))
		r.Unruled = "it is in the program or DLL"
		r.Note(cli.StatusOK, "%s: no STACK CFI: %s", r.File, r.dumpProgram("which has it", r.Unruled+"; dump that, with the PDB beside it"))
	}
	return &Binary{Result: report, File: &object.File{Path: r.File, OS: m.OS, Container: &object.Bare{}}}, nil
}
