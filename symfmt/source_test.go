package symfmt

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/symtool/symtool/internal/testenv"
)

const plainText = "MODULE Linux x86 12 a\nFILE 0 x.c\nFUNC 10 10 0 f\n10 10 1 0\n"

func TestCompressedInput(t *testing.T) {
	text := []byte(plainText)
	twice := append(testenv.Gzip(t, text[:22]), testenv.Gzip(t, text[22:])...)
	tests := []struct {
		name, compression string
		data              []byte
	}{
		{"plain", "", text},
		{"gzip", "gzip", testenv.Gzip(t, text)},
		{"gzip of two members", "gzip", twice},
		{"zstd", "zstd", testenv.Zstd(t, text)},
		{"zstd of two frames", "zstd", append(testenv.Zstd(t, text[:22]), testenv.Zstd(t, text[22:])...)},
		{"gzip with a byte order mark", "gzip", testenv.Gzip(t, append([]byte("\xef\xbb\xbf"), text...))},
	}
	want := mustRead(t, text)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, report, err := read(iotest.OneByteReader(bytes.NewReader(tt.data)), ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !m.Equal(want) || report.Compression != tt.compression || report.Lines != 4 {
				t.Errorf("module %+v, report %+v", m, report)
			}
		})
	}
}

func TestDamagedCompression(t *testing.T) {
	text := []byte(plainText)
	for i := range 20_000 {
		text = append(text, strings.Repeat("10 10 1 0\n", i%3)...)
		text = append(text, "FILE "...)
		text = appendDec(text, uint32(i+1))
		text = append(text, " name\n"...)
	}
	for name, data := range map[string][]byte{"gzip": testenv.Gzip(t, text), "zstd": testenv.Zstd(t, text)} {
		t.Run(name, func(t *testing.T) {
			cut := data[:len(data)*2/3]
			_, _, err := read(bytes.NewReader(cut), ReadOptions{File: "a.sym.z"})
			if err == nil || !strings.HasPrefix(err.Error(), "a.sym.z: ") || !strings.Contains(err.Error(), name+" data: ") {
				t.Errorf("strict: error %v", err)
			}
			if name == "gzip" && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("strict: error %v, want an unexpected end", err)
			}
			m, report, err := read(bytes.NewReader(cut), ReadOptions{Tolerant: true})
			if name == "zstd" && err != nil {
				return // one block: nothing was decompressed
			}
			if err != nil || len(m.Files) < 100 {
				t.Fatalf("tolerant: module %v, error %v", m, err)
			}
			if n := len(report.Problems); n != 1 || report.Problems[0].Lost != "the rest of the file" {
				t.Errorf("problems %v, want one for the rest of the file", report.Problems)
			}
		})
	}
	t.Run("head", func(t *testing.T) {
		for _, data := range []string{"\x1f\x8b", "\x1f\x8b\x08", "\x28\xb5\x2f\xfd", "\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff"} {
			for _, tolerant := range []bool{false, true} {
				if _, _, err := read(strings.NewReader(data), ReadOptions{Tolerant: tolerant}); err == nil {
					t.Errorf("%q, tolerant %v: no error", data, tolerant)
				}
			}
		}
	})
}

// TestFailingFile pins that a file that cannot be read is an error for every
// reader, compressed or not.
func TestFailingFile(t *testing.T) {
	broken := errors.New("device is gone")
	for name, data := range map[string][]byte{"plain": []byte(plainText), "gzip": testenv.Gzip(t, []byte(plainText))[:40]} {
		in := io.MultiReader(bytes.NewReader(data), iotest.ErrReader(broken))
		_, _, err := read(in, ReadOptions{File: "a.sym", Tolerant: true})
		if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "a.sym: ") {
			t.Errorf("%s: error %v, want %v", name, err, broken)
		}
	}
	_, _, err := read(iotest.ErrReader(broken), ReadOptions{Tolerant: true})
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	_, _, err = read(stuck{}, ReadOptions{Tolerant: true})
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("error %v, want %v", err, io.ErrNoProgress)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestUTF16(t *testing.T) {
	encode := func(text string, high int) []byte {
		var b []byte
		for _, u := range utf16.Encode([]rune(text)) {
			pair := []byte{byte(u), byte(u >> 8)}
			b = append(b, pair[high], pair[1-high])
		}
		return b
	}
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"LE with mark", encode("\ufeff"+plainText, 0), "LE"},
		{"BE with mark", encode("\ufeff"+plainText, 1), "BE"},
		{"LE", encode(plainText, 0), "LE"},
		{"BE", encode(plainText, 1), "BE"},
		{"LE in gzip", testenv.Gzip(t, encode("\ufeff"+plainText, 0)), "LE"},
		{"LE, mark alone", []byte("\xff\xfe"), "LE"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, tolerant := range []bool{false, true} {
				_, _, err := read(bytes.NewReader(tt.data), ReadOptions{File: "a.sym", Tolerant: tolerant})
				want := "a.sym:1:1: text in UTF-16" + tt.want + ", want UTF-8: convert it, for example with iconv -f UTF-16" + tt.want + " -t UTF-8"
				if err == nil || err.Error() != want {
					t.Errorf("tolerant %v: error %v, want %s", tolerant, err, want)
				}
			}
		})
	}
}

// TestBombs checks that memory does not grow with the size of decompressed text, and
// that text of many times the compressed size is truncated, with the reason.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	const size = 64 << 20
	nonsense := strings.Repeat("xxxx "+strings.Repeat("y", 100)+"\n", 1000)
	var gz, zst bytes.Buffer
	gzw, _ := gzip.NewWriterLevel(&gz, gzip.BestSpeed)
	zw, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{gzw, zw} {
		if _, err := io.Copy(w, io.MultiReader(strings.NewReader(plainText), &repeated{text: nonsense, n: size})); err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	for name, data := range map[string][]byte{"gzip": gz.Bytes(), "zstd": zst.Bytes()} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			m, report, err := read(bytes.NewReader(data), ReadOptions{Tolerant: true})
			limit := int64(freeText + maxTextRatio*(len(data)+1))
			if err != nil || len(m.Funcs) != 1 || report.Bytes > limit || report.Bytes < freeText || report.Damage == nil || !strings.Contains(report.Damage.Error(), "the limit is 50 times as many plus 1 MB") {
				t.Fatalf("error %v, %d bytes, want at most %d, damage %v", err, report.Bytes, limit, report.Damage)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			t.Logf("%d bytes gave %d", len(data), report.Bytes)
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
				t.Errorf("%d bytes held after %d bytes of text", grown, report.Bytes)
			}
		})
	}
}

// TestZstdWindow pins that the frame header of a small file costs at most 32 MiB,
// and that a larger window is refused.
func TestZstdWindow(t *testing.T) {
	for _, windowLog := range []byte{17, 25, 26, 27, 31, 41} {
		// RFC 8878, 3.1.1.1: magic, descriptor 0 (a window descriptor follows),
		// window; then the text in a single raw block, marked as the last.
		data := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3}
		n := len(plainText)<<3 | 1
		data = append(data, byte(n), byte(n>>8), byte(n>>16))
		data = append(data, plainText...)
		before := residentBytes(t)
		m, _, err := read(bytes.NewReader(data), ReadOptions{})
		grown := residentBytes(t) - before
		if windowLog <= 25 && (err != nil || len(m.Funcs) != 1) {
			t.Errorf("window 2^%d: %v", windowLog, err)
		}
		if windowLog > 25 && err == nil {
			t.Errorf("window 2^%d: no error", windowLog)
		}
		if grown > min(int64(1)<<windowLog, 32<<20)+16<<20 {
			t.Errorf("window 2^%d: %d bytes used for %d bytes of input", windowLog, grown, len(data))
		}
	}
}

// residentBytes returns the resident size of the process.
func residentBytes(t *testing.T) int64 {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("no figure for resident memory: %v", err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(statm))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
