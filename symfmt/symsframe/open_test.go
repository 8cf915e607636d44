package symsframe

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/internal/testenv"
)

// segmentType is PT_GNU_SFRAME.
const segmentType elf.ProgType = 0x6474e554

func openFixture(t *testing.T, name string) *object.File {
	t.Helper()
	file, err := elfobj.Open(testenv.Input(t, name+".elf"), object.DefaultLimits())
	f := file.Object()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestOpen(t *testing.T) {
	for _, name := range []string{"sframe-text-v1", "sframe-text-v1-arm64", "sframe-text-v2", "sframe-text-v3", "sframe-text-segment", "sframe-text-empty"} {
		testenv.Golden(t).Assert(t, name+".txt", []byte(printed(t, openFixture(t, name))))
	}
}

func TestOpenNone(t *testing.T) {
	for _, name := range []string{"gcc-dwarf5", "object-gcc4-gz"} {
		if s, err := Open(openFixture(t, name)); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %v, %v; want %v", name, s, err, ErrNone)
		}
	}
}

// What the linkers of the shared files put into PT_GNU_SFRAME is found without
// section headers, too. Zeros after the section, or what ld left there of sections
// that it merged or rejected, do not count as damage.
func TestOpenSegments(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(testenv.Shared(t, "data", "sframe", "elf"), "*"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, path := range paths {
		image, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		with := openImage(t, path, image)
		if !slices.ContainsFunc(elfobj.Of(with).Segments, func(p elfobj.Segment) bool { return p.Type == segmentType && p.FileSize > 0 }) {
			continue
		}
		clear(image[0x28:0x30]) // e_shoff
		clear(image[0x3c:0x40]) // e_shnum, e_shstrndx
		want, got := printed(t, with), printed(t, openImage(t, path, image))
		if got != strings.Replace(want, "section .sframe:", "section PT_GNU_SFRAME:", 1) {
			t.Errorf("%s: without section headers:\n%s\nwith:\n%s", path, got, want)
		}
		compared++
	}
	if compared < 20 {
		t.Errorf("%d files with a segment", compared)
	}
}

func openImage(t *testing.T, path string, image []byte) *object.File {
	t.Helper()
	f, err := elfobj.NewFile(bytes.NewReader(bytes.Clone(image)), int64(len(image)), path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f.Object()
}

func printed(t *testing.T, f *object.File) string {
	t.Helper()
	s, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Problems) > 0 {
		t.Fatal(f.Path, s.Problems)
	}
	var b strings.Builder
	if err := s.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
