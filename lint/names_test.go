package lint

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/symfmt"
)

// The position of a finding is the name's, even after "m" and many blanks.
func TestNamePlaces(t *testing.T) {
	r := namesOnly(t, "a.sym", check.Head+"FUNC m 10 1 0 a\x01\nFUNC   20 1  0  b\x01\nPUBLIC m 30 0 c\x01\nPUBLIC 40 0 d\x01\nFILE 1 /e\x01\nINLINE_ORIGIN 1 f\x01\nFUNC 50 1 0\n", nil, 0)
	var got []string
	for i := range r.Findings {
		f := &r.Findings[i]
		line, _, _ := strings.Cut(f.String(), " ")
		got = append(got, line+f.Function)
	}
	want := "a.sym:2:15:a\x01 a.sym:3:17:b\x01 a.sym:4:15:c\x01 a.sym:5:13:d\x01 a.sym:6:8: a.sym:7:17:f\x01 a.sym:8:12:"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("%q\nwant\n%q", s, want)
	}
}

// A record without a name is one finding, and malformed lines among many such records are counted
// correctly.
func TestEmptyNames(t *testing.T) {
	for _, c := range []struct {
		text       string
		limit      int
		bad, empty int
	}{
		{check.Head + "FILE 1\nFUNC 10 1 0\nPUBLIC 10 0 \nINLINE_ORIGIN 1\t\n", 0, 0, 4},
		{check.Head + "FILE 1\nbad\nFILE 2\n", 0, 1, 2},
		{check.Head + strings.Repeat("PUBLIC 10 0\n", 500) + strings.Repeat("bad\n", 7), 3, 7, 500},
		{check.Head + strings.Repeat("bad\n", 7) + strings.Repeat("PUBLIC 10 0\n", 500), 3, 7, 500},
		{check.Head + strings.Repeat("bad\nPUBLIC 10 0\n", 50), 9, 50, 50},
		{"MODULE Linux x86_64 " + goodID + "\n", 0, 1, 1},
		{"MODULE Linux x86_64 xyz\nFILE 1\n", 0, 1, 2},
		{check.Head + "FUNC x 1 0\nFUNC\nPUBLIC\n", 0, 3, 0}, // no records at all
	} {
		for _, alone := range []bool{false, true} {
			words := []string{"SYM101", "SYM601"}
			if alone {
				words = words[:1]
			}
			rules, err := SelectRules(words, nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(t.Context(), symfmt.TextRecords(strings.NewReader(c.text)), Options{Rules: rules, MaxPerRule: c.limit})
			if err != nil {
				t.Fatal(err)
			}
			bad, empty := c.bad, c.empty
			if alone {
				bad, empty = strings.Count(c.text, "bad\n")+strings.Count(c.text, "PUBLIC 10 0\n"), 0
			}
			if alone && c.limit == 0 {
				continue
			}
			if r.Counts["SYM101"] != bad || r.Counts["SYM601"] != empty {
				t.Errorf("%.60q: %v, want %d bad and %d empty", c.text, r.Counts, bad, empty)
			}
		}
	}
}

// Names in symtool dump's output have no errors; the warnings and notes are those listed
// here, and are true.
func TestNamesOfDump(t *testing.T) {
	files := 0
	got := map[string]int{}
	root := filepath.Join(testenv.Root(t), "golden", "dwarf2sym")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".sym" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		r := namesOnly(t, d.Name(), string(data), nil, 0)
		for i := range r.Findings {
			f := &r.Findings[i]
			got[f.Rule.ID]++
			if f.Severity == finding.Error {
				t.Errorf("%v", f.String())
			}
			if f.Severity == finding.Warning {
				t.Logf("%v", f.String())
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files: %v", files, got)
	if files < 100 {
		t.Errorf("only %d files", files)
	}
}

const goodID = "0123456789ABCDEF0123456789ABCDEF0"

// namesOnly checks a text with the rules of names.
func namesOnly(t testing.TB, file, text string, filter *filter.Filter, limit int) *finding.Report {
	t.Helper()
	rules, err := SelectRules([]string{"names"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), symfmt.TextRecords(strings.NewReader(text)), Options{File: file, Rules: rules, Filter: filter, MaxPerRule: limit})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
