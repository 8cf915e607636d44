package fetch

import (
	"sync"
	"time"
)

// Watch calls a function when a request makes too little progress. Its methods may be
// called concurrently.
type Watch struct {
	timeout time.Duration
	need    int // bytes in each timeout

	mu    sync.Mutex
	timer *time.Timer // nil without a timeout
	bytes int         // since the timer was set
}

// NewWatch starts to wait: expired is called unless need bytes move in timeout, and again
// need bytes after that. Without a timeout it never is.
func NewWatch(timeout time.Duration, need int, expired func()) *Watch {
	w := &Watch{timeout: timeout, need: need}
	if timeout > 0 {
		w.timer = time.AfterFunc(timeout, expired)
	}
	return w
}

// Moved notes that n bytes moved.
func (w *Watch) Moved(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bytes += n; w.timer != nil && w.bytes >= w.need {
		w.bytes = 0
		w.timer.Reset(w.timeout)
	}
}

// Stop ends the wait.
func (w *Watch) Stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
