package supplier

import (
	"context"
	"errors"
	"io/fs"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/symfmt"
)

// finder returns a Finder that looks for the files that belong to a binary in the usual places, anywhere in the
// folders, and on servers.
func (b *Binaries) finder(s *search) *debugset.Finder {
	return &debugset.Finder{Dirs: b.debugDirs, Hermetic: b.hermetic, Limits: object.DefaultLimits(), Fetcher: b.fetcher,
		ByID: func(ctx context.Context, id string) (paths []string, err error) {
			x, err := b.indexed(ctx, s)
			if err != nil {
				return nil, err
			}
			for _, i := range x.byID[id] {
				paths = append(paths, x.files[i].Path)
			}
			return paths, nil
		},
		Database: func(ctx context.Context, _ *debugset.Set, _, id string) (string, error) {
			x, err := b.indexed(ctx, s)
			if err != nil {
				return "", err
			}
			return x.pdbs[id], nil
		},
	}
}

// noteFiles records where a file that belongs to a binary was not found, and which could not be used.
func (s *search) noteFiles(set *debugset.Set) {
	s.tried = append(s.tried, set.Tried...)
	for _, p := range set.Problems {
		var damaged *bin.Error
		if errors.As(p.Err, &damaged) && s.noted(damaged.File) {
			s.errs = append(s.errs, p.Err)
		} else {
			s.refuse(p.Err)
		}
	}
}

// fetch fetches a file by its build-id and opens it. It returns nil if no server has it, or there
// are no servers.
func (b *Binaries) fetch(ctx context.Context, s *search, kind string, buildID []byte) *object.File {
	if b.fetcher == nil || len(buildID) == 0 {
		return nil
	}
	path, tried, err := b.fetcher.Fetch(ctx, kind, buildID)
	if ctx.Err() != nil {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		for _, line := range tried {
			s.tried = append(s.tried, symfmt.Tried{Why: line})
		}
		return nil
	}
	var f *object.File
	if err == nil {
		f, err = objfile.Open(path, object.DefaultLimits())
	}
	if err != nil {
		s.refuse(err)
		return nil
	}
	return f
}

// FetchSource returns the path of a copy of a source file. path is the absolute path by which the debug information of
// the binary with the build-id names the file. The error is fs.ErrNotExist if no server has it, or there are no
// servers.
func (b *Binaries) FetchSource(ctx context.Context, buildID []byte, path string) (string, error) {
	if b.fetcher == nil || len(buildID) == 0 {
		return "", fs.ErrNotExist
	}
	copied, _, err := b.fetcher.Fetch(ctx, fetchSource+path, buildID)
	return copied, err
}

// debugAlone opens the debug file of a module whose binary is neither at its path nor on a server: it has functions
// and lines. It returns nil if there is none.
func (b *Binaries) debugAlone(ctx context.Context, s *search) *object.File {
	if !b.atPaths {
		return nil
	}
	for _, path := range debugset.BuildIDPaths(b.more, s.m.BuildID) {
		if err := regular(path); err != nil {
			s.miss(path, "%v", bin.WithoutPath(err))
		} else if f := s.openBinary(path); f != nil {
			return f
		}
	}
	if len(s.errs) > 0 {
		return nil // the server failed
	}
	return b.fetch(ctx, s, fetchDebug, s.m.BuildID)
}
