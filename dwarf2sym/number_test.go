package dwarf2sym

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// A dump is canonical: putting it into canonical order changes no byte.
func TestDumpIsCanonical(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "input", "*.elf"))
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".elf"), func(t *testing.T) {
			f, err := objfile.Open(path, object.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			result, err := Read(context.Background(), f, Options{Jobs: 2, Demangle: true})
			if err != nil {
				t.Fatal(err)
			}
			m := result.Module
			var before, after bytes.Buffer
			if err := symfmt.Write(&before, m, symfmt.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			m.Canonicalize()
			if err := symfmt.Write(&after, m, symfmt.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(before.Bytes(), after.Bytes()) {
				t.Errorf("as dumped:\n%s\ncanonical:\n%s", before.Bytes(), after.Bytes())
			}
		})
	}
}
