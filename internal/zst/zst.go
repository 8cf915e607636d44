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
// --memory. A file with less than a sixteenth of that does not need it: symbol files compress 4 to
// 15 times, and zstd asks for no more than the length of what it compresses, unless it reads a
// pipe. freeWindow is for pipes: zstd -19 asks for 8 MiB then, and zstd --ultra -20, by which Arch
// Linux makes packages of any size, for 32 MiB.
const (
	maxWindow    = 128 << 20
	freeWindow   = 32 << 20
	windowFactor = 16
)

// maxHeader is more than the length of a frame's header, including its magic.
const maxHeader = 18

// Reader reads the contents of all frames.
type Reader struct {
	z      *zstd.Decoder
	in     counter
	window uint64 // the largest that is accepted
	why    string // its rule, for messages
}

// counter counts what the decoder takes, which is less than what is read ahead of it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// NewReader returns the contents of data. It reads up to 8 MiB ahead if a frame may ask for more than
// 32 MiB of memory: it gets as much, or 16 times the data if that is more, up to 128 MiB.
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

// asksForMore reports whether data need a large window, or may: a skippable frame says nothing about
// those behind it. A frame in a single segment has its contents for a window.
func asksForMore(head []byte) bool {
	var h zstd.Header
	if h.Decode(head) != nil {
		return false
	}
	return h.Skippable || h.WindowSize > freeWindow || h.SingleSegment && h.FrameContentSize > freeWindow
}

// NewReaderWindow returns the contents of data of which no window may be larger, where the caller
// knows how many bytes it wants.
func NewReaderWindow(r io.Reader, window uint64) (*Reader, error) {
	z := &Reader{in: counter{r: r}, window: window}
	// Without concurrency the decoder runs in the caller's goroutine, and nothing is left behind
	// if the contents are not read to their end.
	d, err := zstd.NewReader(&z.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window), zstd.WithDecoderMaxMemory(1<<63))
	if err != nil {
		return nil, err
	}
	z.z = d
	return z, nil
}

// Read implements io.Reader.
func (z *Reader) Read(p []byte) (int, error) {
	n, err := z.z.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = fmt.Errorf("a frame asks for more than %d MiB of memory%s: compress it again, for example with zstd -19", z.window>>20, z.why)
	}
	return n, err
}

// Taken returns how many compressed bytes the contents read so far are from.
func (z *Reader) Taken() int64 { return z.in.n }

// Close implements io.Closer.
func (z *Reader) Close() error {
	z.z.Close()
	return nil
}
