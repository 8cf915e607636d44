package supplier

import (
	"cmp"
	"context"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/pdb"
)

// binaryIndex lists the binaries and the PDBs below the folders.
type binaryIndex struct {
	files    []BinaryFile
	pdbs     map[string]string // paths, by MODULE's id
	byID     map[string][]int  // indices in files, by MODULE's id and by the build-id in hexadecimal
	looked   int               // number of files of any kind
	unread   int               // number of unreadable folders
	firstErr error             // error of the first of them
}

// BinaryFile is a binary, or a PDB.
type BinaryFile struct {
	Path    string
	CPU     string // that chooses the binary in a file with several, or ""
	Name    string // DT_SONAME, by which other files refer to it, or ""
	ID      string // MODULE's, or ""
	BuildID string // in hexadecimal, or ""
	Code    bool   // has code; a separate debug file does not
	DWARF   bool   // has debug information itself
	Object  bool   // is input of a linker, or a kernel module
	PDB     bool

	Supplement   string // the id of the file to which dwz moved a part of the debug information, or ""
	SupplementID string // the id of the file itself, if dwz made it for others, or ""
}

// names returns the names of the modules whose binary the file may be.
func (f *BinaryFile) names() []string {
	name := filepath.Base(f.Path)
	if f.Name == "" || f.Name == name {
		return []string{name}
	}
	return []string{name, f.Name}
}

// find returns the indices of the files of a module. For a module without an
// id, these are the files with its name, unless they have several ids: binaries
// or, without any, debug files.
func (x *binaryIndex) find(s *search) []int {
	if len(s.m.BuildID) > 0 {
		return x.byID[hex.EncodeToString(s.m.BuildID)]
	}
	if id := strings.ToUpper(s.m.DebugID); id != "" {
		return x.byID[id]
	}
	for _, code := range []bool{true, false} {
		switch last, builds := x.builds(s, code); {
		case len(builds) == 0:
		case len(builds) > 1:
			s.several("binaries", builds)
			return nil
		case x.files[last].ID == "":
			return []int{last}
		default:
			return x.byID[x.files[last].ID]
		}
	}
	return nil
}

// builds lists a file of each build of a module without an id, with or without code, and returns the index of the last.
// Each file without an id counts as a build.
func (x *binaryIndex) builds(s *search, code bool) (last int, builds []string) {
	for i := range x.files {
		f := &x.files[i]
		if f.Code != code || !unknown(&s.m) && !called(&s.m, f.names()...) || f.ID != "" && slices.ContainsFunc(builds, func(b string) bool { return strings.HasPrefix(b, f.ID+" ") }) {
			continue
		}
		last = i
		if builds = append(builds, cmp.Or(f.ID, "no id")+" ("+f.Path+")"); len(builds) == listedIDs {
			break
		}
	}
	return last, builds
}

// others records the files with the module's name and another id.
func (x *binaryIndex) others(s *search) {
	n := 0
	for i := range x.files {
		f := &x.files[i]
		if !called(&s.m, filepath.Base(f.Path)) || s.noted(f.Path) {
			continue
		}
		if n++; n > listedIDs {
			continue
		}
		switch want := s.m.BuildID; {
		case len(want) > 0 && f.BuildID != "":
			s.note(symfmt.OtherID, f.Path, "build-id %s, want %x", f.BuildID, want)
		case s.m.DebugID != "":
			s.note(symfmt.OtherID, f.Path, "id %s, want %s", cmp.Or(f.ID, "none"), s.m.DebugID)
		}
	}
	if n > listedIDs {
		s.miss("binaries", "%d more files of that name have other ids", n-listedIDs)
	}
}

// list appends the files below root.
func (x *binaryIndex) list(ctx context.Context, root string, paths []string) []string {
	if st, err := os.Lstat(root); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		if st, err = os.Stat(root); err == nil && st.IsDir() {
			root += string(filepath.Separator) // otherwise WalkDir does not follow it
		}
	}
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil || x.looked >= maxFiles:
			return fs.SkipAll
		case err != nil:
			if x.unread++; x.firstErr == nil {
				x.firstErr = err
			}
		case d.IsDir() && slices.Contains(noFolders, path):
			return fs.SkipDir
		case !d.IsDir():
			x.looked++
			if d.Type()&^fs.ModeSymlink == 0 {
				paths = append(paths, path)
			}
		}
		return nil
	})
	return paths
}

// ListBinaries returns the binaries and PDBs below a folder, in order of path. A file with several binaries appears
// once for each. Other files, and folders that cannot be read, are left out.
func ListBinaries(ctx context.Context, dir string) ([]BinaryFile, error) {
	return readAll(ctx, new(binaryIndex).list(ctx, dir, nil))
}

// readAll returns the binaries and PDBs among files, in order.
func readAll(ctx context.Context, paths []string) ([]BinaryFile, error) {
	batches := slices.Collect(slices.Chunk(paths, batchFiles))
	found, err := par.Map(ctx, batchReaders, len(batches), func(_ context.Context, _, i int) ([]BinaryFile, error) {
		var files []BinaryFile
		for _, path := range batches[i] {
			files = append(files, ReadFile(path)...)
		}
		return files, nil
	})
	return slices.Concat(found...), err
}

// read adds the binaries, and the PDBs that have an id, in order.
func (x *binaryIndex) read(ctx context.Context, paths []string) error {
	found, err := readAll(ctx, paths)
	if err != nil {
		return err
	}
	for _, f := range found {
		switch {
		case !f.PDB:
			x.files = append(x.files, f)
		case f.ID != "" && x.pdbs[f.ID] == "":
			x.pdbs[f.ID] = f.Path
		}
	}
	for i, f := range x.files {
		if f.ID != "" {
			x.byID[f.ID] = append(x.byID[f.ID], i)
		}
		if f.BuildID != "" {
			x.byID[f.BuildID] = append(x.byID[f.BuildID], i)
		}
	}
	return nil
}

// ReadFile is like ReadBinaries, for the file at path; it returns nil for one that is not regular or cannot be read.
func ReadFile(path string) []BinaryFile {
	size, err := regularSize(path)
	if err != nil {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	return ReadBinaries(f, size, path)
}

// IsBinary reports whether ReadBinaries can read a file that begins with head, which has at least
// headSize bytes.
func IsBinary(head []byte) bool { return pdb.Match(head) || objfile.Begins(head) }

// headSize is how many bytes of a file IsBinary needs.
const headSize = max(objfile.HeadSize, pdb.HeadSize)

// ReadBinaries reads the ids of the binary in the first size bytes of r, or of each binary in a file with several. It
// returns nil, at little cost, if r is neither a binary nor a PDB. Damage is ignored.
func ReadBinaries(r io.ReaderAt, size int64, path string) (files []BinaryFile) {
	var head [headSize]byte
	n, _ := r.ReadAt(head[:], 0)
	switch {
	case !IsBinary(head[:n]):
		return nil
	case pdb.Match(head[:n]):
		if id, err := pdb.ID(r, size, path); err == nil {
			files = append(files, BinaryFile{Path: path, ID: id, PDB: true})
		}
		return files
	}
	cpus := objfile.CPUsIn(r, size)
	if cpus == nil {
		cpus = []string{""}
	}
	for _, cpu := range cpus {
		if f := readBinary(r, size, path, cpu); f != nil {
			files = append(files, *f)
		}
	}
	return files
}

// readBinary reads the ids of a binary; cpu chooses one of several.
func readBinary(r io.ReaderAt, size int64, path, cpu string) *BinaryFile {
	lim := object.DefaultLimits()
	lim.CPU = cpu
	f, err := objfile.New(r, size, path, lim)
	if err != nil {
		return nil
	}
	defer f.Close()
	if f.Kind == object.Core {
		return nil
	}
	soname, _ := f.Name() // damage is reported when the file is read
	b := &BinaryFile{
		Path: path, CPU: cpu, Name: soname, ID: f.ID(), BuildID: hex.EncodeToString(f.BuildID()),
		Code: f.HasCode(), DWARF: f.HasDWARF(), Object: f.Kind == object.Relocatable,
	}
	if link, _ := f.Supplement(); link != nil {
		b.Supplement = hex.EncodeToString(link.ID)
	}
	if !b.Code {
		b.SupplementID = hex.EncodeToString(f.SupplementID())
	}
	return b
}
