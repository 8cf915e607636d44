package store

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/internal/bin"
)

// ProgramID returns the id under which Microsoft's symbol servers have the PE file or PDB in the first size bytes of
// r: for a PDB, the id of its debug information, as in MODULE; for a PE file, its time and the size of its image, as
// in INFO CODE_ID. Damage is a *bin.Error, with path as its file.
type ProgramID func(r io.ReaderAt, size int64, path string) (string, error)

// AddProgram adds a PE file or a PDB unchanged at NAME/ID/NAME, where Microsoft's symbol servers have it. id
// is the result of a ProgramID.
func (s *Store) AddProgram(in io.Reader, name, id string) (*Addition, error) {
	place, err := NewPlace(name, id)
	if err != nil {
		return nil, err
	}
	p, err := s.Begin()
	if err != nil {
		return nil, &WriteError{err}
	}
	defer p.Abort()
	p.Renew = true
	_, err = io.Copy(p, in)
	if p.err != nil {
		return nil, &WriteError{p.err}
	}
	if err != nil {
		return nil, err
	}
	return p.publish(&Addition{Place: place, Path: place.Program()})
}

// Program returns the path of the PE file or PDB of that name and id below the root.
func (p Place) Program() string { return filepath.Join(p.Name, p.ID, p.Name) }

// programMagics are the first bytes of PE files and of PDBs.
var programMagics = []string{"MZ", "Microsoft C/C++ MSF 7.00"}

// IsProgram reports whether a file begins as a PE file or a PDB. One that cannot be read does not.
func IsProgram(r io.ReaderAt) bool {
	var head [32]byte
	n, _ := r.ReadAt(head[:], 0)
	for _, magic := range programMagics {
		if bytes.HasPrefix(head[:n], []byte(magic)) {
			return true
		}
	}
	return false
}

// isProgram reports whether a file of the store begins as a PE file or a PDB.
func (s *Store) isProgram(e Entry) bool {
	if !e.mode.IsRegular() {
		return false
	}
	f, err := s.root.Open(e.Path)
	if err != nil {
		return false
	}
	defer f.Close()
	return IsProgram(f)
}

// verifyProgram checks that a PE file or a PDB is in its place, if Options say how.
func (s *Store) verifyProgram(r *Report, e Entry) error {
	r.Files++
	r.Bytes += e.Bytes
	if s.opts.ProgramID == nil {
		return nil
	}
	f, err := s.root.Open(e.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	id, err := s.opts.ProgramID(f, e.Bytes, e.Path)
	var damage *bin.Error
	if errors.As(err, &damage) {
		r.add(e.Path, "damaged", "%s", bin.Bare(err, e.Path))
		return nil
	}
	folder := filepath.Dir(e.Path)
	if err == nil && !strings.EqualFold(id, filepath.Base(folder)) {
		r.add(e.Path, "misplaced", "the id is that of %s", filepath.Join(filepath.Dir(folder), id, filepath.Base(e.Path)))
	}
	return err
}
