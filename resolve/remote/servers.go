package remote

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/fetch"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
)

// Servers configures symbol servers: where files are cached, and what requests may cost.
type Servers struct {
	// URLs are asked in this order, for NAME/ID/STEM.sym and STEM.sym.gz. If none has them, they are asked for a
	// Windows module's PDB and program, NAME/ID/NAME, as Microsoft's symbol servers have them, also in a cabinet.
	URLs []string

	// Cache is a folder in the same layout, with uncompressed files. In each of its folders,
	// the file missing-HASH records the time at which the server whose URL has that hash did not
	// have the file.
	Cache string

	Timeout time.Duration // time in which a server must send 100 KiB or the rest; 0 means a minute
	MaxTime time.Duration // for one file; 0 means half an hour
	MaxSize int64         // of one file, as sent and decompressed; 0 means 4 GiB
	Connect time.Duration // for connecting and for the TLS handshake; 0 means 10 seconds

	// Variables means that servers are asked for the variables of symbol files as well: for STEM.vars and
	// STEM.vars.gz, which are kept beside STEM.sym.
	Variables bool

	Open      supplier.Opener // opens the files in the cache
	UserAgent string
	// Log, if non-nil, is called before each request. It may be called concurrently.
	Log func(url string)
}

// The default limits. The symbol files of browsers have 1 or 2 GB; a server must not fill the disk.
const (
	defaultTimeout = time.Minute
	defaultMaxTime = 30 * time.Minute
	defaultMaxSize = symfmt.MaxText
)

// missAge is how long a missing file is remembered: symbols of new programs are often uploaded
// only after the first crash.
const missAge = 10 * time.Minute

// NewServers returns a Supplier that asks symbol servers. The error names the first malformed URL.
func NewServers(cfg Servers) (resolve.Supplier, error) {
	s, err := newSupplier(cfg)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func newSupplier(cfg Servers) (*serverSupplier, error) {
	if cfg.Cache == "" {
		return nil, errors.New("no cache folder for files from symbol servers")
	}
	servers, err := fetch.NewServers(cfg.URLs)
	if err != nil {
		return nil, err
	}
	limits := fetch.Limits{
		Timeout: cmp.Or(cfg.Timeout, defaultTimeout),
		MaxTime: cmp.Or(cfg.MaxTime, defaultMaxTime),
		MaxSize: cmp.Or(cfg.MaxSize, defaultMaxSize),
		Connect: cfg.Connect,
	}
	return &serverSupplier{cfg.Cache, cfg.Open, servers, fetch.New(limits, cfg.UserAgent, cfg.Log), limits.MaxSize, cfg.Variables, time.Now}, nil
}

type serverSupplier struct {
	cache   string
	open    supplier.Opener
	servers []*fetch.Server
	client  *fetch.Client
	maxText int64
	vars    bool
	now     func() time.Time
}

// search is one search for a module's symbols.
type search struct {
	m     resolve.Module
	tried []symfmt.Tried
	errs  []error
}

func (s *search) miss(place, format string, args ...any) {
	s.tried = append(s.tried, symfmt.Tried{Place: place, Why: fmt.Sprintf(format, args...)})
}

// refuse records symbols that cannot be used. err names their place.
func (s *search) refuse(err error) {
	s.tried = append(s.tried, supplier.Refused(err))
	s.errs = append(s.errs, err)
}

func (s *search) done(r resolve.Symbols) (resolve.Symbols, []symfmt.Tried, error) {
	return r, s.tried, errors.Join(s.errs...)
}

// Symbols implements resolve.Supplier.
func (c *serverSupplier) Symbols(ctx context.Context, m resolve.Module) (resolve.Symbols, []symfmt.Tried, error) {
	s := search{m: m}
	places, err := supplier.Places(&m)
	if err != nil {
		s.refuse(err)
	}
	if m.DebugID == "" {
		s.miss("symbol servers", "not asked: the module has no id")
		return s.done(nil)
	}
	if len(m.Names()) == 0 {
		s.miss("symbol servers", "not asked: the module has no name")
	}
	for _, p := range places {
		if c.text(p, symbolExt, m).in(c, nil).Known() {
			return s.done(c.openFor(ctx, &s, p))
		}
	}
	for _, server := range c.servers {
		for _, p := range places {
			if c.fetch(ctx, &s, server, c.text(p, symbolExt, m)) {
				return s.done(c.openFor(ctx, &s, p))
			}
			if ctx.Err() != nil {
				return nil, s.tried, context.Cause(ctx)
			}
		}
	}
	r, err := c.programs(ctx, &s)
	if err != nil {
		return nil, s.tried, err
	}
	return s.done(r)
}

// openFor opens a file of the cache that was found to be the module's.
func (c *serverSupplier) openFor(ctx context.Context, s *search, p store.Place) resolve.Symbols {
	if c.vars {
		c.variables(ctx, s, p)
	}
	r, err := supplier.OpenFor(ctx, c.path(p, symbolExt), s.m, c.open)
	if err != nil {
		s.refuse(err)
		return nil
	}
	return r
}

// variables puts the variables of a symbol file beside it, if a server has them. Few have.
func (c *serverSupplier) variables(ctx context.Context, s *search, p store.Place) {
	want := c.text(p, variablesExt, s.m)
	if want.in(c, nil).Known() {
		return
	}
	own := search{m: s.m} // a missing .vars file is not a reason for missing symbols
	for _, server := range c.servers {
		if c.fetch(ctx, &own, server, want) || ctx.Err() != nil {
			break
		}
	}
	s.errs = append(s.errs, own.errs...)
}

// The extensions of the files in the cache.
const (
	symbolExt    = ".sym"
	variablesExt = ".vars"
)

func (c *serverSupplier) path(p store.Place, ext string) string {
	return filepath.Join(c.cache, p.Path(ext))
}

// wanted is a file that servers may have.
type wanted struct {
	place store.Place
	name  string // of the file in the cache, which has the folders of place, too
	what  string // distinguishes it from the module's symbol file, or ""
	forms []form // each costs a round trip
	check func(path string) error
}

// form is a form in which servers have a file.
type form struct {
	name string // of the file
	copy func(w io.Writer, body io.Reader) error
}

// text returns a symbol file, or one of variables, in the forms that servers have.
func (c *serverSupplier) text(p store.Place, ext string, m resolve.Module) *wanted {
	copy := func(w io.Writer, body io.Reader) error { return c.unpack(w, body, m) }
	name := p.Stem + ext
	want := &wanted{place: p, name: name, forms: []form{{name, copy}, {name + ".gz", copy}}}
	want.check = func(path string) error {
		name, id, err := supplier.FileModule(path)
		if err == nil {
			err = checkCame(name, id, m)
		}
		return err
	}
	if ext != symbolExt {
		want.what = " " + ext
	}
	return want
}

// in returns the place in the cache of the file from a server, or from any server if from is nil.
func (want *wanted) in(c *serverSupplier, from *fetch.Server) *fetch.Place {
	path := filepath.Join(c.cache, want.place.Name, want.place.ID, want.name)
	place := &fetch.Place{Cache: c.cache, Path: path, MissAge: missAge, Check: want.check}
	if from != nil {
		hash := sha256.Sum256([]byte(from.String() + want.what))
		place.Miss = filepath.Join(filepath.Dir(path), fmt.Sprintf("missing-%x", hash[:8]))
	}
	return place
}

func checkCame(name, id string, m resolve.Module) error {
	if m.Is(id) {
		return nil
	}
	return &resolve.OtherIDError{What: "the file", Name: name, ID: id, Want: m}
}

// fetch gets a file from a server into the cache, and reports whether it succeeded.
func (c *serverSupplier) fetch(ctx context.Context, s *search, from *fetch.Server, want *wanted) bool {
	place, p := want.in(c, from), want.place
	if age, missed := place.Missed(c.now()); missed {
		s.miss(from.URL(p.Name, p.ID, want.name).Redacted(), "the server did not have it %v ago", age)
		return false
	}
	for _, f := range want.forms {
		u := from.URL(p.Name, p.ID, f.name)
		err := c.client.Get(ctx, from, u, nil, func(_ http.Header, body io.Reader) error {
			return place.Fill(func(w io.Writer) error { return f.copy(w, body) })
		})
		switch {
		case err == nil:
			return true
		case errors.Is(err, fetch.ErrMissing):
			s.miss(u.Redacted(), "%v", err)
		case errors.Is(err, fetch.ErrForbidden):
			// Cloud storage may answer this for missing files, too.
			s.miss(u.Redacted(), "%v", err)
			return false
		default:
			s.refuse(fmt.Errorf("%s: %w", u.Redacted(), err))
			return false
		}
	}
	place.RememberMiss(c.now())
	return false
}

// unpack copies the text of the received symbol file, if it is the module's.
func (c *serverSupplier) unpack(w io.Writer, body io.Reader, m resolve.Module) error {
	text, compression, err := symfmt.NewText(body)
	if err != nil {
		return err
	}
	if compression != "" {
		text = bin.LimitReader(text, c.maxText)
	}
	head, name, id, err := supplier.ReadModule(text)
	if err != nil {
		return err
	}
	if err := checkCame(name, id, m); err != nil {
		return err
	}
	_, err = io.Copy(w, io.MultiReader(bytes.NewReader(head), text))
	return err
}
