package object

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/symtool/symtool/internal/bin"
)

// gnuZlibOf returns parts, each as its own stream, as a ".zdebug" section that declares size bytes.
func gnuZlibOf(size int, parts ...[]byte) []byte {
	out := bytes.NewBuffer(binary.BigEndian.AppendUint64([]byte(gnuZlib), uint64(size)))
	for _, part := range parts {
		w := zlib.NewWriter(out)
		w.Write(part)
		w.Close()
	}
	return out.Bytes()
}

// pieceOf returns all of data as the contents of a ".zdebug" section.
func pieceOf(data []byte, lim Limits) *Piece {
	in := NewInput(bytes.NewReader(data), int64(len(data)), "mem", lim)
	p := NewPiece(in, ".zdebug_x", 0, uint64(len(data)))
	p.ReadGNUHeader()
	return p
}

func TestGNUHeader(t *testing.T) {
	text := bytes.Repeat([]byte("symbols\n"), 10_000)
	for _, c := range []struct {
		name        string
		data        []byte
		compression string
		want        []byte
		err         string
	}{
		{"one stream", gnuZlibOf(len(text), text), Zlib, text, ""},
		{"two streams", gnuZlibOf(len(text), text[:100], text[100:]), Zlib, text, ""},
		{"padding", append(gnuZlibOf(len(text), text), 0, 0), Zlib, text, ""},
		{"stored", text, "", text, ""},
		{"shorter than a header", []byte("ZLIB"), "", []byte("ZLIB"), ""},
		{"too much", gnuZlibOf(len(text)-1, text), Zlib, nil, "mem: .zdebug_x+0x1387f: compressed data holds more than the declared 79999 bytes"},
		{"too little", gnuZlibOf(len(text)+1, text), Zlib, nil, "mem: .zdebug_x+0x13880: compressed data ends after 80000 of the declared 80001 bytes"},
		{"negative", gnuZlibOf(-1, text), "", nil, "mem: .zdebug_x+0x0: declares 18446744073709551615 bytes of uncompressed contents"},
		{"no stream", append(gnuZlibOf(9), "plain text"...), Zlib, nil, "mem: .zdebug_x+0x0: compressed data: zlib: invalid header"},
	} {
		p := pieceOf(c.data, DefaultLimits())
		got, err := p.Data()
		if p.Compression() != c.compression || !bytes.Equal(got, c.want) {
			t.Errorf("%s: %q, %d bytes, want %q, %d", c.name, p.Compression(), len(got), c.compression, len(c.want))
		}
		if err == nil && c.err != "" || err != nil && err.Error() != c.err {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
		if _, err2 := p.Open(); (err2 == nil) != (err == nil) {
			t.Errorf("%s: Open: %v", c.name, err2)
		}
	}
}

// Contents that the file claims to have but does not are damaged; contents in another file are not.
func TestPieceWithoutBytes(t *testing.T) {
	in := NewInput(strings.NewReader("12345678"), 8, "mem", DefaultLimits())
	for _, c := range []struct {
		p                       *Piece
		hasData, stripped, good bool
	}{
		{NewPiece(in, ".a", 4, 4), true, false, true},
		{NewPiece(in, ".b", 4, 5), true, false, false},
		{NewPiece(in, ".c", 1<<63, 1<<63), true, false, false},
		{NewPiece(in, ".d", 100, 0), false, false, true},
		{AbsentPiece(in, ".e", "is elsewhere"), false, true, false},
	} {
		if c.p.HasData() != c.hasData || c.p.Stripped() != c.stripped || (c.p.Damage() != nil) != (c.hasData && !c.good) {
			t.Errorf("%s: has data %v, stripped %v, damage %v", c.p.name, c.p.HasData(), c.p.Stripped(), c.p.Damage())
		}
		for what, use := range map[string]func() error{
			"Data": func() error { _, err := c.p.Data(); return err },
			"Map":  func() error { _, err := c.p.Map(); return err },
			"Open": func() error { _, err := c.p.Open(); return err },
		} {
			if err := use(); (err == nil) != c.good {
				t.Errorf("%s: %s: %v", c.p.name, what, err)
			}
		}
	}
}

// Joined contents are not mapped, however long they are, as no file contains them contiguously.
func TestMapOfJoined(t *testing.T) {
	if !bin.CanMap {
		t.Skip("this system maps no files")
	}
	text := bytes.Repeat([]byte("symbols\n"), mapOver/8)
	path := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(path, append([]byte("head"), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	in := NewInput(r, int64(4+len(text)), path, DefaultLimits())
	half := uint64(len(text) / 2)
	j := JoinPieces(in, ".debug_info", []*Piece{NewPiece(in, "b", 4+half, half), NewPiece(in, "a", 4, half)})
	got, err := j.Map()
	if want := append(text[half:], text[:half]...); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d: %v", len(got), len(want), err)
	}
	src, err := j.Open()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := src.Bytes(int64(half)-3, 6, nil); err != nil || !bytes.Equal(b, got[half-3:half+3]) {
		t.Errorf("across the border: %q, %v", b, err)
	}
}

func TestSpillToFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full")
	}
	defer full.Close()
	text := bytes.Repeat([]byte("symbols\n"), 1<<17)
	s := newSpill(pieceOf(gnuZlibOf(len(text), text), DefaultLimits()), full)
	for range 2 {
		if err := s.upTo(1); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("error %v", err)
		}
	}
}

// TestInflatedAsFarAsAsked reads parts before damage, in any order and concurrently. The end is checked
// with the last byte, or with no bytes after it.
func TestInflatedAsFarAsAsked(t *testing.T) {
	text := make([]byte, 3<<20)
	for i := range text {
		text[i] = byte(i * i >> 12)
	}
	if testing.Short() {
		text = text[:2<<20] // inflating is twenty times as slow under the race detector
	}
	for _, over := range []int64{1 << 20, 1 << 30} {
		lim := DefaultLimits()
		lim.SpillOver, lim.TempDir = over, t.TempDir()
		testInflated(t, text, lim)
	}
}

// testInflated is TestInflatedAsFarAsAsked for contents in memory or in a temporary file.
func testInflated(t *testing.T, text []byte, lim Limits) {
	good := gnuZlibOf(len(text), text)
	wrongSum := bytes.Clone(good)
	wrongSum[len(wrongSum)-1]++
	for _, c := range []struct {
		name, err string
		data      []byte
	}{
		{"good", "", good},
		{"cut off", "unexpected EOF", good[:len(good)/2]},
		{"checksum", "invalid checksum", wrongSum},
		{"longer", "more than the declared", gnuZlibOf(len(text)-1, text)},
		{"shorter", fmt.Sprintf("ends after %d of the declared %d bytes", len(text), len(text)+1), gnuZlibOf(len(text)+1, text)},
	} {
		p := pieceOf(c.data, lim)
		src, err := p.Open()
		if err != nil {
			t.Fatal(c.name, err)
		}
		var wg sync.WaitGroup
		for i := range int64(8) {
			off := 100_000 * (i * 5 % 8)
			wg.Go(func() {
				if b, err := src.Bytes(off, 1000, nil); err != nil || !bytes.Equal(b, text[off:off+1000]) {
					t.Errorf("%s: part at %d: %v", c.name, off, err)
				}
			})
		}
		wg.Wait()
		if ready := src.(Gradual).Ready(); ready > 1<<20 {
			t.Errorf("%s: %d bytes were inflated, 701000 are needed", c.name, ready)
		}
		for range 2 {
			_, err := src.Bytes(src.Size(), 0, nil)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.err)
			}
		}
		if _, err := src.Bytes(0, 1000, nil); err != nil {
			t.Errorf("%s: before the damage: %v", c.name, err)
		}
		if b, err := p.Data(); (err == nil) != (c.err == "") || err == nil && !bytes.Equal(b, text) {
			t.Errorf("%s: all: %d bytes, %v", c.name, len(b), err)
		}
		p.Release()
		if disk, held := p.in.Disk.Left(), p.in.Held.Left(); disk != lim.DiskBytes(p.in.Size) || held != lim.HeldBytes(p.in.Size) {
			t.Errorf("%s: budgets of %d and %d after the release, want %d and %d", c.name, disk, held, lim.DiskBytes(p.in.Size), lim.HeldBytes(p.in.Size))
		}
	}
}
