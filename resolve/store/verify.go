package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/symtool/symtool/symfmt"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/par"
)

// Finding is a problem with a file or a folder of a store.
type Finding struct {
	Path    string // below the store
	Kind    string // one of Kinds
	Message string
}

// Kinds are the kinds of findings.
var Kinds = []string{"damaged", "truncated", "misplaced", "differs", "leftover", "permissions", "future", "other", "empty"}

// Report is the result of Verify.
type Report struct {
	Files    int       // symbol files, files of variables, PE files and PDBs that were read
	Bytes    int64     // their size in the store
	NoDigest int       // symbol files and files of variables without a digest: a flipped bit in one may go unnoticed
	Findings []Finding // in the order of paths
	Writing  []Entry   // temporary files of active writers, which are not findings
	Problems []symfmt.Problem
}

// Verify reads all symbol files and files of variables in the store, and the ids of PE files and PDBs, with jobs
// workers. Each file must be complete and belong where it is. What cannot be read is reported as a Problem.
func (s *Store) Verify(ctx context.Context, jobs int, now time.Time) (*Report, error) {
	l, err := s.List(now)
	if err != nil {
		return nil, err
	}
	r := &Report{Writing: l.Writing, Problems: l.Problems}
	if err := s.verifyNames(r, l); err != nil {
		return nil, err
	}
	for _, v := range l.Versions {
		for _, e := range v.future(now) {
			r.add(e.Path, "future", "is dated %s, which is in the future: gc counts it as the newest until then", e.Time.UTC().Format(time.RFC3339))
		}
	}
	err = par.OrderedLight(ctx, jobs, len(l.Versions),
		func(ctx context.Context, _, i int) (*Report, error) { return s.verifyVersion(ctx, l.Versions[i]) },
		func(_ int, one *Report) error {
			r.Files += one.Files
			r.Bytes += one.Bytes
			r.NoDigest += one.NoDigest
			r.Findings = append(r.Findings, one.Findings...)
			r.Problems = append(r.Problems, one.Problems...)
			return nil
		})
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Compare(a.Path, b.Path) })
	return r, err
}

func (r *Report) add(path, kind, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{path, kind, fmt.Sprintf(format, args...)})
}

// verifyNames reports what names and permissions reveal.
func (s *Store) verifyNames(r *Report, l *Listing) error {
	for _, e := range l.Leftovers {
		r.add(e.Path, "leftover", "from an interrupted write")
	}
	for _, path := range l.Empty {
		if s.isEmpty(path) {
			r.add(path, "empty", "an empty folder")
		}
	}
	for _, e := range l.Others {
		switch {
		case e.mode&fs.ModeSymlink != 0:
			r.add(e.Path, "other", "is a symbolic link")
		case !e.mode.IsRegular():
			r.add(e.Path, "other", "is not a regular file")
		case layoutOf(e.Path) != "":
			r.add(e.Path, "other", "is of layout %s, which is not verified: want NAME/ID/NAME.sym, .sym.gz or .sym.zst", layoutOf(e.Path))
		default:
			r.add(e.Path, "other", "want NAME/ID/NAME.sym, .sym.gz or .sym.zst")
		}
	}
	root, err := s.root.Stat(".")
	if err != nil {
		return err
	}
	for _, e := range l.folders {
		verifyMode(r, e, root.Mode(), 0o5)
	}
	for _, v := range l.Versions {
		for _, e := range slices.Concat(v.Files, v.Programs) {
			verifyMode(r, e, root.Mode(), 0o4)
		}
		if len(v.Files) == 0 {
			for _, e := range v.Indexes {
				r.add(e.Path, "leftover", "the index of a symbol file that does not exist")
			}
		}
	}
	return nil
}

// isEmpty reports whether a folder still contains nothing but folders. Writers create folders and
// publish files with the store locked, if it can be locked.
func (s *Store) isEmpty(dir string) bool {
	if unlock, err := s.lock(false); err == nil {
		defer unlock()
	}
	empty := true
	_ = fs.WalkDir(s.root.FS(), filepath.ToSlash(dir), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			empty = false // or removed, or unreadable, which List has reported
			return fs.SkipAll
		}
		return nil
	})
	return empty
}

// verifyMode compares permissions with those of the store's folder: every user who may read that
// folder should be able to read what is in it, and nobody else to change it.
func verifyMode(r *Report, e Entry, root fs.FileMode, need fs.FileMode) {
	classes := [...]string{"others", "the group", "the owner"}
	for i, who := range classes {
		shift := 3 * i
		if root>>shift&0o5 == 0o5 && e.mode>>shift&need != need {
			r.add(e.Path, "permissions", "%s may read the store, but not this: mode %04o", who, e.mode.Perm())
			break
		}
	}
	if e.mode&0o2 != 0 && root&0o2 == 0 {
		r.add(e.Path, "permissions", "anyone may write to it: mode %04o", e.mode.Perm())
	}
}

// verifyVersion reads the files of one version.
func (s *Store) verifyVersion(ctx context.Context, v *Version) (*Report, error) {
	r := &Report{}
	good := map[string][]string{} // by extension
	for _, e := range v.Files {
		n := len(r.Findings)
		err := s.verifyFile(ctx, r, e)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile
			continue
		case err != nil:
			r.Problems = append(r.Problems, symfmt.Problem{Err: s.named(e.Path, err)})
			continue
		}
		r.Files++
		r.Bytes += e.Bytes
		if _, ext, _ := StemOf(e.Path); len(r.Findings) == n {
			good[ext] = append(good[ext], e.Path)
		}
	}
	for _, e := range v.Programs {
		if err := s.verifyProgram(r, e); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.Problems = append(r.Problems, symfmt.Problem{Err: s.named(e.Path, err)})
		}
	}
	for _, ext := range []string{symbolExt, variablesExt} {
		for i, path := range good[ext] {
			if same, err := s.sameText(good[ext][0], path); i > 0 && err == nil && !same {
				r.add(path, "differs", "from %s beside it, and readers use either", filepath.Base(good[ext][0]))
			}
		}
	}
	return r, nil
}

// verifyFile reads a symbol file.
func (s *Store) verifyFile(ctx context.Context, r *Report, e Entry) error {
	f, err := s.root.Open(e.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	c, err := check(bin.ContextReader(ctx, f), io.Discard)
	if err != nil {
		return err
	}
	if !c.digest {
		r.NoDigest++
	}
	for _, fault := range c.faults() {
		r.add(e.Path, fault.kind, "%s", fault.message)
	}
	if c.name == "" {
		return nil
	}
	place, err := NewPlace(c.name, c.id)
	if err != nil {
		r.add(e.Path, "misplaced", "MODULE %v", err)
		return nil
	}
	stem, ext, _ := StemOf(e.Path)
	if c.ext() != ext {
		r.add(e.Path, "misplaced", "the records are those of a file %s, not %s", c.ext(), ext)
	}
	if want := place.Path(""); want != stem {
		r.add(e.Path, "misplaced", "MODULE is that of %s", place.Path(e.Path[len(stem):]))
	}
	return nil
}
