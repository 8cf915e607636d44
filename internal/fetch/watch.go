package fetch

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/symtool/symtool/internal/bin"
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

// body reads what a server sends, and keeps an eye on how fast that comes.
type body struct {
	io.Reader
	watch *Watch
	total int64
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.total += int64(n)
	b.watch.Moved(n)
	var large *bin.SizeError
	if err != nil && err != io.EOF && !errors.As(err, &large) {
		err = fmt.Errorf("after %d bytes: %w", b.total, err)
	}
	return n, err
}

// watchBytes is what a server must give in the time-out, as for elfutils'
// client of debuginfod.
const watchBytes = 100 << 10

var errSlow = errors.New("too slow")
