package dumpfile

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"

	"github.com/symtool/symtool/internal/testenv"
)

func packXZ(t testing.TB, data []byte, c xz.WriterConfig) []byte {
	t.Helper()
	return testenv.Packed(t, data, func(w io.Writer) (io.WriteCloser, error) { return c.NewWriter(w) })
}

func packLZ4(t testing.TB, data []byte) []byte {
	t.Helper()
	return testenv.Packed(t, data, func(w io.Writer) (io.WriteCloser, error) {
		z := lz4.NewWriter(w)
		return z, z.Apply(lz4.BlockSizeOption(lz4.Block64Kb))
	})
}

// packed returns data in each compression, by its name.
func packed(t testing.TB, data []byte) map[string][]byte {
	t.Helper()
	return map[string][]byte{"gzip": testenv.Gzip(t, data), "zstd": testenv.Zstd(t, data),
		"xz": packXZ(t, data, xz.WriterConfig{DictCap: 1 << 16}), "lz4": packLZ4(t, data)}
}

// A dump may be compressed, also in several parts one after another, as programs append them.
func TestPackings(t *testing.T) {
	data := testenv.ReadInput(t, "mini-linux.dmp")
	front, back := packed(t, data[:1000]), packed(t, data[1000:])
	for name, whole := range packed(t, data) {
		for _, contents := range [][]byte{whole, append(front[name], back[name]...)} {
			path := writeFile(t, "dump", contents)
			if FormatOf(path) != Minidump {
				t.Errorf("%s: format %q", name, FormatOf(path))
			}
			d, err := Open(t.Context(), path, Options{})
			if err != nil || len(d.Problems) > 0 || d.Process.ID != 42 {
				t.Fatal(name, err, d)
			}
			d.Close()
		}
	}
}

// Compressed data that end in the middle give what came before and a problem; unreadable data give an error; and data
// that are too long give the error about the limit. Nothing panics.
func TestPackedDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	data := testenv.ReadInput(t, "mini-linux.dmp")
	long := append(bytes.Clone(data), make([]byte, 1<<20)...)
	rand.NewChaCha8([32]byte{}).Read(long[len(data):])
	for name, whole := range packed(t, long) {
		path := writeFile(t, "dump", whole[:len(whole)*3/4])
		d, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		last := d.Problems[len(d.Problems)-1].Err.Error()
		if want := path + ": " + name + " data: unexpected EOF"; d.Process.ID != 42 || last != want {
			t.Errorf("%s: %s, want %s", name, last, want)
		}
		d.Close()
		_, err = Open(t.Context(), writeFile(t, "dump", whole), Options{MaxUnpacked: 1 << 19})
		if want := name + " data: more than 524288 bytes when unpacked"; err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		for i := 0; i < len(whole) && i < 80; i++ {
			bad := bytes.Clone(whole[:min(len(whole), 2000)])
			bad[i] ^= 0xff
			if d, err := Open(t.Context(), writeFile(t, "dump", bad), Options{}); err == nil {
				d.Close()
			}
		}
	}
}

// Damage to compressed data gives an error or a problem, from a file and from a pipe, and costs no more than the limit.
func FuzzPacked(f *testing.F) {
	data := testenv.ReadInput(f, "mini-linux.dmp")
	for _, whole := range packed(f, data) {
		f.Add(whole)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := writeFile(t, "dump", data)
		o := Options{MaxUnpacked: 1 << 20, TempDir: t.TempDir()}
		if d, err := Open(t.Context(), path, o); err == nil {
			if d.Size > o.MaxUnpacked && int64(len(data)) < o.MaxUnpacked {
				t.Errorf("%d bytes became %d", len(data), d.Size)
			}
			d.Close()
		}
		if d, err := ReadFrom(t.Context(), bytes.NewReader(data), o); err == nil {
			d.Close()
		}
	})
}
