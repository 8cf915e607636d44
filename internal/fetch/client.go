// Package fetch gets files from HTTP servers that may be slow, broken or
// hostile, into a cache that several processes use at once.
//
// A server is asked once for each file. A server that cannot be reached, or is
// too slow, is not asked again by the same Client. Redirections are followed,
// up to maxRedirects, but not from https to http nor to another scheme. A file
// appears in the cache whole, and only after it was found to be the right one
// (Place.Fill).
package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/symtool/symtool/internal/bin"
)

// Errors for responses without a file.
var (
	ErrMissing   = errors.New("the server does not have it")
	ErrForbidden = errors.New("the server refuses access to it")
)

// refusal is a server's response without a file.
type refusal struct {
	text string
	is   error // ErrMissing, ErrForbidden or nil
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.is }

func newRefusal(resp *http.Response) error {
	r := &refusal{text: resp.Status}
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusGone:
		r.is = ErrMissing
	case http.StatusForbidden:
		r.is = ErrForbidden
	}
	return r
}

// Limits limits what a request may cost.
type Limits struct {
	// Timeout is the time within which a server must send 100 KiB, or the rest of
	// the file if that is less; 0 means no limit.
	Timeout time.Duration
	// MaxTime is the maximum time for one file; 0 means no limit.
	MaxTime time.Duration
	// MaxSize is the maximum size of a file, in bytes; 0 means no limit. With
	// Content-Encoding gzip it applies to the decompressed size.
	MaxSize int64
	// Connect is the maximum time for connecting, and for the TLS handshake; 0
	// means 10 seconds. An unreachable server must not take as long as a server
	// may need to find and pack a file.
	Connect time.Duration
}

// Client requests files from servers. Its methods may be called concurrently.
type Client struct {
	limits    Limits
	userAgent string
	log       func(url string)
	http      *http.Client
}

// New returns a client. log, if non-nil, is called with the URL before each request.
// It may be called concurrently.
func New(l Limits, userAgent string, log func(url string)) *Client {
	return &Client{l, userAgent, log, &http.Client{Transport: NewTransport(cmp.Or(l.Connect, defaultConnect)), CheckRedirect: checkRedirect}}
}

// Within returns a client that shares c's connections and whose Limits.Timeout is at most timeout. The timeout also
// limits how long the client waits for a silent server.
func (c *Client) Within(timeout time.Duration) *Client {
	shorter := *c
	if shorter.limits.Timeout == 0 || timeout < shorter.limits.Timeout {
		shorter.limits.Timeout = timeout
	}
	return &shorter
}

const defaultConnect = 10 * time.Second

// NewTransport returns a transport that limits the time for connecting and for the TLS
// handshake, to timeout each, and the size of headers.
func NewTransport(timeout time.Duration) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: timeout}).DialContext
	t.TLSHandshakeTimeout = timeout
	t.MaxResponseHeaderBytes = 64 << 10
	return t
}

const maxRedirects = 5

// checkRedirect allows redirects, except from https to http.
func checkRedirect(req *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirections", maxRedirects)
	case req.URL.Scheme != from.Scheme && req.URL.Scheme != "https":
		return fmt.Errorf("refused to follow a redirection from %s to %s", from.Scheme, req.URL.Redacted())
	}
	return nil
}

// Server is a server's address.
type Server struct {
	url  *url.URL
	mu   sync.Mutex
	dead error // why the server is not asked again
}

// NewServers parses the addresses of servers.
func NewServers(urls []string) (servers []*Server, err error) {
	for _, text := range urls {
		u, err := parseURL(text)
		if err != nil {
			return nil, err
		}
		servers = append(servers, &Server{url: u})
	}
	return servers, nil
}

func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a URL", text)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q is not an http: or https: URL", u.Redacted())
	case u.Host == "":
		return nil, fmt.Errorf("%q names no server", u.Redacted())
	}
	return u, nil
}

// String returns the server's address without its password.
func (s *Server) String() string { return s.url.Redacted() }

// URL returns the address of a file below the server's. The parts are names
// with any characters, except "." and "..".
func (s *Server) URL(parts ...string) *url.URL {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		escaped[i] = url.PathEscape(p)
	}
	u := s.url.JoinPath(escaped...)
	u.RawQuery, u.Fragment = "", ""
	return u
}

func (s *Server) state() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead
}

// giveUp keeps the server from being asked again.
func (s *Server) giveUp(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead == nil {
		s.dead = why
	}
}

// drained is the number of bytes that are read from a response without a
// file: such pages are usually shorter.
const drained = 16 << 10

// Get requests u from s and calls take with the response if it has a file.
// Reading the response fails beyond the limits. header may be nil. If the
// server responds without a file, the error may be ErrMissing or ErrForbidden.
func (c *Client) Get(ctx context.Context, s *Server, u *url.URL, header http.Header, take func(http.Header, io.Reader) error) error {
	if err := s.state(); err != nil {
		return fmt.Errorf("not asked again: %w", err)
	}
	caller := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if most := c.limits.MaxTime; most > 0 {
		t := time.AfterFunc(most, func() { cancel(fmt.Errorf("took more than %v", most)) })
		defer t.Stop()
	}
	watch := NewWatch(c.limits.Timeout, watchBytes, func() {
		cancel(fmt.Errorf("%w: less than %d bytes in %v", errSlow, watchBytes, c.limits.Timeout))
	})
	defer watch.Stop()
	if c.log != nil {
		c.log(u.Redacted())
	}
	resp, err := c.request(ctx, u, header)
	if err != nil {
		err = Reason(ctx, err)
		if caller.Err() == nil { // a cancelled request says nothing about the server
			s.giveUp(err)
		}
		return err
	}
	defer resp.Body.Close()
	if err := c.accept(resp); err != nil {
		// A connection can be reused only if the response was read to its end.
		_, _ = io.CopyN(io.Discard, resp.Body, drained)
		return err
	}
	err = Reason(ctx, take(resp.Header, &body{Reader: bin.LimitReader(resp.Body, c.limits.MaxSize), watch: watch}))
	if errors.Is(err, errSlow) {
		s.giveUp(err)
	}
	return err
}

// Reason returns the cause if the request was given up because ctx ended. Otherwise it returns
// err without the method and the URL: the caller names them, or must not.
func Reason(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func (c *Client) request(ctx context.Context, u *url.URL, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if header != nil {
		req.Header = header
	}
	if c.userAgent != "" {
		req.Header.Set("User-Agent", c.userAgent)
	}
	return c.http.Do(req)
}

// accept decides from the header of a response whether its body is the file.
func (c *Client) accept(resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return newRefusal(resp)
	}
	// The transport removes the gzip encoding that it requested.
	if how := resp.Header.Get("Content-Encoding"); how != "" && how != "identity" {
		return fmt.Errorf("Content-Encoding %q was not requested", how)
	}
	return c.CheckSize(resp.ContentLength)
}

// CheckSize returns an error if a size is above the limit.
func (c *Client) CheckSize(size int64) error { return bin.CheckSize(size, c.limits.MaxSize) }
