package elfobj

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// mappedFile writes a file whose section 1 has size bytes of text from 0x1001 on,
// and opens it.
func mappedFile(t *testing.T, size int) (string, *Section, []byte) {
	t.Helper()
	if !bin.CanMap {
		t.Skip("this system maps no files")
	}
	text := bytes.Repeat([]byte("symbols\n"), size/8)
	path := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(path, append(make([]byte, 0x1001), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	f := &File{Path: path, Size: int64(0x1001 + len(text)), r: r, lim: object.DefaultLimits()}
	f.held.Set(f.lim.HeldBytes(f.Size))
	s := newSection(f, 1, elf.SectionHeader{Name: ".debug_str", Type: elf.SHT_PROGBITS, Offset: 0x1001, FileSize: uint64(len(text))})
	s.size = int64(len(text))
	return path, s, text
}

// A large section is mapped: it has the right bytes, before and after Drop, and
// takes nothing of the limit on memory. A small one is read.
func TestMap(t *testing.T) {
	for _, c := range []struct {
		size   int
		mapped bool
	}{{mapOver + 8, true}, {mapOver - 8, false}} {
		_, s, text := mappedFile(t, c.size)
		before := s.file.held.Left()
		for range 2 {
			got, err := s.Map()
			if err != nil || !bytes.Equal(got, text) {
				t.Fatalf("%d bytes: other bytes, or %v", c.size, err)
			}
			s.Drop()
		}
		if mapped := s.mapped != nil; mapped != c.mapped {
			t.Errorf("%d bytes: mapped is %v", c.size, mapped)
		}
		if taken := before - s.file.held.Left(); (taken == 0) != c.mapped {
			t.Errorf("%d bytes: %d of the limit taken", c.size, taken)
		}
		s.Release()
		if s.mapped != nil {
			t.Errorf("%d bytes: mapped after Release", c.size)
		}
	}
}

// A file that shrinks gives a panic that can be recovered from, not a signal.
func TestMapOfFileThatShrinks(t *testing.T) {
	path, s, _ := mappedFile(t, 2*mapOver)
	data, err := s.Map()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	if err := os.Truncate(path, 0x2000); err != nil {
		t.Fatal(err)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	t.Log(data[len(data)-1])
}
