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

// client talks with one server, and knows what is for it alone.
type client struct {
	o      *Options
	base   *url.URL
	http   *http.Client
	secret http.Header // for base's origin only
	key    string      // of sym-upload-v2: ?key=
	hidden secrets

	mu        sync.Mutex
	notBefore time.Time // when the server takes requests again
	failures  int       // files in a row that the server did not take in any try
	dead      error     // why nothing is sent any more
}

const connectTimeout = 30 * time.Second

func newClient(o *Options, base *url.URL) *client {
	t := fetch.NewTransport(connectTimeout)
	t.MaxIdleConnsPerHost = o.Jobs
	t.ExpectContinueTimeout = 2 * time.Second
	c := &client{o: o, base: base, secret: http.Header{}}
	// Redirections are followed here, where it is known what may be sent to whom.
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

// request is what is sent, any number of times.
type request struct {
	method string
	url    *url.URL
	header http.Header
	body   *body
	most   int64 // of the answer, in bytes; 0: what it says does not matter
	// foreign: the address is from an answer. Nothing secret goes there, and a failure
	// is not the server's.
	foreign  bool
	progress func(sent int64)
	sign     func(*http.Request) (*http.Request, error) // S3; then redirections are not followed
	carries  *Result                                    // counts the tries; nil for requests without a file
}

// answer is a server's.
type answer struct {
	status int
	header http.Header
	text   []byte
	hidden *secrets
}

// do sends a request, again while that may help. An answer without success is a
// *statusError.
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
			expect = false // it does not know 100-continue
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

// expectSize is the size of a body from which a server is asked before it is sent: it
// may refuse the token, or redirect.
const expectSize = 1 << 20

// hop sends a request to one address. next is where it is redirected to.
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
			return nil, nil, own // of the body, whatever the connection says
		}
	}
	return a, next, fetch.Reason(ctx, err)
}

func (c *client) newRequest(ctx context.Context, r *request, at *url.URL, trusted, expect bool, w *fetch.Watch) (*http.Request, *guarded, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, at.String(), nil)
	if err != nil {
		return nil, nil, &refusal{errors.New("the address cannot be used")}
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
	// What is compressed on the way has another size.
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
		return nil, nil, &refusal{fmt.Errorf("the answer has over %d bytes", most)}
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

// maxFailures is how many files in a row may fail in all tries before the others are
// not tried any more: with thousands of them that would take days.
const maxFailures = 3

// ended learns from what became of a file.
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

// contentLength returns what a header says of the size, in bytes.
func contentLength(h http.Header) (int64, bool) {
	n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64)
	return n, err == nil && n >= 0
}

// maxJSON is the size of the largest answer that is read as JSON, in bytes: the list of
// files in an answer to a zip may have hundred thousands of names.
const maxJSON = 32 << 20

// parse reads an answer as JSON.
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
