package store

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzAdd adds any bytes: a file that is added is complete, at its place, and below the store.
func FuzzAdd(f *testing.F) {
	f.Add([]byte("MODULE Linux x86_64 AB0 a\nPUBLIC 10 0 f\n"))
	f.Add([]byte("MODULE Linux x86_64 AB0 ../../a\nFUNC 10 1 0 f\n10 1 1 0\n"))
	f.Add([]byte("MODULE windows x86 AB0 C:\\x\\a.pdb\nSTACK CFI INIT 0 1 .cfa: $esp\n"))
	f.Add([]byte("MODULE Linux x86_64 AB0 a\nPUBLIC 10 0 f"))
	for _, c := range Compressions {
		var b bytes.Buffer
		z, _ := c.Writer(&b)
		_, _ = z.Write([]byte("MODULE Linux x86_64 AB0 a\nPUBLIC 10 0 f\n"))
		z.Close()
		f.Add(b.Bytes())
		f.Add(b.Bytes()[:b.Len()-3])
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		above := t.TempDir()
		s, err := Create(filepath.Join(above, "store"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		a, err := s.Add(bytes.NewReader(in), AddOptions{})
		files := 0
		_ = filepath.WalkDir(above, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				t.Error(err)
			} else if !d.IsDir() {
				files++
			}
			return nil
		})
		if err != nil {
			if files > 0 {
				t.Errorf("%v, and %d files", err, files)
			}
			return
		}
		if files != 1 || strings.Count(a.Path, string(filepath.Separator)) != 2 {
			t.Errorf("%d files, %q", files, a.Path)
		}
		if all := findings(t, s.Dir); len(all) > 0 {
			t.Errorf("%q", all)
		}
		again, err := s.Add(bytes.NewReader(in), AddOptions{Compression: &Compressions[0]})
		if err != nil || again.Outcome != Same || again.Path != a.Path {
			t.Errorf("again: %v, %v", again, err)
		}
		r, err := os.ReadFile(s.Path(a.Path))
		if err != nil {
			t.Fatal(err)
		}
		if same, err := sameBytes(text(in), bytes.NewReader(r)); err != nil || !same {
			t.Error("the text differs", err)
		}
	})
}
