package fetch

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/symtool/symtool/internal/bin"
)

// Watch calls a function if a request makes too little progress. Its methods may be called
// concurrently.
type Watch struct {
	timeout time.Duration
	need    int // bytes per timeout

	mu    sync.Mutex
	timer *time.Timer // nil if there is no timeout
	bytes int         // since the timer was set
}

// NewWatch starts watching: it calls expired unless need bytes are transferred in each period of
// timeout. Without a timeout it never does.
func NewWatch(timeout time.Duration, need int, expired func()) *Watch {
	w := &Watch{timeout: timeout, need: need}
	if timeout > 0 {
		w.timer = time.AfterFunc(timeout, expired)
	}
	return w
}

// Moved records that n bytes were transferred.
func (w *Watch) Moved(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bytes += n; w.timer != nil && w.bytes >= w.need {
		w.bytes = 0
		w.timer.Reset(w.timeout)
	}
}

// Stop stops watching.
func (w *Watch) Stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// body reads a server's response, and watches how fast it arrives.
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

// watchBytes is the number of bytes that a server must send within the
// timeout, as in elfutils' debuginfod client.
const watchBytes = 100 << 10

var errSlow = errors.New("too slow")
