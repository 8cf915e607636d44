package binfile

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/pdb"
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

// ProgramID returns the ID of the Windows binary at path, by which its PDB is found, or "".
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

// fetchPDB fetches a PDB from symbol servers and returns its path, or "" if they do not have it. The error is
// always the context's.
func (d *Reader) fetchPDB(ctx context.Context, s *debugset.Set, name, id string) (string, error) {
	if d.Programs == nil || id == "" {
		return "", nil
	}
	path, tried, err := d.Programs.PDB(ctx, name, id)
	s.Tried = append(s.Tried, tried...)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil && path == "" {
		s.Problems = append(s.Problems, bin.Problem{Lost: "PDB", Err: err})
	}
	return path, nil
}

// openAlone reads a PDB without its binary. For x86_64 and arm64, only the binary has the unwind rules.
func (d *Reader) openAlone(ctx context.Context, r *Result) (*Binary, error) {
	r.Opened.Add(r.File)
	database, err := d.openPDB(r.File)
	if err != nil {
		return nil, cli.InputError(r.File, err)
	}
	defer database.Close()
	cli.TuneCollectorForPDB(database.Size())
	report, err := dwarf2sym.ReadPDB(ctx, database, d.Options)
	if err != nil {
		return nil, cli.InputError(r.File, err)
	}
	b := &Binary{Result: report, File: &object.File{Path: r.File, OS: report.Module.OS, Container: &object.SectionsOnly{}}}
	d.note(ctx, r, b, true)
	r.PDB = r.File
	if m := report.Module; arch.ByName(m.Arch) != arch.X86 && !d.Options.NoCFI {
		var set debugset.Set
		r.alone(&set, d.finder(r).ProgramOfPDB(&set, r.File, m.ID))
		r.Unruled = "it is in the program or DLL"
		r.Note(cli.StatusOK, "%s: no STACK CFI: %s", r.File, r.dumpProgram("which has it", r.Unruled+"; dump that, with the PDB beside it"))
	}
	return b, nil
}
