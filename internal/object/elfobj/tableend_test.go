package elfobj

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
)

// GNU ld and lld put the section headers at the end of a file; only the ELF header
// gives their offset, and a file without section headers has none.
func TestTableEnd(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(filepath.Dir(testenv.Input(t, "README.md")), "cpu-*.elf"))
	if err != nil || len(paths) < 10 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := NewFile(bytes.NewReader(data), int64(len(data)), path, object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		lim := object.DefaultLimits()
		lim.Image = true
		head := data[:min(len(data), 4096)]
		image, err := NewFile(bytes.NewReader(head), int64(len(head)), path, lim)
		if err != nil {
			t.Fatal(err)
		}
		if whole.TableEnd != uint64(len(data)) || image.TableEnd != whole.TableEnd {
			t.Errorf("%s: %d and, of its beginning, %d, the file has %d bytes", path, whole.TableEnd, image.TableEnd, len(data))
		}
		bare := bytes.Clone(data)
		at, n := 0x28, 8 // e_shoff
		if data[4] == 1 {
			at, n = 0x20, 4
		}
		clear(bare[at : at+n])
		lim.Image = true
		if f, err := NewFile(bytes.NewReader(bare), int64(len(bare)), path, lim); err != nil || f.TableEnd != 0 {
			t.Errorf("%s: without section headers %v", path, err)
		}
	}
}
