package report

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symdiff"
)

// TestModulesAsTexts compares modules, and the texts of the same modules: every form of the result
// must be the same.
func TestModulesAsTexts(t *testing.T) {
	changes := 0
	for _, pair := range rawPairs {
		var texts, modules [2]*symdiff.Source
		for i, name := range pair {
			text, err := os.ReadFile(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", name))
			if err != nil {
				t.Fatal(err)
			}
			r, err := symfmt.Read(t.Context(), bytes.NewReader(text), symfmt.ReadOptions{Tolerant: true})
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := symfmt.Write(&b, r.Module, symfmt.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			texts[i] = symdiff.NewSource(bytes.NewReader(b.Bytes()), int64(b.Len()), name)
			modules[i] = symdiff.NewModuleSource(r.Module, name, nil)
		}
		of := func(s [2]*symdiff.Source, form string) []byte {
			r, err := symdiff.Compare(context.Background(), s[0], s[1], symdiff.Options{})
			if err != nil {
				t.Fatal(err)
			}
			changes += len(r.Changes)
			return written(t, form, nil, []*Module{twoFiles(r)}, Options{Detail: true})
		}
		for form := range Forms {
			if got, want := of(modules, form), of(texts, form); !bytes.Equal(got, want) {
				t.Errorf("%v: %s of modules is\n%s\nof their texts\n%s", pair, form, got, want)
			}
		}
	}
	if changes == 0 {
		t.Error("nothing was compared")
	}
}
