package bin

import (
	"fmt"
	"io"
)

// SizeError is the error of an input that is too large.
type SizeError struct{ Size, Most int64 } // in bytes; Size is at least that

func (e *SizeError) Error() string {
	return fmt.Sprintf("%d bytes or more, over the limit of %d", e.Size, e.Most)
}

// CheckSize returns a *SizeError if size is more than most; 0 means no limit.
func CheckSize(size, most int64) error {
	if most > 0 && size > most {
		return &SizeError{size, most}
	}
	return nil
}

// LimitReader returns a reader that fails with a *SizeError when r has more than most
// bytes; 0 means no limit.
func LimitReader(r io.Reader, most int64) io.Reader { return &limitedReader{r: r, most: most} }

type limitedReader struct {
	r           io.Reader
	total, most int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.total += int64(n)
	if large := CheckSize(l.total, l.most); large != nil {
		return 0, large
	}
	return n, err
}
