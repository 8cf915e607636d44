package symdiff

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// FuzzCompare compares any two texts: a file does not differ from itself, two files
// that do not differ also do not differ in the other direction, and every change can
// be described in full.
func FuzzCompare(f *testing.F) {
	var texts [][]byte
	for _, path := range realFiles(f) {
		if filepath.Base(filepath.Dir(path)) == "dwarf2sym" {
			texts = append(texts, testenv.SymbolFile(f, path))
		}
	}
	for i, text := range texts {
		if len(text) < 3000 {
			f.Add(text, texts[(i+1)%len(texts)][:min(3000, len(texts[(i+1)%len(texts)]))])
		}
	}
	for _, c := range cases {
		f.Add([]byte(header+c.old), []byte(header+c.new))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if r := fuzzed(t, a, a); r != nil && !r.Same() {
			t.Errorf("a file differs from itself: %q", listed(r))
		}
		x, y := fuzzed(t, a, b), fuzzed(t, b, a)
		if x != nil {
			describe(t, x)
		}
		if (x == nil) != (y == nil) {
			t.Error("an error in one direction only")
		}
		if x != nil && x.Same() != y.Same() {
			t.Errorf("%q, and the other way round %q", listed(x), listed(y))
		}
	})
}

// describe reads every change in full.
func describe(t *testing.T, r *Result) {
	d := r.Details()
	for _, c := range r.Changes {
		if _, err := d.Detail(c); err != nil {
			t.Errorf("%v: %v", c, err)
		}
		if _, err := d.Records(c); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// fuzzed compares two texts. It returns nil if one is not a symbol file.
func fuzzed(t *testing.T, a, b []byte) *Result {
	r, err := Compare(context.Background(), NewSource(bytes.NewReader(a), int64(len(a)), "a"), NewSource(bytes.NewReader(b), int64(len(b)), "b"), Options{Jobs: 1})
	if err != nil {
		return nil
	}
	for k, n := range r.Counts {
		if n.Same < 0 || n.Same > n.After || n.By[Added]-n.By[Removed] != n.After-n.Before && !becomes(r) {
			t.Errorf("%s: %+v", k, *n)
		}
	}
	for _, c := range [...]Coverage{r.Before, r.After} {
		if c.CFI > c.Bytes || c.Lines > c.Bytes {
			t.Errorf("%+v", c)
		}
	}
	return r
}

// becomes reports whether changes are left out because they are reported elsewhere: then
// counts do not add up.
func becomes(r *Result) bool {
	n := 0
	for _, c := range r.Changes {
		n += int(flag(c.What&(BecamePublic|BecameFunc) != 0))
	}
	return n > 0 || len(r.Old.pieces)+len(r.New.pieces) > 0 || len(r.Old.Wins)+len(r.New.Wins) > 0
}
