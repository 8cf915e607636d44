package unpack

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/ulikunitz/xz/lzma"
)

// lzma2Texts are contents that take each way through the decoder: literals, matches near and far, long ones, chunks that
// are not compressed, more than a window, nothing.
func lzma2Texts() map[string][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	words := make([]byte, 0, 3<<20)
	for len(words) < cap(words)-1000 {
		at := random.IntN(len(noise) - 100)
		words = append(words, noise[at:at+3+random.IntN(90)]...)
		words = append(words, "the same and "...)
	}
	return map[string][]byte{"": nil, "noise": noise, "words": words, "zeros": make([]byte, 3<<20), "byte": {'x'}}
}

// What package lzma writes, with any properties and dictionary, is read.
func TestLZMA2(t *testing.T) {
	for name, text := range lzma2Texts() {
		for _, p := range []lzma.Properties{{LC: 3, LP: 0, PB: 2}, {LC: 0, LP: 4, PB: 4}, {LC: 4, LP: 0, PB: 0}} {
			for _, dict := range []int{1 << 16, 1 << 20} {
				if len(text) > 1<<20 && (dict > 1<<16 || p.LC != 3) {
					continue
				}
				var b bytes.Buffer
				w, err := lzma.Writer2Config{Properties: &p, DictCap: dict, BufSize: 1 << 16}.NewWriter2(&b)
				if err == nil {
					_, err = w.Write(text)
				}
				if err == nil {
					err = w.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
				size := int64(b.Len())
				z := newLZMA2Reader(bufio.NewReader(&b), dict)
				got, err := io.ReadAll(z)
				if err != nil || !bytes.Equal(got, text) {
					t.Errorf("%q, %+v, dictionary of %d: %d bytes of %d, %v", name, p, dict, len(got), len(text), err)
				}
				if z.n != size {
					t.Errorf("%q: read %d bytes of %d", name, z.n, size)
				}
				if most := dict + dict/2 + maxUnpacked; cap(z.window) > most {
					t.Errorf("%q, dictionary of %d: a window of %d bytes, want at most %d", name, dict, cap(z.window), most)
				}
			}
		}
	}
}

// A large dictionary takes memory only if there are contents for it.
func TestLZMA2Window(t *testing.T) {
	z := newLZMA2Reader(bufio.NewReader(bytes.NewReader([]byte{chunkPlainReset, 0, 1, 'a', 'b', chunkEnd})), maxXZDictionary)
	if got, err := io.ReadAll(z); err != nil || string(got) != "ab" || cap(z.window) > 1000 {
		t.Errorf("got %q, %v, a window of %d bytes", got, err, cap(z.window))
	}
}

// Chunks must begin with one that resets the dictionary, and need properties before their state.
func TestLZMA2Order(t *testing.T) {
	for name, data := range map[string]string{
		"no reset":                "\x02\x00\x00a\x00",
		"a reserved control":      "\x03\x00\x00a\x00",
		"no properties":           "\x01\x00\x00a\x80\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00",
		"reset, no properties":    "\x01\x00\x00a\xa0\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00",
		"properties over 224":     "\xe0\x00\x00\x00\x04\xe1\x00\x00\x00\x00\x00\x00",
		"lc+lp over 4":            "\xe0\x00\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00",
		"a chunk of four bytes":   "\xe0\x00\x00\x00\x03\x5d\x00\x00\x00\x00\x00",
		"the first byte not 0":    "\xe0\x00\x00\x00\x04\x5d\x01\x00\x00\x00\x00\x00",
		"no end":                  "\x01\x00\x00a",
		"cut in a header":         "\x01\x00",
		"cut in a packed chunk":   "\xe0\x00\x00\x00\x04\x5d\x00\x00",
		"a chunk with too much":   "\xe0\x00\x00\x00\x0b\x5d\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"a distance before it":    "\xe0\x00\x07\x00\x0b\x5d\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00",
		"more than the chunk has": "\xe0\xff\xff\x00\x04\x5d\x00\x12\x34\x56\x78\x00",
	} {
		if got, err := io.ReadAll(newLZMA2Reader(bufio.NewReader(bytes.NewReader([]byte(data))), 1<<20)); err == nil {
			t.Errorf("%s: got %q, want an error", name, got)
		}
	}
}

// Any data give an error, or what package lzma reads.
func FuzzLZMA2(f *testing.F) {
	for _, text := range []string{"", "text and text and text", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"} {
		var b bytes.Buffer
		w, err := lzma.Writer2Config{DictCap: 4096}.NewWriter2(&b)
		if err != nil {
			f.Fatal(err)
		}
		io.WriteString(w, text)
		w.Close()
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := io.ReadAll(io.LimitReader(newLZMA2Reader(bufio.NewReader(bytes.NewReader(data)), 4096), 1<<24))
		if err != nil || len(got) == 1<<24 {
			return
		}
		r, err := lzma.Reader2Config{DictCap: 4096}.NewReader2(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if want, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
			t.Errorf("got %d bytes, want %d, %v", len(got), len(want), err)
		}
	})
}
