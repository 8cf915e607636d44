package supplier

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

// NewBinaries returns a Supplier of the ELF and PE files below folders, or at the paths of files. A
// module's file is found by its path below a folder, or anywhere by its id; its symbols are read
// as by symtool dump. Separate debug files and PDBs are found there, too, and beside the file and in
// o.DebugDirs, as by dwarf2sym.ReadFile. A PDB whose program is missing has everything but the rules for the
// stack of x86-64 and arm64.
//
// A module about which nothing is known gets the only binary if the roots are files.
func NewBinaries(roots []string, o BinaryOptions) (*Binaries, error) {
	b := &Binaries{roots: roots, more: o.DebugDirs, fetcher: o.Fetcher, onlyFiles: len(roots) > 0, atPaths: o.AtPaths, libraryDirs: o.LibraryDirs, pack: o.Package, symbolTables: o.SymbolTables, hermetic: o.Hermetic}
	for _, root := range roots {
		st, err := os.Stat(objfile.InBundle(root))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", root, bin.WithoutPath(err))
		}
		if st.IsDir() {
			b.onlyFiles = false
			b.debugDirs = append(b.debugDirs, root)
		}
	}
	b.debugDirs = append(b.debugDirs, b.more...)
	return b, nil
}

// BinaryOptions say where NewBinaries finds files that are not below its roots. With the zero value, only
// those beside a binary are found.
type BinaryOptions struct {
	DebugDirs []string // folders with separate debug files
	Fetcher   Fetcher  // gets missing files by build-id
	// AtPaths means that a module's binary is also looked for at the module's own path, where it is on the machine
	// on which the process ran. Its id must be the module's. If there is no binary, its debug file is used alone.
	AtPaths bool
	// LibraryDirs are folders of this machine where AtPaths also looks for the binaries of modules without a folder in
	// their path: Crashpad's minidumps of Linux name libraries by their DT_SONAME.
	LibraryDirs []string
	// Package is a .dwp file with the split DWARF of the binaries; "" means FILE.dwp beside each
	// binary.
	Package string
	// SymbolTables means that functions come only from the symbols of binaries and of their debug files: the only
	// debug information that is read is call frame information.
	SymbolTables bool
	// Hermetic means that debug files and PDBs beside a binary count only if they are below a root
	// or in DebugDirs.
	Hermetic bool
}

// Fetcher gets files from elsewhere. Its methods may be called concurrently. Package remote
// implements it for debuginfod servers.
type Fetcher interface {
	// Fetch returns the path of the file of a kind that belongs to a build-id: "debuginfo" is the file with debug
	// information, "executable" the one that runs, and "source" followed by an absolute path the source file that the
	// debug information names by this path. tried has a line for each place that does not have it. The error is
	// fs.ErrNotExist if no place has it.
	Fetch(ctx context.Context, kind string, buildID []byte) (path string, tried []string, err error)
}

// Kinds of files of a Fetcher.
const (
	fetchDebug      = "debuginfo"
	fetchExecutable = "executable"
	fetchSource     = "source" // and a path
)

// Binaries is a Supplier that reads ELF and PE files: see NewBinaries. It can also find the files
// themselves.
type Binaries struct {
	roots     []string
	more      []string // folders with debug files that are not below a root
	debugDirs []string // all folders with debug files
	onlyFiles bool     // no root is a folder
	fetcher   Fetcher  // nil if nothing is fetched
	atPaths   bool
	hermetic  bool

	libraryDirs  []string
	pack         string // a .dwp file, or ""
	symbolTables bool

	mu    sync.Mutex
	index *binaryIndex // nil until the folders are searched
}

// maxFiles limits a search. Most systems have fewer files, and reading so many takes minutes.
const maxFiles = 2_000_000

// Symbols implements Supplier.
func (b *Binaries) Symbols(ctx context.Context, m resolve.Module) (resolve.Symbols, []symfmt.Tried, error) {
	s := search{m: m}
	if unknown(&m) && !b.onlyFiles {
		s.miss("binaries", "not searched: the module has no name and no id")
		return s.done(nil)
	}
	f, err := b.find(ctx, &s)
	database := ""
	if f == nil && err == nil {
		database, err = b.onlyPDB(ctx, &s)
	}
	if f == nil && database == "" || err != nil {
		return nil, s.tried, errors.Join(append(s.errs, err)...)
	}
	path := database
	if f != nil {
		path = f.Path
	}
	var r resolve.Symbols
	err = par.Each(ctx, 1, 1, func(ctx context.Context, _, _ int) (err error) {
		if f == nil {
			r, err = readPDB(ctx, database)
		} else {
			r, err = b.read(ctx, &s, f)
		}
		return err
	})
	if ctx.Err() != nil {
		return nil, s.tried, context.Cause(ctx)
	}
	if err != nil {
		s.refuse(fmt.Errorf("%s: %w", path, err))
		r = nil
	}
	return s.done(r)
}

// find opens a module's binary or, without one, its debug file.
func (b *Binaries) find(ctx context.Context, s *search) (*object.File, error) {
	if f := b.byPath(s); f != nil {
		return f, nil
	}
	x, err := b.indexed(ctx, s)
	if err != nil {
		return nil, err
	}
	found := x.find(s)
	for _, code := range []bool{true, false} {
		for _, i := range found {
			if x.files[i].Code != code {
				continue
			}
			if f := s.openBinary(x.files[i].Path); f != nil {
				return f, nil
			}
		}
	}
	x.others(s)
	for _, root := range b.roots {
		s.miss(root, "no binary of %s; of %s, %d are binaries", &s.m, text.Count(x.looked, "file"), len(x.files))
	}
	if f := b.fetch(ctx, s, fetchExecutable, s.m.BuildID); f != nil {
		return f, nil
	}
	return b.debugAlone(ctx, s), nil
}

// byPath opens the file that has the module's path below a folder, or on this machine.
func (b *Binaries) byPath(s *search) *object.File {
	if s.m.Path == "" || s.m.DebugID == "" && len(s.m.BuildID) == 0 {
		return nil
	}
	if f := b.here(s); f != nil {
		return f
	}
	if isForeign(s.m.Path) {
		return nil // found by its id
	}
	for _, root := range b.roots {
		path := filepath.Join(root, filepath.Clean(string(filepath.Separator)+s.m.Path))
		if regular(path) != nil {
			continue // it may be elsewhere
		}
		if f := s.openBinary(path); f != nil {
			return f
		}
	}
	return nil
}

// openBinary opens the file at path, if it is the module's.
func (s *search) openBinary(path string) *object.File {
	lim := object.DefaultLimits()
	lim.ID = s.wantedID()
	f, err := objfile.Open(path, lim)
	if err != nil {
		s.miss(path, "%s", bin.Bare(err, path))
		return nil
	}
	id := f.ID()
	if want := s.m.BuildID; len(want) > 0 && !bytes.Equal(f.BuildID(), want) {
		s.note(symfmt.OtherID, path, "build-id %x, want %x", f.BuildID(), want)
	} else if len(want) == 0 && !s.m.Is(id) {
		s.note(symfmt.OtherID, path, "id %s, want %s", id, s.m.DebugID)
	} else {
		return f
	}
	f.Close()
	return nil
}

// wantedID returns the module's build-id or, without one, the part of its id before the age, which is the UUID of
// a macOS binary.
func (s *search) wantedID() []byte {
	const guidDigits = 32
	if len(s.m.BuildID) > 0 || len(s.m.DebugID) < guidDigits {
		return s.m.BuildID
	}
	id, err := hex.DecodeString(s.m.DebugID[:guidDigits])
	if err != nil {
		return nil
	}
	return id
}

// noted reports whether a file was already recorded as tried.
func (s *search) noted(path string) bool {
	return slices.ContainsFunc(s.tried, func(t symfmt.Tried) bool { return t.Place == path })
}

// indexed returns the index, which is built on first use.
func (b *Binaries) indexed(ctx context.Context, s *search) (*binaryIndex, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.index != nil {
		return b.index, nil
	}
	x := &binaryIndex{byID: map[string][]int{}, pdbs: map[string]string{}}
	var paths []string
	for _, root := range b.roots {
		if paths = x.list(ctx, root, paths); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	if err := x.read(ctx, paths); err != nil {
		return nil, err
	}
	b.index = x
	if x.unread > 0 {
		s.refuse(fmt.Errorf("%w; %d folders were skipped", x.firstErr, x.unread))
	}
	if x.looked == maxFiles {
		s.refuse(fmt.Errorf("%q: only the first %d files were searched", b.roots, maxFiles))
	}
	return x, nil
}

// Names implements Lister with the names of the files with code.
func (b *Binaries) Names(ctx context.Context) (names []string) {
	x, err := b.indexed(ctx, &search{})
	if err != nil {
		return nil
	}
	for i := range x.files {
		if x.files[i].Code {
			names = append(names, x.files[i].names()...)
		}
	}
	return names
}

// noFolders are trees that Unix systems generate, which have no files on a disk.
var noFolders = []string{"/dev", "/proc", "/sys"}

// Files are read in batches, by more goroutines than there are processors,
// since they mostly wait for the disk.
const (
	batchFiles   = 256
	batchReaders = 8
)

// read opens the symbols of a binary, which then own it. On an error it closes the binary.
func (b *Binaries) read(ctx context.Context, s *search, f *object.File) (resolve.Symbols, error) {
	set := &debugset.Set{Binary: f}
	options, err := b.complete(ctx, s, set)
	if err != nil {
		return nil, errors.Join(err, closeAll(set))
	}
	if set.PDB == nil {
		p, err := openLazy(ctx, set, options)
		if err != nil {
			return nil, err
		}
		if len(p.Extents().Code) > 0 && !p.Mapped() {
			return p, nil
		}
		p.Lookup.Close() // damaged, so that the extent of code must be guessed from all records, or they are in objects
	}
	defer closeAll(set)
	read, err := dwarf2sym.Read(ctx, f, options)
	if err != nil {
		return nil, err
	}
	return resolve.FromModule(read.Module, resolve.ModuleOptions{Path: f.Path, DebugPath: set.DebugPath(), Extents: &read.Extents,
		Problems: read.Problems, Doubt: read.Doubt(f.Path)}), nil
}

// Variables reads the parameters and local variables of a module's binary and its separate debug file, and the
// symbols that they belong to, which have the same records as the result of Symbols. It returns nil if there
// is no binary. The problems are those found in reading all of it.
func (b *Binaries) Variables(ctx context.Context, m resolve.Module) (resolve.VariableSymbols, []symfmt.Problem, error) {
	var symbols resolve.VariableSymbols
	var problems []symfmt.Problem
	err := b.whole(ctx, m, func(f *object.File, o dwarf2sym.Options) error {
		o.NoCFI, o.Vars = true, dwarf2sym.VarOptions{Params: true, Locals: true, FullTypes: true}
		read, err := dwarf2sym.Read(ctx, f, o)
		if err == nil {
			symbols, problems = resolve.FromModule(read.Module, resolve.ModuleOptions{Path: f.Path, Extents: &read.Extents}), read.Problems
		}
		return err
	})
	return symbols, problems, err
}

// Globals reads the variables outside functions that have one of the names from a module's binary or its separate debug
// file, as dwarf2sym.ReadGlobals does. It returns nil if there is no binary, or it has none of them.
func (b *Binaries) Globals(ctx context.Context, m resolve.Module, names []string) (info *vars.Info, problems []symfmt.Problem, err error) {
	err = b.whole(ctx, m, func(f *object.File, o dwarf2sym.Options) (err error) {
		info, problems, err = dwarf2sym.ReadGlobals(ctx, f, names, o)
		return err
	})
	return info, problems, err
}

// whole calls read with a module's binary, if there is one, and the files that belong to it.
func (b *Binaries) whole(ctx context.Context, m resolve.Module, read func(*object.File, dwarf2sym.Options) error) error {
	s := search{m: m}
	f, err := b.find(ctx, &s)
	if f == nil || err != nil {
		return err
	}
	set := &debugset.Set{Binary: f}
	defer closeAll(set)
	o, err := b.complete(ctx, &s, set)
	if err != nil {
		return err
	}
	if err := read(f, o); err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	return nil
}

// complete opens the files that belong to a binary, and returns the options to read them.
func (b *Binaries) complete(ctx context.Context, s *search, set *debugset.Set) (dwarf2sym.Options, error) {
	o := dwarf2sym.Options{Demangle: true, Package: b.pack, NoFuncs: b.symbolTables}
	err := b.finder(s).Complete(ctx, set)
	s.noteFiles(set)
	o.Debug, o.Supplement, o.PDB = set.Files()
	return o, err
}

// closeAll closes a binary and the files that were found for it.
func closeAll(set *debugset.Set) error { return errors.Join(set.Close(), set.Binary.Close()) }

// Binary opens a module's ELF or PE file, or returns nil. The caller must close it. It may return the
// separate debug file, whose code sections have no contents. tried and the error are as for
// Symbols.
func (b *Binaries) Binary(ctx context.Context, m resolve.Module) (symfmt.Binary, []symfmt.Tried, error) {
	s := search{m: m}
	if m.DebugID == "" && len(m.BuildID) == 0 && len(m.Names()) == 0 {
		s.miss("binaries", "not searched: the module has no name and no id")
		return nil, s.tried, nil
	}
	f, err := b.find(ctx, &s)
	err = errors.Join(append(s.errs, err)...)
	if f == nil {
		return nil, s.tried, err
	}
	return f, s.tried, err
}
