package symserver

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// recorder is the connection to a client. It records what was answered, and ends the connection
// if the client does not read it.
type recorder struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	head    bool // the answer has no body
	status  int  // 0 until it is known
	bytes   int64
	frames  int // number of frames symbolicated
	missing bool
	fresh   freshness
	guarded bool   // a token decides who gets the answer
	token   *token // the request's, if one was needed and is valid
	due     int64  // number of bytes until the client gets more time
}

// errClient is wrapped by errors of writing to a client.
var errClient = errors.New("the client is gone")

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		w.setCaching(status)
	}
	w.extend()
	w.ResponseWriter.WriteHeader(status)
}

// extend gives the client time for the next piece.
func (w *recorder) extend() { _ = w.control.SetWriteDeadline(time.Now().Add(w.stall)) }

// Write implements io.Writer. It is called with small pieces.
func (w *recorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.bytes >= w.due {
		w.extend()
		w.due = w.bytes + piece
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	if err != nil {
		err = errors.Join(errClient, err)
	}
	return n, err
}

// piece is the number of bytes that a client must read before its time is over.
const piece = 1 << 20

// ReadFrom implements io.ReaderFrom: the system copies a file directly to the network where it
// can, one piece at a time.
func (w *recorder) ReadFrom(src io.Reader) (int64, error) {
	to, can := w.ResponseWriter.(io.ReaderFrom)
	limited, _ := src.(*io.LimitedReader)
	if limited == nil {
		limited = &io.LimitedReader{R: src, N: 1<<63 - 1}
	}
	if _, isFile := limited.R.(*os.File); !isFile || !can {
		return io.CopyBuffer(onlyWriter{w}, src, make([]byte, 64<<10))
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if limited.N <= small {
		buf := smallBuffers.Get().(*[small]byte)
		defer smallBuffers.Put(buf)
		return io.CopyBuffer(onlyWriter{w}, limited, buf[:])
	}
	sum := int64(0)
	for limited.N > 0 {
		w.extend()
		n := min(limited.N, piece)
		got, err := to.ReadFrom(&io.LimitedReader{R: limited.R, N: n})
		sum += got
		w.bytes += got
		limited.N -= got
		if err != nil || got < n {
			return sum, err
		}
	}
	return sum, nil
}

// small is the size in bytes up to which a file is sent together with the header. The system
// would send the header by itself before it copies the file.
const small = 8 << 10

var smallBuffers = sync.Pool{New: func() any { return new([small]byte) }}

// onlyWriter hides ReadFrom.
type onlyWriter struct{ io.Writer }

// headOnly ends the answer to a HEAD request, and reports whether it was one.
func (w *recorder) headOnly() bool {
	if w.head {
		w.WriteHeader(http.StatusOK)
	}
	return w.head
}

// copy sends a text that is generated on the fly.
func (w *recorder) copy(text io.Reader) error {
	_, err := io.CopyBuffer(onlyWriter{w}, text, make([]byte, 64<<10))
	return err
}
