package object

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/symtool/symtool/internal/bin"
)

// mappedFile writes a file that has size bytes of text from offset 0x1001 on, and
// opens it.
func mappedFile(t *testing.T, size int) (string, *Piece, []byte) {
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
	in := NewInput(r, int64(0x1001+len(text)), path, DefaultLimits())
	return path, NewPiece(in, ".debug_str", 0x1001, uint64(len(text))), text
}

// Large contents are mapped: they have the right bytes, before and after Drop, and do
// not count towards the memory limit. Small contents are read.
func TestMap(t *testing.T) {
	for _, c := range []struct {
		size   int
		mapped bool
	}{{dropOver + 8, true}, {mapOver + 8, true}, {mapOver - 8, false}} {
		_, p, text := mappedFile(t, c.size)
		before := p.in.Held.Left()
		for range 2 {
			got, err := p.Map()
			if err != nil || !bytes.Equal(got, text) {
				t.Fatalf("%d bytes: contents differ, or error %v", c.size, err)
			}
			p.Drop()
		}
		if mapped := p.mapped != nil; mapped != c.mapped {
			t.Errorf("%d bytes: mapped is %v", c.size, mapped)
		}
		if taken := before - p.in.Held.Left(); (taken == 0) != c.mapped {
			t.Errorf("%d bytes: %d of the limit taken", c.size, taken)
		}
		p.Release()
		if p.mapped != nil {
			t.Errorf("%d bytes: mapped after Release", c.size)
		}
	}
}

// Sources of large contents have a view if the contents are stored uncompressed.
func TestViewOf(t *testing.T) {
	for _, c := range []struct {
		name   string
		size   int
		change func(p *Piece)
		mapped bool
	}{
		{"large", mapOver + 8, func(*Piece) {}, true},
		{"small", mapOver - 8, func(*Piece) {}, false},
		{"with a Fixer", mapOver + 8, func(p *Piece) { p.Fixer = nopFixer{} }, false},
		{"of a program without files", mapOver + 8, func(p *Piece) { p.in.Reader = Memory(make([]byte, mapOver+0x1009)) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, p, text := mappedFile(t, c.size)
			c.change(p)
			src, err := p.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer p.Release()
			view := ViewOf(src)
			if !c.mapped {
				if view != nil {
					t.Errorf("a view of %d bytes, want none", len(view))
				}
				return
			}
			if !bytes.Equal(view, text) {
				t.Errorf("a view of %d bytes, which are not the contents", len(view))
			}
		})
	}
}

type nopFixer struct{}

func (nopFixer) Prepare() error                     { return nil }
func (nopFixer) Apply([]byte, uint64, Source) error { return nil }

// A file that shrinks causes a panic that can be recovered, not a signal.
func TestMapOfFileThatShrinks(t *testing.T) {
	path, p, _ := mappedFile(t, 2*mapOver)
	data, err := p.Map()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
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
