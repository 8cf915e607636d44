package fetch

import (
	"errors"
	"fmt"
	"io"

	"github.com/symtool/symtool/internal/bin"
)

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
