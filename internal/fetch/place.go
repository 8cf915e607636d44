package fetch

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Place is the location of a file in a cache, whether it exists or not. The
// cache is private: only its user may read or write the folders below it.
type Place struct {
	Cache string // folder; created when something is written
	Path  string // of the file, below Cache

	// Check returns an error if the file at path is not the wanted one.
	Check func(path string) error

	// Miss is an empty file whose modification time is the time of the last query
	// that found nothing. It may equal Path. Queries within MissAge of that
	// time are not sent.
	Miss    string
	MissAge time.Duration
}

// Known reports whether the cache has the file. A damaged file does not
// count, and will be replaced.
func (p *Place) Known() bool {
	st, err := os.Stat(p.Path)
	return err == nil && st.Mode().IsRegular() && st.Size() > 0 && p.Check(p.Path) == nil
}

// Missed reports whether the file was missing at the last query, and how long ago that was. It
// reports false if the query was longer ago than MissAge.
func (p *Place) Missed(now time.Time) (age time.Duration, missed bool) {
	st, err := os.Stat(p.Miss)
	if err != nil || !st.Mode().IsRegular() || st.Size() > 0 {
		return 0, false
	}
	age = now.Sub(st.ModTime()).Truncate(time.Second)
	return age, age >= 0 && age < p.MissAge
}

func (p *Place) makeFolder() error {
	if err := os.MkdirAll(p.Cache, 0o777); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Dir(p.Path), 0o700)
}

// temporary is the pattern for names of incomplete files.
const temporary = "new.*"

// abandoned is the age at which a temporary file counts as a leftover.
const abandoned = 24 * time.Hour

// removeOld removes leftovers of killed processes.
func (p *Place) removeOld(now time.Time) {
	dir := filepath.Dir(p.Path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		left, _ := filepath.Match(temporary, e.Name())
		if st, err := e.Info(); left && err == nil && now.Sub(st.ModTime()) > abandoned {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// Fill writes the file under a temporary name beside its place, checks it, and renames it. If
// calls are concurrent, the last one wins; a reader that has opened another call's file keeps
// that.
func (p *Place) Fill(write func(io.Writer) error) error {
	if err := p.makeFolder(); err != nil {
		return err
	}
	p.removeOld(time.Now())
	tmp, err := os.CreateTemp(filepath.Dir(p.Path), temporary)
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails after the rename
	if err := write(tmp); err != nil {
		tmp.Close()
		return err
	}
	if err := errors.Join(tmp.Chmod(0o400), tmp.Close()); err != nil {
		return err
	}
	if err := p.Check(tmp.Name()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), p.Path)
}

// RememberMiss records that the file was not found. If that fails, the next
// query is sent again, so the error is ignored.
func (p *Place) RememberMiss(now time.Time) {
	if p.MissAge == 0 || p.makeFolder() != nil {
		return
	}
	if f, err := os.OpenFile(p.Miss, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err == nil {
		f.Close()
	}
	// Miss may exist from before, or may be the file, fetched by another process meanwhile.
	if st, err := os.Stat(p.Miss); err == nil && st.Size() == 0 {
		_ = os.Chtimes(p.Miss, now, now)
	}
}
