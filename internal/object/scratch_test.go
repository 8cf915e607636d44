package object

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/bin"
)

// The results of Alloc do not overlap, are zeroed, and keep what is written to them
// after Drop.
func TestScratch(t *testing.T) {
	present := t.TempDir()
	for _, dir := range []string{present, filepath.Join(present, "missing")} {
		s := &Scratch{Dir: dir}
		var all [][]byte
		for i := range 40 {
			b := s.Alloc([]int{256 << 10, 3, 70_000, scratchPiece}[i%4])
			if len(bytes.Trim(b, "\x00")) > 0 {
				t.Fatalf("%s: piece %d is not zero", dir, i)
			}
			for k := range b {
				b[k] = byte(i + 1)
			}
			all = append(all, b)
			s.Drop()
		}
		for i, b := range all {
			if n := bytes.Count(b, []byte{byte(i + 1)}); n != len(b) || cap(b) != len(b) {
				t.Errorf("%s: piece %d of %d bytes has %d of its own", dir, i, len(b), n)
			}
		}
		if mapped := len(s.mapped) > 0; mapped != (bin.CanMap && dir == present) {
			t.Errorf("%s: %d pieces mapped", dir, len(s.mapped))
		}
		if entries, _ := os.ReadDir(dir); len(entries) > 0 {
			t.Errorf("%s: %v is left", dir, entries)
		}
		for range 2 {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
