package supplier

import (
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
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt/pdb"
)

// binaryIndex lists the binaries and the PDBs below the folders.
type binaryIndex struct {
	files    []binaryFile
	pdbs     map[string]string // paths, by MODULE's id
	byID     map[string][]int  // indices in files, by MODULE's id and by the build-id in hexadecimal
	looked   int               // number of files of any kind
	unread   int               // number of unreadable folders
	firstErr error             // error of the first of them
}

// binaryFile is a binary, or a PDB.
type binaryFile struct {
	path    string
	soname  string // DT_SONAME, by which other files refer to it, or ""
	id      string // MODULE's
	buildID string // in hexadecimal
	code    bool   // has code; a separate debug file does not
	pdb     bool
}

// names returns the names of the modules that the file may be the binary of.
func (f *binaryFile) names() []string {
	name := filepath.Base(f.path)
	if f.soname == "" || f.soname == name {
		return []string{name}
	}
	return []string{name, f.soname}
}

// find returns the indices of the files of a module. For a module without an
// id, these are the files with its name, unless they have several ids.
func (x *binaryIndex) find(s *search) []int {
	if len(s.m.BuildID) > 0 {
		return x.byID[hex.EncodeToString(s.m.BuildID)]
	}
	id := strings.ToUpper(s.m.DebugID)
	if id == "" {
		var builds []string // a file of each build
		for i := range x.files {
			f := &x.files[i]
			if !f.code || !unknown(&s.m) && !called(&s.m, f.names()...) || slices.ContainsFunc(builds, func(b string) bool { return strings.HasPrefix(b, f.id+" ") }) {
				continue
			}
			id = f.id
			if builds = append(builds, f.id+" ("+f.path+")"); len(builds) == listedIDs {
				break
			}
		}
		if len(builds) > 1 {
			s.several("binaries", builds)
			return nil
		}
	}
	return x.byID[id]
}

// others records the files with the module's name and another id.
func (x *binaryIndex) others(s *search) {
	n := 0
	for i := range x.files {
		f := &x.files[i]
		if !called(&s.m, filepath.Base(f.path)) || s.noted(f.path) {
			continue
		}
		if n++; n > listedIDs {
			continue
		}
		switch want := s.m.BuildID; {
		case len(want) > 0 && f.buildID != "":
			s.note(resolve.OtherID, f.path, "build-id %s, want %x", f.buildID, want)
		case s.m.DebugID != "":
			s.note(resolve.OtherID, f.path, "id %s, want %s", f.id, s.m.DebugID)
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

// read adds the binaries and PDBs among them, in order.
func (x *binaryIndex) read(ctx context.Context, paths []string) error {
	batches := slices.Collect(slices.Chunk(paths, batchFiles))
	found, err := par.Map(ctx, batchReaders, len(batches), func(_ context.Context, _, i int) ([]binaryFile, error) {
		var files []binaryFile
		for _, path := range batches[i] {
			files = append(files, readBinaries(path)...)
		}
		return files, nil
	})
	if err != nil {
		return err
	}
	for _, f := range slices.Concat(found...) {
		if !f.pdb {
			x.files = append(x.files, f)
		} else if x.pdbs[f.id] == "" {
			x.pdbs[f.id] = f.path
		}
	}
	for i, f := range x.files {
		x.byID[f.id] = append(x.byID[f.id], i)
		if f.buildID != "" {
			x.byID[f.buildID] = append(x.byID[f.buildID], i)
		}
	}
	return nil
}

// readBinaries reads the ids of a file's binary, or of each in a file with several; nil if it is not a binary or a
// PDB, or has no id. Other damage is ignored.
func readBinaries(path string) (files []binaryFile) {
	switch head := beginningOf(path); {
	case pdb.Match(head):
		if f := pdbFile(path); f != nil {
			files = append(files, *f)
		}
		return files
	case !objfile.Begins(head):
		return nil
	}
	cpus := objfile.CPUs(path)
	if cpus == nil {
		cpus = []string{""}
	}
	for _, cpu := range cpus {
		if f := readBinary(path, cpu); f != nil {
			files = append(files, *f)
		}
	}
	return files
}

// readBinary reads the ids of a binary; cpu chooses one of several.
func readBinary(path, cpu string) *binaryFile {
	lim := object.DefaultLimits()
	lim.CPU = cpu
	f, err := objfile.Open(path, lim)
	if err != nil {
		return nil
	}
	defer f.Close()
	id := f.ID()
	if id == "" || f.Kind == object.Core {
		return nil
	}
	soname, _ := f.Name() // damage is reported when the file is read
	return &binaryFile{path: path, soname: soname, id: id, buildID: hex.EncodeToString(f.BuildID()), code: hasCode(f)}
}

// pdbFile reads a PDB's id.
func pdbFile(path string) *binaryFile {
	id, err := pdb.FileID(path)
	if err != nil {
		return nil
	}
	return &binaryFile{path: path, id: id, pdb: true}
}

// beginningOf returns the beginning of a regular file, by which most are rejected cheaply.
func beginningOf(path string) []byte {
	if regular(path) != nil {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var head [max(objfile.HeadSize, pdb.HeadSize)]byte
	n, _ := io.ReadFull(f, head[:])
	return head[:n]
}

// hasCode reports whether f is a binary. In a separate debug file, code sections have no
// contents.
func hasCode(f *object.File) bool {
	for _, s := range f.Sections {
		if s.Exec && s.HasData() {
			return true
		}
	}
	return len(f.Sections) == 0 && len(f.ExecRanges()) > 0
}
