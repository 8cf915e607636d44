package lint

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/symfmt"
)

// examples returns the files of all rules' documentation.
func examples() (texts []string) {
	for _, rule := range Rules() {
		if rule.Bad != "" {
			texts = append(texts, rule.Bad, rule.Good)
		}
	}
	return texts
}

// Any bytes are linted without a panic. The findings are sorted by position, and the same the
// second time.
func FuzzLint(f *testing.F) {
	for _, text := range examples() {
		f.Add([]byte(text))
	}
	f.Add([]byte(check.Head + "FUNC ffffffffffffffff 1 0 f\nffffffffffffffff 1 1 4294967295\nPUBLIC ffffffffffffffff 0 g\n" +
		"INLINE 4294967295 1 4294967295 4294967295 0 ffffffffffffffff\nSTACK CFI INIT ffffffffffffffff 1 .cfa: $rsp .ra: $rsp\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		o := Options{File: "a.sym", MaxPerRule: 20, MinCFI: 99, MinLines: 50}
		r, err := Run(context.Background(), symfmt.TextRecords(bytes.NewReader(data)), o)
		if err != nil {
			return // a file that cannot be read, such as gzip without a header
		}
		for i := range r.Findings {
			x := &r.Findings[i]
			if x.Rule == nil || x.Message == "" || x.Line < 0 || x.Line > r.Lines+1 || x.Col < 0 {
				t.Errorf("finding %+v of a text of %d lines", x, r.Lines)
			}
			if !isPrintableText(x.Message) {
				t.Errorf("%s: control characters or invalid UTF-8 in %q", x.Rule.ID, x.Message)
			}
		}
		if !slices.IsSortedFunc(r.Findings, func(a, b finding.Finding) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Rule.ID, b.Rule.ID))
		}) {
			t.Error("findings are not in order")
		}
		again, err := Run(context.Background(), symfmt.TextRecords(bytes.NewReader(data)), o)
		if err != nil || !slices.Equal(r.Findings, again.Findings) {
			t.Error("the second report differs", err)
		}
	})
}

// isPrintableText reports whether a message is safe to print on a terminal.
func isPrintableText(s string) bool {
	for _, c := range s {
		if c < 0x20 || 0x7f <= c && c < 0xa0 {
			return false
		}
	}
	return utf8.ValidString(s)
}
