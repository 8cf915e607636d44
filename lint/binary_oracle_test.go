package lint

import (
	"bytes"
	"context"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/lint/internal/agree"
)

// lintBinary checks a text against a binary with the rules of the family.
func lintBinary(t testing.TB, text []byte, f *object.File, o Options) *Report {
	t.Helper()
	o.Binary = f
	if o.File == "" {
		o.File = "a.sym"
	}
	if o.Rules == nil {
		o.Rules = agree.Rules
	}
	r, err := Run(context.Background(), bytes.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func openELF(t testing.TB, path string) *object.File {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
