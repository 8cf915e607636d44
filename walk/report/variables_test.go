package report

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// Values are written until a limit is reached, in text and in JSON.
func TestTooManyValues(t *testing.T) {
	s := walks.BinarySources(t, testenv.Input(t, "walk-sources.elf"))
	r := walks.Dump(t, testenv.Input(t, "walk-sources.core.gz"), s, walk.Config{})
	for _, left := range []int{1 << 20, 300} {
		variables := func() *Variables {
			v := NewVariables(r.Variables(context.Background()), VariableOptions{Locals: true})
			v.left = left
			return v
		}
		var text, doc bytes.Buffer
		if err := WriteText(&text, r, TextOptions{Variables: variables()}); err != nil {
			t.Fatal(err)
		}
		if err := NewDocument(r, DocumentOptions{Dump: "dump", Variables: variables()}).Write(&doc, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		for what, got := range map[string]string{"text": text.String(), "json": strings.ReplaceAll(doc.String(), "\\u003c", "<")} {
			if !strings.Contains(got, "depth") || strings.Contains(got, "not shown: there are too many values") != (left == 300) {
				t.Errorf("%s, for %d bytes: %s", what, left, got)
			}
		}
	}
}
