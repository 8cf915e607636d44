package supplier

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/resolve"
)

// findDebug opens the separate debug file, or returns nil. It looks in the
// usual places, anywhere in the folders, and on servers.
func (b *Binaries) findDebug(ctx context.Context, s *search, f *object.File) (*object.File, error) {
	if f.HasDWARF() {
		return nil, nil
	}
	before := len(s.tried)
	debug, err := b.lookForDebug(ctx, s, f)
	if debug != nil && debug.HasDWARF() {
		s.settle(before)
	}
	return debug, err
}

func (b *Binaries) lookForDebug(ctx context.Context, s *search, f *object.File) (*object.File, error) {
	debug, tried, damage := objfile.FindDebug(f, b.debugDirs, b.limits)
	s.tryDebug(tried, resolve.OtherDebug)
	if debug != nil && debug.HasDWARF() {
		return debug, nil
	}
	if damage != nil {
		s.errs = append(s.errs, damage)
	}
	x, err := b.indexed(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, i := range x.byID[hex.EncodeToString(f.BuildID())] {
		lim := object.DefaultLimits()
		lim.ID = f.BuildID()
		other, err := objfile.Open(x.files[i].Path, lim)
		if err == nil && !other.HasDWARF() {
			other.Close()
			continue
		}
		if other = s.paired(f, other, err); other != nil {
			return other, nil
		}
	}
	fetched := b.fetch(ctx, s, fetchDebug, f.BuildID())
	if fetched = s.paired(f, fetched, nil); fetched == nil {
		return debug, nil
	}
	return fetched, nil
}

// tryDebug records where debug files were not found. other is the kind of those of another build.
func (s *search) tryDebug(tried []object.Tried, other resolve.TriedKind) {
	for _, t := range tried {
		kind := resolve.Absent
		if t.OtherBuild {
			kind = other
		}
		s.tried = append(s.tried, resolve.Tried{Place: t.Path, Why: t.Why, Kind: kind})
	}
}

// settle makes the debug files of other builds among the places from number on ordinary ones, as the right file was found
// elsewhere.
func (s *search) settle(from int) {
	for i := range s.tried[from:] {
		if t := &s.tried[from+i]; t.Kind == resolve.OtherDebug || t.Kind == resolve.OtherSupplement {
			t.Kind = resolve.Absent
		}
	}
}

// paired returns the debug file of f if it was opened and matches.
func (s *search) paired(f, debug *object.File, err error) *object.File {
	if err == nil && debug != nil {
		if err = object.CheckPair(f, debug); err == nil {
			return debug
		}
		debug.Close()
	}
	if err != nil {
		s.refuse(err)
	}
	return nil
}

// findSupplement opens the supplementary file of the debug information, if it
// has one.
func (b *Binaries) findSupplement(ctx context.Context, s *search, f, debug *object.File) *object.File {
	if debug != nil && debug.HasDWARF() {
		f = debug
	}
	link, err := f.Supplement()
	if link == nil || err != nil {
		return nil // damage is reported by the reader
	}
	before := len(s.tried)
	sup, tried, err := objfile.FindSupplement(f, link, b.debugDirs, b.limits)
	s.tryDebug(tried, resolve.OtherSupplement)
	if err != nil {
		s.errs = append(s.errs, err)
	}
	if sup == nil {
		sup = b.fetch(ctx, s, fetchDebug, link.ID)
	}
	if sup != nil {
		s.settle(before)
	}
	return sup
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
			s.tried = append(s.tried, resolve.Tried{Why: line})
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

// FetchSource returns the path of a copy of a source file, by the absolute path that the debug information of the binary
// with a build-id names it by. The error is fs.ErrNotExist if no server has it, or there are no servers.
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
	places := object.Search{Dirs: b.more}
	for _, path := range places.BuildIDPaths(s.m.BuildID) {
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
