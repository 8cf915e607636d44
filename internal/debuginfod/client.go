// Package debuginfod fetches debug files and executables by their build-ids from
// debuginfod servers, over HTTP, and keeps them where elfutils' client does
// (debuginfod(8), "WEBAPI"; debuginfod-client-config(7)).
//
// What is kept:
//
//	CACHE/HEX/debuginfo, CACHE/HEX/executable   the files
//	the same, empty                             no server had it when it was written
//	CACHE/cache_miss_s                          how many seconds that holds; 600 without it
//
// A file appears there whole, and only after it was found to be an ELF file with
// that build-id. Nothing is removed but what is replaced: elfutils' own client
// does that, by its rules.
//
// # Where we differ
//
// from elfutils: servers are asked one after the other, not at once, and one
// that does not answer is not asked again by this Client. A file must have the
// build-id that was asked for. A redirection from https to http is refused.
// There are no repeated attempts, no file: URLs and no signatures.
package debuginfod

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Kind is what a server has for a build-id.
type Kind string

const (
	Debuginfo  Kind = "debuginfo"  // a separate or supplementary debug file, or an executable with DWARF
	Executable Kind = "executable" // the file that runs
)

// ErrNotFound is in the error of a file that no server has.
var ErrNotFound = errors.New("no server has it")

// missing is what one server says that does not have a file.
type missing string

func (m missing) Error() string        { return string(m) }
func (m missing) Is(target error) bool { return target == ErrNotFound }

// Client asks servers. Its methods may be called from several goroutines.
type Client struct {
	cfg     Config
	servers []*server
	http    *http.Client
	now     func() time.Time
}

// server is one of the URLs.
type server struct {
	url  *url.URL
	mu   sync.Mutex
	dead error // why it is not asked again
}

// New returns a client. An error tells which URL is none.
func New(cfg Config) (*Client, error) {
	c := &Client{cfg: cfg, now: time.Now}
	for _, text := range cfg.URLs {
		u, err := parseURL(text)
		if err != nil {
			return nil, err
		}
		c.servers = append(c.servers, &server{url: u})
	}
	c.http = &http.Client{Transport: transport(), CheckRedirect: checkRedirect}
	return c, nil
}

// connectTimeout is what a connection may take: a server that is away must not
// cost the time that one may need to unpack a package.
const connectTimeout = 10 * time.Second

func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: connectTimeout}).DialContext
	t.TLSHandshakeTimeout = connectTimeout
	t.MaxResponseHeaderBytes = 64 << 10
	return t
}

const maxRedirects = 5

// checkRedirect lets a server send on to another address, but not out of the
// encryption that was asked for.
func checkRedirect(req *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirections", maxRedirects)
	case req.URL.Scheme != from.Scheme && req.URL.Scheme != "https":
		return fmt.Errorf("redirected from %s to %s", from.Scheme, req.URL.Redacted())
	}
	return nil
}

// maxBuildID is the length of the longest build-id, in bytes; those that tools
// make have 8 to 32.
const maxBuildID = 64

// Fetch returns the path of a file, which is in the cache or is fetched. tried
// has a line for each server that was asked in vain: URL and reason. The error
// is ErrNotFound when all of them said that they do not have it.
func (c *Client) Fetch(ctx context.Context, kind Kind, buildID []byte) (path string, tried []string, err error) {
	if len(buildID) == 0 || len(buildID) > maxBuildID {
		return "", nil, fmt.Errorf("debuginfod: a build-id of %d bytes, want 1 to %d", len(buildID), maxBuildID)
	}
	if len(c.servers) == 0 {
		return "", nil, fmt.Errorf("debuginfod: %s of build-id %x: no server is named", kind, buildID)
	}
	e, err := c.entry(kind, buildID)
	if err != nil {
		return "", nil, err
	}
	switch known, err := e.known(c.now()); {
	case err != nil:
		return "", []string{fmt.Sprintf("%s: %v", e.path, err)}, notFound(kind, buildID)
	case known:
		return e.path, nil, nil
	}
	var failed []string
	for _, s := range c.servers {
		where, err := c.from(ctx, s, e)
		if err == nil {
			return e.path, tried, nil
		}
		if ctx.Err() != nil {
			return "", tried, context.Cause(ctx)
		}
		line := fmt.Sprintf("%s: %v", where, err)
		tried = append(tried, line)
		if !errors.Is(err, ErrNotFound) {
			failed = append(failed, line)
		}
	}
	if len(failed) > 0 {
		return "", tried, fmt.Errorf("debuginfod: %s", strings.Join(failed, "; "))
	}
	e.rememberMiss(c.now())
	return "", tried, notFound(kind, buildID)
}

func notFound(kind Kind, id []byte) error {
	return fmt.Errorf("debuginfod: %s of build-id %x: %w", kind, id, ErrNotFound)
}

// ParseBuildID reads a build-id in hexadecimal digits.
func ParseBuildID(text string) ([]byte, error) {
	id, err := hex.DecodeString(text)
	if err != nil || len(id) == 0 || len(id) > maxBuildID {
		return nil, fmt.Errorf("%q is no build-id: want 2 to %d hexadecimal digits, an even number", text, 2*maxBuildID)
	}
	return id, nil
}

// from fetches e from one server; where is the URL.
func (c *Client) from(ctx context.Context, s *server, e *entry) (where string, err error) {
	u := s.url.JoinPath("buildid", e.id, string(e.kind))
	u.RawQuery, u.Fragment = "", ""
	if err := s.state(); err != nil {
		return u.Redacted(), fmt.Errorf("not asked again: %w", err)
	}
	d := &download{client: c, server: s, entry: e, url: u}
	return u.Redacted(), d.run(ctx)
}

func (s *server) state() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead
}

// giveUp keeps the server from being asked again.
func (s *server) giveUp(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead == nil {
		s.dead = why
	}
}
