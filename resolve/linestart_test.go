package resolve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// readCounter counts the bytes that are read of a text.
type readCounter struct {
	text
	read int
}

func (c *readCounter) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.text.ReadAt(p, off)
	c.read += n
	return n, err
}

// The text of a function is read once for all of its addresses: otherwise the time for many
// of them would be quadratic.
func TestManyLineStarts(t *testing.T) {
	const n = 5000
	var b strings.Builder
	fmt.Fprintf(&b, "%sFILE 0 a\nFUNC 1000 %x 0 f\n", head, 16*n)
	for i := range n {
		fmt.Fprintf(&b, "%x 8 %d 0\n", 0x1000+16*i, i+1)
	}
	r := openString(t, b.String())
	counter := &readCounter{text: r.text()}
	r.source.(*textSource).text = counter
	for i := range n {
		rva := symfmt.RVA(0x1000 + 16*i)
		if start, ok, err := r.LineStart(t.Context(), rva+7); start != rva || !ok || err != nil {
			t.Fatalf("%#x: %#x, %v, %v", uint64(rva+7), uint64(start), ok, err)
		}
		if _, ok, err := r.LineStart(t.Context(), rva+8); ok || err != nil {
			t.Fatalf("%#x: %v, %v", uint64(rva+8), ok, err)
		}
	}
	if counter.read > b.Len() {
		t.Errorf("%d bytes were read of a text of %d", counter.read, b.Len())
	}
	if held := r.cache.Load().held; held < lineCodeSize*n {
		t.Errorf("the cache has %d bytes, want those of %d lines", held, n)
	}
}

// Where lines overlap, in any order, the one that starts last counts, up to its end; of
// several that start at the same address, the last in the file counts.
func TestLineStartOrder(t *testing.T) {
	text := head + "FILE 0 a\nFUNC 1000 100 0 f\n1020 10 1 0\n1000 40 2 0\n1020 4 3 0\nff0 40 4 0\n1080 0 5 0\n1060 200 6 0\n10f0 1x 7 0\n"
	r := openString(t, text)
	for rva, want := range map[symfmt.RVA]symfmt.RVA{0x1000: 0x1000, 0x101f: 0x1000, 0x1020: 0x1020, 0x1023: 0x1020, 0x1024: 0, 0x1050: 0, 0x1060: 0x1060, 0x10ff: 0x1060, 0x1100: 0, 0xfff: 0} {
		start, ok, err := r.LineStart(t.Context(), rva)
		if err != nil || ok != (want != 0) || ok && start != want {
			t.Errorf("%#x: %#x, %v, %v; want %#x", uint64(rva), uint64(start), ok, err, uint64(want))
		}
	}
}
