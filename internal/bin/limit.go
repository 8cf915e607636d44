package bin

import (
	"context"
	"fmt"
	"io"
)

// SizeError is the error for an input that is too large.
type SizeError struct{ Size, Most int64 } // in bytes; Size is a lower bound

func (e *SizeError) Error() string {
	return fmt.Sprintf("%d bytes or more, want at most %d", e.Size, e.Most)
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

// ReadUpTo reads r to its end, or up to most bytes. It does not trust an input's claimed size
// beyond the bytes actually read: memory grows fourfold, or up to eightfold to reach most. So if
// the claim is true, the last allocation has the size of the data, and the one before it at most
// a quarter. A bytes.Buffer would hold three times the data at its last step.
func ReadUpTo(r io.Reader, most int64) ([]byte, error) {
	var data []byte
	for int64(len(data)) < most {
		if len(data) == cap(data) {
			next := max(1<<20, 4*int64(cap(data)))
			if next >= most/2 {
				next = most
			}
			data = append(make([]byte, 0, next), data...)
		}
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}

// ContextReader returns a reader of r that fails once ctx is done; Read then returns the cause of
// ctx.
func ContextReader(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

// Fill reads from r until buf is full. If it returns fewer bytes, the error is r's own, io.EOF at
// the end: unlike io.ReadFull, it does not turn an early end into io.ErrUnexpectedEOF.
func Fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var got int
		got, err = r.Read(buf[n:])
		n += got
	}
	return n, err
}
