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
	Replace     bool         // replace an existing file whose text differs
	At          *Place       // if non-nil, refuse files of other modules
	MaxText     int64        // refuse files with more bytes when they are not compressed; 0 for no limit
}

// ErrTooLong means that a file is longer than AddOptions allow.
var ErrTooLong = errors.New("the text is too long")

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

// Add adds a symbol file, which may be compressed, at the place given by MODULE's name and id; a file with only
// variables gets its place beside the symbol file. The file is read to its end while it is written: a truncated file,
// or one with unreadable records, is not added.
func (s *Store) Add(in io.Reader, o AddOptions) (*Addition, error) {
	p, err := s.Begin()
	if err != nil {
		return nil, &WriteError{err}
	}
	defer p.Abort()
	p.Renew, p.Overwrite = true, o.Replace
	c, err := p.copyText(in, o)
	if p.err != nil {
		return nil, &WriteError{p.err}
	}
	if err == nil && errors.Is(c.damage, ErrTooLong) {
		err = ErrTooLong
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
	if at := o.At; at != nil && (at.Name != a.Place.Name || !strings.EqualFold(at.ID, a.Place.ID)) {
		return nil, fmt.Errorf("MODULE is that of %s/%s, want %s/%s", clipped(a.Place.Name), a.Place.ID, at.Name, at.ID)
	}
	ext := c.ext()
	if o.Compression != nil {
		ext += o.Compression.Ext
	}
	if err := a.Place.checkExt(ext); err != nil {
		return nil, fmt.Errorf("MODULE name %q: %w", clipped(c.name), err)
	}
	a.Path = a.Place.Path(ext)
	return p.publish(a)
}

// publish gives the file the path of an addition, and records the outcome in it.
func (p *Pending) publish(a *Addition) (*Addition, error) {
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
func (p *Pending) copyText(in io.Reader, o AddOptions) (checked, error) {
	if o.Compression == nil {
		return check(in, limited(p, o.MaxText))
	}
	z, err := o.Compression.Writer(p)
	if err != nil {
		return checked{}, err
	}
	c, err := check(in, limited(z, o.MaxText))
	if closeErr := z.Close(); err == nil {
		err = closeErr
	}
	return c, err
}

// limitedWriter fails with ErrTooLong when more than left bytes are written.
type limitedWriter struct {
	w    io.Writer
	left int64
}

func limited(w io.Writer, most int64) io.Writer {
	if most == 0 {
		return w
	}
	return &limitedWriter{w, most}
}

func (l *limitedWriter) Write(b []byte) (int, error) {
	if l.left -= int64(len(b)); l.left < 0 {
		return 0, ErrTooLong
	}
	return l.w.Write(b)
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
