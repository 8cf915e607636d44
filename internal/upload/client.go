package upload

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/symtool/symtool/internal/fetch"
)

// client talks to one server, and holds what only that server may see.
type client struct {
	o      *Options
	base   *url.URL
	http   *http.Client
	secret http.Header // for base's origin only
	key    string      // of sym-upload-v2: ?key=
	hidden secrets

	mu        sync.Mutex
	notBefore time.Time // when the server accepts requests again
	failures  int       // number of files in a row that the server accepted in no try
	dead      error     // why nothing is sent any more
}

const connectTimeout = 30 * time.Second

func newClient(o *Options, base *url.URL) *client {
	t := fetch.NewTransport(connectTimeout)
	t.MaxIdleConnsPerHost = o.Jobs
	t.ExpectContinueTimeout = 2 * time.Second
	c := &client{o: o, base: base, secret: http.Header{}}
	// Redirections are followed by once, which knows what may be sent where.
	c.http = &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for name, values := range o.Header {
		for _, v := range values {
			c.secret.Add(name, v)
			c.hidden.add(v)
		}
	}
	if o.Token != "" {
		c.hidden.add(o.Token)
		switch o.Protocol {
		case V2:
			c.key = o.Token
		case Zip:
			c.secret.Set("Auth-Token", o.Token)
		case V1, Put:
			c.secret.Set("Authorization", "Bearer "+o.Token)
		}
	}
	if base.User != nil {
		password, _ := base.User.Password()
		c.hidden.add(password)
		c.hidden.add(base64.StdEncoding.EncodeToString([]byte(base.User.Username() + ":" + password)))
	}
	for _, values := range base.Query() {
		for _, v := range values {
			c.hidden.add(v)
		}
	}
	return c
}

// request is a request that can be sent any number of times.
type request struct {
	method string
	url    *url.URL
	header http.Header
	body   *body
	most   int64 // maximum size of the answer in bytes; 0 if its content does not matter
	// foreign means that the address is from an answer. Nothing secret is sent
	// there, and a failure is not the server's.
	foreign  bool
	progress func(sent int64)
	sign     func(*http.Request) (*http.Request, error) // for S3; redirections are then not followed
	carries  *Result                                    // counts the tries; nil for requests without a file
}

// answer is a server's answer.
type answer struct {
	status int
	header http.Header
	text   []byte
	hidden *secrets
}

// do sends a request, and repeats it while that may help. An unsuccessful answer is
// returned as a *statusError.
func (c *client) do(ctx context.Context, r *request) (*answer, error) {
	for try := 0; ; try++ {
		if err := c.pause(ctx); err != nil {
			return nil, err
		}
		if r.carries != nil {
			r.carries.Tries++
		}
		a, err := c.once(ctx, r)
		if err == nil {
			return a, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !transient(err) {
			return nil, err
		}
		if try == c.o.Retries {
			return nil, afterTries(err, try+1)
		}
		wait, err := c.backOff(try, err, r.foreign)
		if err != nil {
			return nil, err
		}
		c.o.Log(c.hidden.redact(fmt.Sprintf("%s %s: %v: again in %v", r.method, shown(r.url), wait.why, wait.d.Round(time.Millisecond))))
		if err := sleep(ctx, wait.d); err != nil {
			return nil, err
		}
	}
}

// once sends a request, and follows redirections.
func (c *client) once(ctx context.Context, r *request) (*answer, error) {
	at, trusted := r.url, !r.foreign
	expect := r.body != nil && r.body.size >= expectSize
	for hop := 0; ; hop++ {
		a, next, err := c.hop(ctx, r, at, trusted, expect)
		var status *statusError
		if expect && errors.As(err, &status) && status.code == http.StatusExpectationFailed {
			expect = false // the server does not support 100-continue
			continue
		}
		if err != nil || next == nil {
			return a, err
		}
		if hop == maxRedirects {
			return nil, &refusal{fmt.Errorf("more than %d redirections", maxRedirects)}
		}
		trusted = trusted && sameServer(next, c.base)
		at = next
	}
}

// expectSize is the size of a body from which a server is asked before it is sent, as it may
// refuse the token, or redirect.
const expectSize = 1 << 20

// hop sends a request to one address. next is the address that it is redirected to.
func (c *client) hop(ctx context.Context, r *request, at *url.URL, trusted, expect bool) (a *answer, next *url.URL, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := fetch.NewWatch(c.o.Timeout, 1, func() { cancel(fmt.Errorf("nothing moved in %v", c.o.Timeout)) })
	defer w.Stop()
	req, sent, err := c.newRequest(ctx, r, at, trusted, expect, w)
	if err != nil {
		return nil, nil, err
	}
	c.o.Log(c.hidden.redact(r.method + " " + shown(at)))
	resp, err := c.http.Do(req)
	if err == nil {
		defer resp.Body.Close()
		a, next, err = c.take(r, at, resp, w)
	}
	if sent != nil {
		if own := sent.failure(); own != nil {
			return nil, nil, own // the body's own error, whatever the connection reports
		}
	}
	return a, next, fetch.Reason(ctx, err)
}

func (c *client) newRequest(ctx context.Context, r *request, at *url.URL, trusted, expect bool, w *fetch.Watch) (*http.Request, *guarded, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, at.String(), nil)
	if err != nil {
		return nil, nil, &refusal{errors.New("invalid address")}
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	if trusted {
		for name, values := range c.secret {
			req.Header[name] = values
		}
		if host := c.secret.Get("Host"); host != "" {
			req.Host = host
		}
	} else {
		req.URL.User = nil
	}
	// Compression in transit would change the size.
	req.Header.Set("Accept-Encoding", "identity")
	if r.sign != nil {
		if req, err = r.sign(req); err != nil {
			return nil, nil, err
		}
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", c.o.UserAgent)
	}
	if r.body == nil || r.body.size == 0 {
		return req, nil, nil
	}
	in, err := r.body.reader(r.progress)
	if err != nil {
		return nil, nil, err
	}
	sent := &guarded{in: in, w: w}
	req.Body, req.ContentLength = sent, r.body.size
	if expect {
		req.Header.Set("Expect", "100-continue")
	}
	return req, sent, nil
}

// take reads an answer.
func (c *client) take(r *request, at *url.URL, resp *http.Response, w *fetch.Watch) (*answer, *url.URL, error) {
	if r.sign == nil {
		next, err := redirected(r.method, at, resp)
		if next != nil || err != nil {
			return nil, next, err
		}
	}
	success := resp.StatusCode/100 == 2
	most := r.most
	if !success || most == 0 {
		most = maxErrorText
	}
	text, err := io.ReadAll(&watched{io.LimitReader(resp.Body, most+1), w})
	if err == nil && success && r.most > 0 && int64(len(text)) > most {
		return nil, nil, &refusal{fmt.Errorf("the answer has more than %d bytes", most)}
	}
	if success && err != nil {
		return nil, nil, fmt.Errorf("%s, whose answer ends early: %w", resp.Status, fetch.Reason(resp.Request.Context(), err))
	}
	a := &answer{resp.StatusCode, resp.Header, text, &c.hidden}
	if !success {
		return a, nil, a.statusError(r.foreign)
	}
	return a, nil, nil
}

const maxErrorText = 16 << 10

// state returns the reason why nothing is sent any more, or nil.
func (c *client) state() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead
}

// maxFailures is the number of files in a row that may fail in all tries before the rest is given
// up: thousands of them would take days.
const maxFailures = 3

// ended updates the state of the client after a file.
func (c *client) ended(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var (
		status *statusError
		spent  *spentError
	)
	switch {
	case err == nil:
		c.failures = 0
	case errors.As(err, &status) && status.code == http.StatusUnauthorized && !status.foreign:
		c.dead = c.hidden.hide(err)
	case errors.As(err, &spent):
		if c.failures++; c.failures >= maxFailures {
			c.dead = c.hidden.hide(err)
		}
	}
}

func (c *client) redacted(err error) error { return c.hidden.hide(err) }

func asStatus(err error, status **statusError) bool { return errors.As(err, status) }

// contentLength returns the size in bytes according to a header.
func contentLength(h http.Header) (int64, bool) {
	n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64)
	return n, err == nil && n >= 0
}

// maxJSON is the maximum size in bytes of an answer that is read as JSON: the list of files in
// the answer to a zip may have a hundred thousand names.
const maxJSON = 32 << 20

// parse parses an answer as JSON.
func (a *answer) parse(into any) error {
	if err := json.Unmarshal(a.text, into); err != nil {
		says := a.readable()
		if says == "" {
			says = fmt.Sprintf("%d bytes", len(a.text))
		}
		return &refusal{fmt.Errorf("the answer is not the expected JSON: %s", says)}
	}
	return nil
}
