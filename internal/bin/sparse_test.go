package bin

import (
	"bytes"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

// TestCopySparse checks that zeros take no disk space, and that errors of the source are distinguished from
// those of the file.
func TestCopySparse(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, broken, err := CopySparse(f, io.MultiReader(strings.NewReader("part"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if n != 4 || broken != io.ErrUnexpectedEOF || err != nil {
		t.Errorf("of a reader that fails: %d bytes, %v, %v; want 4 and its error", n, broken, err)
	}
	data := append(bytes.Repeat([]byte{1}, 100), make([]byte, 8<<20)...)
	data = append(data, 2)
	n, broken, err = CopySparse(f, bytes.NewReader(data))
	if n != int64(len(data)) || broken != nil || err != nil {
		t.Fatal(n, broken, err)
	}
	got, err := io.ReadAll(io.NewSectionReader(f, 0, n+1))
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, want %d: %v", len(got), len(data), err)
	}
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if disk, ok := st.Sys().(*syscall.Stat_t); ok && disk.Blocks*512 > 1<<20 {
		t.Errorf("%d bytes on the disk", disk.Blocks*512)
	}
}
