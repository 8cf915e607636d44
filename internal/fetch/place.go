package fetch

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Place is where a file is, or will be, in a cache. The cache is its user's
// alone: others may neither read nor write the folders below it.
type Place struct {
	Cache string // folder; it is made when something is written
	Path  string // of the file, below Cache

	// Check returns an error if the file at path is not the wanted one.
	Check func(path string) error

	// Miss is an empty file whose time is that of the last query that found nothing.
	// It may be Path. Queries within MissAge of it are not sent.
	Miss    string
	MissAge time.Duration
}

// Known reports whether the cache has the file. One that is damaged is as none: it
// will be replaced.
func (p *Place) Known() bool {
	st, err := os.Stat(p.Path)
	return err == nil && st.Mode().IsRegular() && st.Size() > 0 && p.Check(p.Path) == nil
}

// Missed reports whether the file was missing at the last query, and how long ago that
// was, unless it is longer ago than MissAge.
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

// temporary is the pattern of the names of files that are not complete.
const temporary = "new.*"

// abandoned is the age at which a temporary file is taken for a leftover.
const abandoned = 24 * time.Hour

// removeOld removes the leftovers of killed processes.
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

// Fill writes the file beside its place, and renames it when it is complete and the
// right one. Of concurrent calls the last one wins; a reader that has opened another
// one's file continues with that.
func (p *Place) Fill(write func(io.Writer) error) error {
	if err := p.makeFolder(); err != nil {
		return err
	}
	p.removeOld(time.Now())
	tmp, err := os.CreateTemp(filepath.Dir(p.Path), temporary)
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails when it has its name
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

// RememberMiss records that the file was not found. If that fails the next query
// asks again, so the error is ignored.
func (p *Place) RememberMiss(now time.Time) {
	if p.MissAge == 0 || p.makeFolder() != nil {
		return
	}
	if f, err := os.OpenFile(p.Miss, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err == nil {
		f.Close()
	}
	// It may have been there: an old miss, or what another process fetched meanwhile.
	if st, err := os.Stat(p.Miss); err == nil && st.Size() == 0 {
		_ = os.Chtimes(p.Miss, now, now)
	}
}
