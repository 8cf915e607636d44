package xz

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"github.com/symtool/symtool/internal/testenv"
)

// pack compresses with a different library from the one that reads.
func pack(t testing.TB, data []byte, c xz.WriterConfig) []byte {
	t.Helper()
	return testenv.Packed(t, data, func(w io.Writer) (io.WriteCloser, error) { return c.NewWriter(w) })
}

func unpack(r io.Reader) ([]byte, error) {
	z, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return io.ReadAll(z)
}

// A block may not ask for more than 64 MiB of memory, whichever block it is.
func TestDictionary(t *testing.T) {
	for dict, want := range map[int]string{4096: "", 64 << 20: "", 96 << 20: "a dictionary of more than 67108864 bytes"} {
		data := pack(t, []byte("text"), xz.WriterConfig{DictCap: 4096})
		other := pack(t, []byte(" and more"), xz.WriterConfig{DictCap: dict})
		text, err := unpack(bytes.NewReader(append(data, other...)))
		switch {
		case want == "" && (err != nil || string(text) != "text and more"):
			t.Errorf("%d: %q, %v", dict, text, err)
		case want != "" && (err == nil || err.Error() != want || string(text) != "text"):
			t.Errorf("%d: %q, %v, want %s", dict, text, err, want)
		}
	}
}

// All blocks share the memory for their dictionaries.
func TestDictionaryShared(t *testing.T) {
	data := bytes.Repeat(pack(t, []byte("x"), xz.WriterConfig{DictCap: 1 << 20}), 3000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text, err := unpack(bytes.NewReader(data))
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; len(text) != 3000 || err != nil || used > 4<<20 {
		t.Errorf("%d bytes, %v; allocated %d bytes, want one dictionary of 1 MiB", len(text), err, used)
	}
}

// Many small files that ask for a large dictionary together take the memory of one.
func TestDictionaryOfFiles(t *testing.T) {
	data := pack(t, []byte("text"), xz.WriterConfig{DictCap: MaxDictionary})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		if text, err := unpack(bytes.NewReader(data)); err != nil || string(text) != "text" {
			t.Fatalf("%q, %v", text, err)
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 60*MaxDictionary { // the race detector drops some pooled readers
		t.Errorf("allocated %d bytes, want few dictionaries of %d", used, MaxDictionary)
	}
}

// Any change of a byte, under any check, is an error or changes nothing.
func TestChecks(t *testing.T) {
	for _, check := range []byte{xz.None, xz.CRC32, xz.CRC64, xz.SHA256} {
		c := xz.WriterConfig{CheckSum: check, NoCheckSum: check == xz.None, BlockSize: 1000, DictCap: lzma.MinDictCap}
		text := bytes.Repeat([]byte("some text, "), 200)
		data := pack(t, text, c)
		if got, err := unpack(bytes.NewReader(data)); err != nil || !bytes.Equal(got, text) {
			t.Errorf("check %d: %d bytes, %v", check, len(got), err)
		}
		for i := range data {
			bad := bytes.Clone(data)
			bad[i] ^= 4
			if got, err := unpack(bytes.NewReader(bad)); err == nil && check != xz.None && !bytes.Equal(got, text) {
				t.Errorf("check %d: byte %d changed: other contents, and no error", check, i)
			}
		}
	}
}

// Truncated data are reported as such.
func TestCut(t *testing.T) {
	data := pack(t, bytes.Repeat([]byte("some text, "), 200), xz.WriterConfig{BlockSize: 1000, DictCap: lzma.MinDictCap})
	for i := range data {
		if _, err := unpack(bytes.NewReader(data[:i])); err != io.ErrUnexpectedEOF {
			t.Errorf("cut at %d of %d: %v, want %v", i, len(data), err, io.ErrUnexpectedEOF)
		}
	}
}

// Streams may follow one another, with padding of four zeros, or many, after each (2.2).
func TestStreams(t *testing.T) {
	one := pack(t, []byte("text"), xz.WriterConfig{DictCap: 4096})
	for name, c := range map[string]struct{ between, after, want string }{
		"none":           {"", "", ""},
		"padding":        {"\x00\x00\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x00", ""},
		"three zeros":    {"\x00\x00\x00", "", "damaged"},
		"zeros at last":  {"", "\x00\x00", "damaged"},
		"something else": {"", "something else", "no header of xz"},
	} {
		data := bytes.Join([][]byte{one, []byte(c.between), one, []byte(c.after)}, nil)
		text, err := unpack(bytes.NewReader(data))
		switch {
		case c.want == "" && (err != nil || string(text) != "texttext"):
			t.Errorf("%s: %q, %v", name, text, err)
		case c.want != "" && (err == nil || err.Error() != c.want):
			t.Errorf("%s: %q, %v, want %s", name, text, err, c.want)
		}
	}
}

// Unsupported features in a stream's header are named.
func TestHeader(t *testing.T) {
	for head, want := range map[string]string{
		"7z\xbc\xaf\x27\x1c\x00\x00": "no header of xz",
		Magic + "\x00\x02":           "a kind of checksum that is not supported",
		Magic + "\x01\x01":           "a filter or an option that is not supported",
	} {
		data := append([]byte(head), 0, 0, 0, 0)
		sum := crc32.ChecksumIEEE(data[6:8])
		for i := range 4 {
			data[8+i] = byte(sum >> (8 * i))
		}
		if _, err := unpack(bytes.NewReader(data)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", head, err, want)
		}
	}
	if _, err := unpack(bytes.NewReader([]byte(Magic + "\x00\x01junk"))); err != errDamaged {
		t.Errorf("no checksum of the header: %v, want %v", err, errDamaged)
	}
}

// An error of the underlying reader is returned unchanged.
func TestReadError(t *testing.T) {
	data := pack(t, []byte("text"), xz.WriterConfig{DictCap: 4096})
	want := errors.Join(errors.New("no disk"), errors.New("no network"))
	for _, n := range []int{0, 5, 12, 30, len(data)} {
		r := io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(want))
		if _, err := unpack(r); err != want {
			t.Errorf("after %d bytes: %v, want %v", n, err, want)
		}
	}
}

// Any data give an error, or what another library reads.
func FuzzReader(f *testing.F) {
	for _, text := range []string{"", "text and text and text", string(make([]byte, 1000))} {
		f.Add(pack(f, []byte(text), xz.WriterConfig{DictCap: lzma.MinDictCap, BlockSize: 500}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		z, err := NewReader(bytes.NewReader(data))
		if err != nil {
			return
		}
		got, err := io.ReadAll(io.LimitReader(z, 1<<24))
		if err != nil || len(got) == 1<<24 {
			return
		}
		r, err := xz.NewReader(bytes.NewReader(data))
		if err != nil {
			return // the other library does not support it
		}
		if want, err := io.ReadAll(io.LimitReader(r, 1<<24)); err == nil && !bytes.Equal(got, want) {
			t.Errorf("got %d bytes, want %d", len(got), len(want))
		}
	})
}
