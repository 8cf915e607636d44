package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// body reads what a server sends, and keeps an eye on how fast that comes.
type body struct {
	io.Reader
	watch *watch
	total int64
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.total += int64(n)
	b.watch.got(n)
	var large *sizeError
	if err != nil && err != io.EOF && !errors.As(err, &large) {
		err = fmt.Errorf("after %d bytes: %w", b.total, err)
	}
	return n, err
}

// sizeError tells of a file that is too large.
type sizeError struct{ size, most int64 }

func (e *sizeError) Error() string {
	return fmt.Sprintf("%d bytes or more, over the limit of %d", e.size, e.most)
}

func checkSize(size, most int64) error {
	if most > 0 && size > most {
		return &sizeError{size, most}
	}
	return nil
}

// Limit returns a reader that fails when r has more than most bytes; 0 is no
// limit.
func Limit(r io.Reader, most int64) io.Reader { return &limited{r: r, most: most} }

type limited struct {
	r           io.Reader
	total, most int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.total += int64(n)
	if large := checkSize(l.total, l.most); large != nil {
		return 0, large
	}
	return n, err
}

// watchBytes is what a server must give in the time-out, as for elfutils'
// client of debuginfod.
const watchBytes = 100 << 10

var errSlow = errors.New("too slow")

// watch ends a request whose server gives too little.
type watch struct {
	timeout time.Duration
	timer   *time.Timer
	bytes   int
}

// newWatch starts to wait. Without a time-out it never ends.
func newWatch(timeout time.Duration, cancel context.CancelCauseFunc) *watch {
	w := &watch{timeout: timeout}
	if timeout > 0 {
		w.timer = time.AfterFunc(timeout, func() {
			cancel(fmt.Errorf("%w: less than %d bytes in %v", errSlow, watchBytes, timeout))
		})
	}
	return w
}

func (w *watch) got(n int) {
	if w.bytes += n; w.timer != nil && w.bytes >= watchBytes {
		w.bytes = 0
		w.timer.Reset(w.timeout)
	}
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
