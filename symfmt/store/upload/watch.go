package upload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// watch ends a request in which nothing moves.
type watch struct {
	timeout time.Duration
	timer   *time.Timer
}

// newWatch starts to wait. Without a time-out it never ends.
func newWatch(timeout time.Duration, cancel context.CancelCauseFunc) *watch {
	w := &watch{timeout: timeout}
	if timeout > 0 {
		w.timer = time.AfterFunc(timeout, func() { cancel(fmt.Errorf("nothing moved in %v", timeout)) })
	}
	return w
}

func (w *watch) moved(n int) {
	if w.timer != nil && n > 0 {
		w.timer.Reset(w.timeout)
	}
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// watched is an answer under a watch.
type watched struct {
	io.Reader
	w *watch
}

func (r *watched) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.w.moved(n)
	return n, err
}

// guarded is a body under a watch. The transport may read and close it after the
// request has ended; what it reads then does not count.
type guarded struct {
	mu     sync.Mutex
	in     *bodyReader
	w      *watch
	closed bool
}

func (g *guarded) Read(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return 0, io.ErrClosedPipe
	}
	n, err := g.in.Read(p)
	g.w.moved(n)
	return n, err
}

func (g *guarded) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	return g.in.Close()
}

// failure is the body's own, and ends its use.
func (g *guarded) failure() error {
	g.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	var own *bodyError
	if errors.As(g.in.err, &own) {
		return own
	}
	return nil
}
