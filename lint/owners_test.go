package lint

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/symfmt"
)

// ownedText has findings that are made at the end of the file: in functions out of order,
// a line record, an INLINE, a PUBLIC and a STACK CFI block.
const ownedText = "MODULE Linux x86_64 " + goodID + " a\n" + // 1
	"FILE 0 a.c\n" + // 2
	"FUNC 3000 10 0 third\n3000 10 1 0\n" + // 3
	"FUNC 1000 10 0 first\n1000 10 1 7\n" + // 5: a FILE that is not there
	"FUNC 1008 10 0 second\nINLINE 0 5 0 9 1008 4\n1008 10 1 0\n" + // 7: overlaps; an origin that is not there
	"PUBLIC 3004 0 inside\n" + // 10
	"STACK CFI INIT 3000 10 .cfa: $rsp 8 +\n" // 11: no .ra

// Findings that are made at the end belong to their functions for suppressions, although
// the functions' names are not kept.
func TestSuppressionsByFunctionAtTheEnd(t *testing.T) {
	for _, c := range []struct{ function, gone string }{
		{"^first$", "SYM203:6"},
		{"^second$", "SYM205:8 SYM303:7"},
		{"^third$", "SYM410:11"},
		{"^inside$", "SYM321:10"},
		{"^none$", ""},
	} {
		run := func(suppressions ...filter.Suppression) map[string]finding.Finding {
			filter := filter.New(&filter.Config{Suppressions: suppressions}, nil)
			rep, err := Run(context.Background(), symfmt.TextRecords(strings.NewReader(ownedText)), Options{File: "a.sym", Filter: filter})
			if err != nil {
				t.Fatal(err)
			}
			if err := rep.ReadNames(strings.NewReader(ownedText)); err != nil {
				t.Fatal(err)
			}
			found := map[string]finding.Finding{}
			for _, f := range rep.Findings {
				found[fmt.Sprintf("%s:%d", f.Rule.ID, f.Line)] = f
			}
			return found
		}
		all := run()
		left := run(filter.Suppression{Rule: "SYM", Function: regexp.MustCompile(c.function)})
		for key, f := range all {
			_, stays := left[key]
			if named := strings.Trim(c.function, "^$") == f.Function; named == stays {
				t.Errorf("%s: %s in %q: stays is %v", c.function, key, f.Function, stays)
			}
		}
		for _, key := range strings.Fields(c.gone) {
			if _, stays := left[key]; stays || all[key].Rule == nil {
				t.Errorf("%s: %s stays, or is none of %v", c.function, key, all)
			}
		}
	}
}

// A baseline that was written without the names is valid with them.
func TestFingerprintWithoutLateNames(t *testing.T) {
	rep, err := Run(context.Background(), symfmt.TextRecords(strings.NewReader(ownedText)), Options{File: "a.sym"})
	if err != nil {
		t.Fatal(err)
	}
	var before []string
	for i := range rep.Findings {
		before = append(before, filter.Fingerprint(&rep.Findings[i]))
	}
	if !rep.NamesWanted() || rep.ReadNames(bytes.NewReader([]byte(ownedText))) != nil {
		t.Fatal("want names")
	}
	for i := range rep.Findings {
		if f := &rep.Findings[i]; filter.Fingerprint(f) != before[i] {
			t.Errorf("%v: the fingerprint changes with the name %q", f, f.Function)
		}
	}
}

// A finding that stands for several belongs to none of the functions.
func TestFirstOfManyHasNoFunction(t *testing.T) {
	text := check.Head + "FILE 0 a.c\nFUNC 2000 10 0 g\n2000 10 1 0\nFUNC 1000 10 0 f\n1000 10 1 0\nFUNC 500 10 0 e\n500 10 1 0\n"
	rep, err := Run(context.Background(), symfmt.TextRecords(strings.NewReader(text)), Options{File: "a.sym"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range rep.Findings {
		if f.Owner.Line > 0 && f.Rule.ID == "SYM304" {
			t.Errorf("%v is of one function", &f)
		}
	}
	if rep.Counts["SYM304"] != 1 {
		t.Error(rep.Counts)
	}
}

// An INLINE_ORIGIN of the old form without a name is found; in the new form the same text is
// a name.
func TestNamelessOldOrigins(t *testing.T) {
	old := check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 0\nINLINE_ORIGIN 1 -1 \nINLINE_ORIGIN 2 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 %s1004 4\n1000 10 1 0\n"
	for form, want := range map[string]string{"0 ": "[3:17 4:17]", "0 0 ": "[]"} {
		rep := namesOnly(t, "a.sym", fmt.Sprintf(old, form), nil, 0)
		places := []string{}
		for _, f := range rep.Findings {
			if f.Rule.ID == "SYM601" {
				places = append(places, fmt.Sprintf("%d:%d", f.Line, f.Col))
			}
		}
		if got := fmt.Sprint(places); got != want {
			t.Errorf("INLINE with %q: %s, want %s", form, got, want)
		}
	}
}

// If blocks are between functions, each finding belongs to its own function.
func TestOwnersWhileReading(t *testing.T) {
	var text strings.Builder
	text.WriteString(check.Head + "FILE 0 a.c\n")
	for i := range 500 {
		rva := 0x1000 + 0x100*(i*77%500)
		fmt.Fprintf(&text, "FUNC %x 10 0 f%d\n%x 10 1 0\nSTACK CFI INIT %x 10 .cfa: $rsp 8 +\n", rva, i, rva, rva)
	}
	filter := filter.New(&filter.Config{Suppressions: []filter.Suppression{{Rule: "SYM410", Function: regexp.MustCompile("[1-9]$")}}}, nil)
	rep, err := Run(context.Background(), symfmt.TextRecords(strings.NewReader(text.String())), Options{File: "a.sym", Filter: filter, MaxPerRule: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if err := rep.ReadNames(strings.NewReader(text.String())); err != nil {
		t.Fatal(err)
	}
	if rep.Suppressed != 450 || rep.Counts["SYM410"] != 50 {
		t.Errorf("%d are suppressed, %d not", rep.Suppressed, rep.Counts["SYM410"])
	}
	for _, f := range rep.Findings {
		if want := fmt.Sprintf("f%d", (f.Line-5)/3); f.Rule.ID == "SYM410" && f.Function != want {
			t.Errorf("%v: got function %s", &f, f.Function)
		}
	}
}
