package inflate

import (
	"bytes"
	stdzlib "compress/zlib"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// deflated compresses with the standard library.
func deflated(t testing.TB, data []byte, level int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := stdzlib.NewWriterLevel(&out, level)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(data)
	w.Close()
	return out.Bytes()
}

// samples returns data of several kinds: text, noise, runs, and matches of all distances.
func samples() map[string][]byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	var text, skewed bytes.Buffer
	for text.Len() < 300_000 {
		text.WriteString("_ZN4name")
		text.WriteString(strings.Repeat("x", rnd.IntN(40)))
		text.WriteByte(byte(rnd.Uint32()))
	}
	// Frequencies that fall by half give codes of up to 15 bits: tables of the second level.
	for skewed.Len() < 500_000 {
		v := 0
		for v < 200 && rnd.IntN(2) == 0 {
			v++
		}
		skewed.WriteByte(byte(v * 7))
	}
	var far bytes.Buffer
	for far.Len() < 400_000 {
		back := rnd.IntN(min(far.Len(), Window) + 1)
		from := far.Len() - back
		n := min(back, 3+rnd.IntN(300))
		far.Write(bytes.Clone(far.Bytes()[from : from+n]))
		far.Write(noise[far.Len()%1000 : far.Len()%1000+3])
	}
	return map[string][]byte{
		"empty": nil, "byte": {7}, "text": text.Bytes(), "noise": noise, "zeros": make([]byte, 1<<20),
		"skewed": skewed.Bytes(), "far": far.Bytes(), "pairs": bytes.Repeat([]byte("ab"), 50_000),
		"triples": bytes.Repeat([]byte("abcdefg"), 30_000),
	}
}

// all decompresses piece by piece, each of room bytes after the Window.
func all(r io.Reader, room int) (got []byte, err error) {
	z := NewReader(r)
	buf := make([]byte, Window+room)
	pos := 0
	for {
		end, err := z.Decode(buf, pos)
		got = append(got, buf[pos:end]...)
		if err != nil {
			return got, err
		}
		if pos = end; pos > Window {
			pos = copy(buf, buf[pos-Window:pos])
		}
	}
}

func TestDecode(t *testing.T) {
	for name, sample := range samples() {
		for _, level := range []int{0, 1, 6, 9, stdzlib.HuffmanOnly} {
			want, z := sample, deflated(t, sample, level)
			for _, room := range []int{1 << 20, 3000, 1} {
				if room == 1 {
					want = want[:min(len(want), 5000)] // each byte costs a copy of the window
					z = deflated(t, want, level)
				}
				if got, err := all(bytes.NewReader(z), room); err != io.EOF || !bytes.Equal(got, want) {
					t.Errorf("%s, level %d, pieces of %d: %d bytes, want %d: %v", name, level, room, len(got), len(want), err)
				}
			}
			if len(z) < 10_000 {
				if got, err := all(iotest.OneByteReader(bytes.NewReader(z)), 1000); err != io.EOF || !bytes.Equal(got, want) {
					t.Errorf("%s, level %d, byte by byte: %d bytes, want %d: %v", name, level, len(got), len(want), err)
				}
			}
		}
	}
}

func TestStreamsInARow(t *testing.T) {
	a, b := samples()["text"], samples()["skewed"]
	z := append(deflated(t, a, 6), deflated(t, b, 6)...)
	want := append(bytes.Clone(a), b...)
	for _, behind := range []string{"", "\x00\x00\x00", "x"} {
		got, err := all(strings.NewReader(string(z)+behind), 1<<20)
		if err != io.EOF || !bytes.Equal(got, want) {
			t.Errorf("with %q behind: %d bytes, want %d: %v", behind, len(got), len(want), err)
		}
	}
}

func TestDamage(t *testing.T) {
	want := samples()["text"]
	z := deflated(t, want, 6)
	flip := func(at int) []byte { b := bytes.Clone(z); b[at] ^= 0x10; return b }
	broken := errors.New("broken disk")
	for _, c := range []struct {
		name string
		in   io.Reader
		want error
	}{
		{"nothing", strings.NewReader(""), io.ErrUnexpectedEOF},
		{"no header", strings.NewReader("plain text"), ErrHeader},
		{"a dictionary", strings.NewReader("\x78\xbb"), ErrHeader},
		{"cut", bytes.NewReader(z[:len(z)/2]), io.ErrUnexpectedEOF},
		{"cut in the checksum", bytes.NewReader(z[:len(z)-1]), io.ErrUnexpectedEOF},
		{"checksum", bytes.NewReader(flip(len(z) - 1)), ErrChecksum},
		{"a reserved block", strings.NewReader("\x78\x9c\x07"), ErrData},
		{"a stored block with two lengths", strings.NewReader("\x78\x9c\x01\x05\x00\x05\x00hello"), ErrData},
		{"a match before the start", strings.NewReader("\x78\x9c\x63\x04\x22" + strings.Repeat("\x00", 32)), ErrData},
		{"read error", io.MultiReader(bytes.NewReader(z[:len(z)/2]), iotest.ErrReader(broken)), broken},
	} {
		if _, err := all(c.in, 1<<16); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// FuzzDecode compares with the standard library: the same bytes, and an error where it has one. Only
// what is after a stream is our own.
func FuzzDecode(f *testing.F) {
	for _, data := range samples() {
		f.Add(deflated(f, data[:min(len(data), 3000)], 6), uint16(100))
		f.Add(deflated(f, data[:min(len(data), 300)], stdzlib.HuffmanOnly), uint16(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, room uint16) {
		src := bytes.NewReader(in)
		std, stdErr := stdzlib.NewReader(src)
		var want []byte
		if stdErr == nil {
			want, stdErr = io.ReadAll(io.LimitReader(std, 1<<20))
		}
		if len(want) == 1<<20 || stdErr == nil && src.Len() > 0 {
			return
		}
		got, err := all(bytes.NewReader(in), int(room)+1)
		if (err == io.EOF) != (stdErr == nil) || !bytes.HasPrefix(got, want[:min(len(want), len(got))]) || stdErr == nil && len(got) != len(want) {
			t.Fatalf("%x: %d bytes, %v; want %d, %v", in, len(got), err, len(want), stdErr)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	data := samples()["far"]
	z := deflated(b, data, 6)
	b.SetBytes(int64(len(data)))
	out := make([]byte, len(data)+1)
	for b.Loop() {
		if _, err := NewReader(bytes.NewReader(z)).Decode(out, 0); err != io.EOF {
			b.Fatal(err)
		}
	}
}
