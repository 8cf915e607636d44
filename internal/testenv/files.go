package testenv

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// WriteFiles writes path, contents, path, contents... below a new folder.
func WriteFiles(t testing.TB, files ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i := 0; i < len(files); i += 2 {
		writeFile(t, filepath.Join(dir, files[i]), []byte(files[i+1]), 0o666)
	}
	return dir
}

// Copy copies a file into a folder, which it makes, and returns its path there.
func Copy(t testing.TB, from string, to ...string) string {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(to...)
	writeFile(t, path, data, 0o777)
	return path
}

// ReadFile returns the contents of a file.
func ReadFile(t testing.TB, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// WriteFile writes a file, and makes its folder.
func WriteFile[T string | []byte](t testing.TB, path string, data T) {
	t.Helper()
	writeFile(t, path, []byte(data), 0o666)
}

func writeFile(t testing.TB, path string, data []byte, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, mode); err != nil {
		t.Fatal(err)
	}
}

// Gzip returns a text compressed with gzip.
func Gzip[T string | []byte](t testing.TB, text T) T {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return T(b.Bytes())
}

// Zstd returns a text compressed with zstd.
func Zstd[T string | []byte](t testing.TB, text T) T {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return T(z.EncodeAll([]byte(text), nil))
}

// Packed returns data as a compressor writes it.
func Packed(t testing.TB, data []byte, compressor func(io.Writer) (io.WriteCloser, error)) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := compressor(&b)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Gunzip returns the contents of a file that is compressed with gzip.
func Gunzip(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return data
}

// PlainInput returns the contents of an Input, unpacked if its name ends in .gz.
func PlainInput(t testing.TB, name string) []byte {
	t.Helper()
	if strings.HasSuffix(name, ".gz") {
		return Gunzip(t, Input(t, name))
	}
	return ReadInput(t, name)
}

// Unpacked returns path if the file exists, otherwise the path of a copy of the contents of
// path.gz, under the file's own name.
func Unpacked(t testing.TB, path string) string {
	t.Helper()
	if _, err := os.Stat(path); err == nil {
		return path
	}
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	writeFile(t, to, Gunzip(t, path+".gz"), 0o666)
	return to
}

// SymbolFile reads a symbol file, without the notes that a golden file has after it, which begin
// with "# ".
func SymbolFile(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if i := bytes.Index(text, []byte("\n# ")); i >= 0 {
		text = text[:i+1]
	}
	return text
}

// DamagedGzip returns text compressed by gzip, with a checksum that is wrong.
func DamagedGzip(t testing.TB, text string) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	data := packed.Bytes()
	data[len(data)-8]++ // the checksum and the size of text are at the end
	return data
}
