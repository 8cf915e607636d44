package lint

import (
	"bytes"
	"context"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/rules/binary"
	"github.com/symtool/symtool/symfmt"
)

// lintBinary checks a text against a binary with the rules of the family.
func lintBinary(t testing.TB, text []byte, f *object.File, o Options) *finding.Report {
	t.Helper()
	return passOfBinary(t, text, f, o).Result
}

// passOfBinary is like lintBinary, and returns the pass with the state of the rules.
func passOfBinary(t testing.TB, text []byte, f *object.File, o Options) *check.Pass {
	t.Helper()
	o.Binary = f
	if o.File == "" {
		o.File = "a.sym"
	}
	if o.Rules == nil {
		for _, r := range binary.Rules {
			o.Rules = append(o.Rules, r.Rule)
		}
	}
	p, err := run(context.Background(), symfmt.TextRecords(bytes.NewReader(text)), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
