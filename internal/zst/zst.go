// Package zst reads data compressed with zstd, with memory in proportion to them.
package zst

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Magic is the first bytes of a frame (RFC 8878, 3.1.1).
const Magic = "\x28\xb5\x2f\xfd"

// A frame's header asks for a window, memory that the decoder has to hold, whatever the frame
// contains (RFC 8878, 3.1.1.1.2). zstd reads up to maxWindow unless it is called with --long or
// --memory. A file with less than a sixteenth of that does not need it: symbol files compress 4 to 15
// times, and zstd asks for no more than the length of its input, unless it reads a pipe. freeWindow
// is for pipes: then zstd -19 asks for 8 MiB, and zstd --ultra -20, with which Arch Linux makes
// packages of any size, for 32 MiB.
const (
	maxWindow    = 128 << 20
	freeWindow   = 32 << 20
	windowFactor = 16
)

// maxHeader is larger than any frame header, including its magic.
const maxHeader = 18

// Reader reads the contents of all frames.
type Reader struct {
	z      *zstd.Decoder
	in     counter
	window uint64 // the largest window accepted
	why    string // the reason for the limit, for messages
}

// counter counts the bytes that the decoder takes, which exclude what is read ahead.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// NewReader returns the contents of data. It accepts windows of 32 MiB, or of 16 times the size of
// the data, up to 128 MiB. If a frame may ask for more than 32 MiB, it reads up to 8 MiB ahead.
func NewReader(r io.Reader) (*Reader, error) {
	head := make([]byte, maxHeader)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	ahead := head[:n]
	if asksForMore(ahead) {
		rest, err := io.ReadAll(io.LimitReader(r, maxWindow/windowFactor))
		if err != nil {
			return nil, err
		}
		ahead = append(ahead, rest...)
	}
	window := min(max(freeWindow, windowFactor*len(ahead)), maxWindow)
	z, err := NewReaderWindow(io.MultiReader(bytes.NewReader(ahead), r), uint64(window))
	if err != nil {
		return nil, err
	}
	z.why = fmt.Sprintf(" (%d bytes for each byte of data, at least %d MiB, at most %d MiB)", windowFactor, freeWindow>>20, maxWindow>>20)
	return z, nil
}

// asksForMore reports whether the data need a large window, or may need one: a skippable frame says
// nothing about the frames after it. A frame with a single segment needs a window for all its
// contents.
func asksForMore(head []byte) bool {
	var h zstd.Header
	if h.Decode(head) != nil {
		return false
	}
	return h.Skippable || h.WindowSize > freeWindow || h.SingleSegment && h.FrameContentSize > freeWindow
}

// NewReaderWindow is like NewReader, for data whose windows must not exceed window bytes. It is for
// callers that know how many bytes they want.
func NewReaderWindow(r io.Reader, window uint64) (*Reader, error) {
	z := &Reader{in: counter{r: r}, window: window}
	// Without concurrency, the decoder runs in the caller's goroutine, and nothing is left running if
	// the contents are not read to their end.
	d, err := zstd.NewReader(&z.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window), zstd.WithDecoderMaxMemory(1<<63))
	if err != nil {
		return nil, err
	}
	z.z = d
	return z, nil
}

// Read implements [io.Reader].
func (z *Reader) Read(p []byte) (int, error) {
	n, err := z.z.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = fmt.Errorf("a frame asks for more than %d MiB of memory%s: compress it again, for example with zstd -19", z.window>>20, z.why)
	}
	return n, err
}

// Taken returns how many compressed bytes the contents read so far came from.
func (z *Reader) Taken() int64 { return z.in.n }

// Close implements [io.Closer].
func (z *Reader) Close() error {
	z.z.Close()
	return nil
}
