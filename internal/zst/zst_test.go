package zst

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/symtool/symtool/internal/testenv"
)

// pack compresses data like zstd reading from a pipe: the window is not cut to the length of the
// data.
func pack(t *testing.T, data []byte, window int) []byte {
	t.Helper()
	return testenv.Packed(t, data, func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(streamed{w}, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithSingleSegment(false))
	})
}

// streamed hides the other methods of a writer.
type streamed struct{ io.Writer }

// empty is a frame without contents that asks for 1<<log bytes.
func empty(log int) string { return Magic + string([]byte{0, byte(log-10) << 3, 1, 0, 0}) }

func noise(size int) []byte {
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{}).Read(data)
	return data
}

// A frame gets the memory that it asks for up to 32 MiB, and up to 128 MiB if there are enough
// data.
func TestWindow(t *testing.T) {
	const skippable = "\x50\x2a\x4d\x18\x04\x00\x00\x00skip"
	large := string(pack(t, noise(5<<20), 64<<20))
	whole := Magic + "\xa0" + "\x01\x00\x00\x03" // a single segment of 48 MiB
	for name, c := range map[string]struct {
		data    string
		refused bool
	}{
		"none":                   {data: ""},
		"small":                  {data: string(pack(t, []byte("text"), 8<<20))},
		"32 MiB":                 {data: empty(25)},
		"64 MiB":                 {data: empty(26), refused: true},
		"64 MiB, 5 MiB of data":  {data: large},
		"behind a small one":     {data: empty(20) + large, refused: true},
		"behind a skippable one": {data: skippable + large},
		"many":                   {data: strings.Repeat(empty(25), 1000) + empty(27), refused: true},
		"256 MiB, data for it":   {data: empty(28) + strings.Repeat(empty(10), 2<<20), refused: true},
		"one segment":            {data: whole, refused: true},
		"one segment, with data": {data: whole + string(make([]byte, 4<<20))},
	} {
		z, err := NewReader(strings.NewReader(c.data))
		if err != nil {
			t.Fatal(name, err)
		}
		_, err = io.Copy(io.Discard, z)
		z.Close()
		if refused := err != nil && strings.Contains(err.Error(), "a frame asks for more than"); refused != c.refused {
			t.Errorf("%s: %v, want it refused: %v", name, err, c.refused)
		}
	}
}

// Data read ahead do not count as taken until they are decoded.
func TestTaken(t *testing.T) {
	text := noise(6 << 20)
	data := pack(t, text, 64<<20)
	z, err := NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 1000)
	if _, err := io.ReadFull(z, head); err != nil || z.Taken() > 1<<20 {
		t.Errorf("%d bytes for the first 1000, %v", z.Taken(), err)
	}
	rest, err := io.ReadAll(z)
	if err != nil || !bytes.Equal(append(head, rest...), text) || z.Taken() != int64(len(data)) {
		t.Errorf("%d bytes of %d, from %d of %d, %v", len(head)+len(rest), len(text), z.Taken(), len(data), err)
	}
}

// A failure of the underlying reader is returned as it is.
func TestFailure(t *testing.T) {
	data := pack(t, noise(1<<20), 8<<20)
	for _, n := range []int{0, 4, 100} {
		z, err := NewReader(io.MultiReader(bytes.NewReader(data[:n]), failing{}))
		if err == nil {
			_, err = io.ReadAll(z)
		}
		if err != io.ErrNoProgress {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrNoProgress }
