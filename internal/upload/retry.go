package upload

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// refusal is a failure that would recur if the request were repeated.
type refusal struct{ err error }

func (e *refusal) Error() string { return e.err.Error() }
func (e *refusal) Unwrap() error { return e.err }

// spentError is a failure that could have passed, but did not in any try.
type spentError struct {
	err   error
	tries int
}

func (e *spentError) Error() string {
	if e.tries == 1 {
		return e.err.Error()
	}
	return fmt.Sprintf("%v (in the last of %d tries)", e.err, e.tries)
}

func (e *spentError) Unwrap() error { return e.err }

func afterTries(err error, tries int) error { return &spentError{err, tries} }

// transient reports whether a failure may pass.
func transient(err error) bool {
	var (
		status  *statusError
		refused *refusal
		own     *bodyError
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
	)
	switch {
	case errors.As(err, &status):
		return status.transient()
	case errors.As(err, &refused), errors.As(err, &own), errors.As(err, &cert), errors.As(err, &unknown):
		return false
	case errors.As(err, &dns):
		return !dns.IsNotFound
	}
	return true
}

func (e *statusError) transient() bool {
	switch e.code {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported, http.StatusInsufficientStorage,
		http.StatusLoopDetected, http.StatusNotExtended, http.StatusNetworkAuthenticationRequired:
		return false
	}
	return e.code >= 500
}

// The waits between tries: each is drawn from the upper half of a limit, which
// doubles.
const (
	firstBackOff = time.Second
	maxBackOff   = time.Minute
	// maxRetryAfter is the longest wait that a server may ask for.
	maxRetryAfter = 15 * time.Minute
)

type waiting struct {
	d   time.Duration
	why error
}

// backOff returns how long to wait after a failure.
func (c *client) backOff(try int, why error, foreign bool) (waiting, error) {
	limit := c.o.backOff
	if limit == 0 {
		limit = firstBackOff
	}
	limit = min(limit<<min(try, 20), maxBackOff)
	d := limit/2 + rand.N(limit/2+1)
	var status *statusError
	if !errors.As(why, &status) || status.after == 0 {
		return waiting{d, why}, nil
	}
	if status.after > maxRetryAfter {
		return waiting{}, afterTries(fmt.Errorf("%w; it asks to come again in %v", why, status.after), try+1)
	}
	if foreign {
		return waiting{max(d, status.after), why}, nil
	}
	// It applies to all workers.
	c.mu.Lock()
	defer c.mu.Unlock()
	if until := time.Now().Add(status.after); until.After(c.notBefore) {
		c.notBefore = until
	}
	return waiting{max(d, status.after), why}, nil
}

// pause waits until the server accepts requests again.
func (c *client) pause(ctx context.Context) error {
	c.mu.Lock()
	d := time.Until(c.notBefore)
	c.mu.Unlock()
	return sleep(ctx, d)
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// retryAfter parses the header of that name: seconds, or a date by the
// server's clock. A number that is too large means a long time.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseUint(text, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
			now = theirs
		}
		return max(at.Sub(now), 0)
	}
	return 0
}
