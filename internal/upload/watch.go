package upload

import (
	"errors"
	"io"
	"sync"

	"github.com/symtool/symtool/internal/fetch"
)

// watched is an answer under a watch.
type watched struct {
	io.Reader
	w *fetch.Watch
}

func (r *watched) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.w.Moved(n)
	return n, err
}

// guarded is a body under a watch. The transport may read and close it after
// the request has ended, which then does not count.
type guarded struct {
	mu     sync.Mutex
	in     *bodyReader
	w      *fetch.Watch
	closed bool
}

func (g *guarded) Read(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return 0, io.ErrClosedPipe
	}
	n, err := g.in.Read(p)
	g.w.Moved(n)
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

// failure returns the body's own error, and ends its use.
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
