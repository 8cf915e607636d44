package store

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// AddOptions control how a symbol file is added.
type AddOptions struct {
	Compression *Compression // nil for no compression
	Damaged     bool         // accept files with unreadable records
}

// Addition is the outcome of adding a symbol file.
type Addition struct {
	Outcome Outcome
	Path    string // relative to the store: of the file that was written or already exists
	Place   Place
	Faults  []string // of a file that was accepted nevertheless
}

// WriteError is a failure to write to the store, as opposed to reading a file.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return e.Err.Error() }
func (e *WriteError) Unwrap() error { return e.Err }

// Add adds a symbol file, which may be compressed, at the place given by MODULE's
// name and id; a file of variables alone gets its place beside it. The file is read to its end while it is written: a truncated file,
// or one with unreadable records, is not added.
func (s *Store) Add(in io.Reader, o AddOptions) (*Addition, error) {
	p, err := s.Begin()
	if err != nil {
		return nil, &WriteError{err}
	}
	defer p.Abort()
	p.Renew = true
	c, err := p.copyText(in, o.Compression)
	if p.err != nil {
		return nil, &WriteError{p.err}
	}
	if err != nil {
		return nil, err
	}
	a := &Addition{}
	if a.Faults, err = c.taken(o.Damaged); err != nil {
		return nil, err
	}
	if a.Place, err = NewPlace(c.name, c.id); err != nil {
		return nil, fmt.Errorf("MODULE %w", err)
	}
	ext := c.ext()
	if o.Compression != nil {
		ext += o.Compression.Ext
	}
	if err := a.Place.checkExt(ext); err != nil {
		return nil, fmt.Errorf("MODULE name %q: %w", clipped(c.name), err)
	}
	a.Path = a.Place.Path(ext)
	outcome, existing, err := p.Publish(a.Path)
	if err != nil {
		return nil, &WriteError{err}
	}
	if a.Outcome = outcome; existing != "" {
		a.Path = existing
	}
	return a, nil
}

// copyText writes the text of a symbol file, and checks it.
func (p *Pending) copyText(in io.Reader, how *Compression) (checked, error) {
	if how == nil {
		return check(in, p)
	}
	z, err := how.Writer(p)
	if err != nil {
		return checked{}, err
	}
	c, err := check(in, z)
	if closeErr := z.Close(); err == nil {
		err = closeErr
	}
	return c, err
}

// taken returns the faults of an acceptable file, or an error.
func (c *checked) taken(damaged bool) (faults []string, err error) {
	for _, f := range c.faults() {
		faults = append(faults, f.message)
	}
	if len(faults) == 0 || damaged && c.damage == nil && c.name != "" {
		return faults, nil
	}
	return nil, errors.New(strings.Join(faults, "; "))
}
