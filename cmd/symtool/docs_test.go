package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/symsframe"
)

// readFile returns a file of the repository.
func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testenv.Root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// jsonFields lists the names of all JSON fields of v's type and of those in it.
func jsonFields(t *testing.T, v any) []string {
	t.Helper()
	var names []string
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct {
			return
		}
		for i := range typ.NumField() {
			f := typ.Field(i)
			if !f.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				t.Errorf("%s.%s has no JSON name", typ, f.Name)
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			walk(f.Type)
		}
	}
	walk(reflect.TypeOf(v))
	return names
}

func TestFlagsAreDocumented(t *testing.T) {
	readme := readFile(t, "README.md")
	for _, c := range newApp(nil, nil, newMessages(nil)).Commands {
		if !strings.Contains(readme, "symtool "+c.Name) {
			t.Errorf("the README does not mention `symtool %s`", c.Name)
		}
		for _, f := range c.Flags {
			if !strings.Contains(readme, "`--"+f.Names()[0]) {
				t.Errorf("the README does not document --%s of %s: add a row to its table of flags", f.Names()[0], c.Name)
			}
		}
	}
}

// The README documents each field of the summary.
func TestSummaryIsDocumented(t *testing.T) {
	readme := readFile(t, "README.md")
	for _, field := range jsonFields(t, dumpSummary{}) {
		if !strings.Contains(readme, "`"+field+"`") {
			t.Errorf("the README does not document the field %s of the summary", field)
		}
	}
}

// The README documents each field of what sframe --format json prints.
func TestSFrameJSONIsDocumented(t *testing.T) {
	fields := append(jsonFields(t, sframeHead{}), jsonFields(t, sframeCheck{})...)
	var comparison strings.Builder
	if err := (&symsframe.Comparison{}).WriteJSON(&comparison); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{comparison.String(), readFile(t, "golden/sframe/sframe-text-v3.json"), readFile(t, "golden/sframe/sframe-text-damaged.json")} {
		for _, m := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(text, -1) {
			fields = append(fields, m[1])
		}
	}
	slices.Sort(fields)
	readme := readFile(t, "README.md")
	for _, field := range slices.Compact(fields) {
		if !strings.Contains(readme, "`"+field+"`") {
			t.Errorf("the README does not document the field %s of sframe's JSON", field)
		}
	}
}

// A figure in the output of a document's command that another tool's packages decide is a
// difference, unless the document leaves it out.
func TestDocFigures(t *testing.T) {
	const got = "symtool: /lib/x86_64-linux-gnu/libc.so.6: 3687 functions, 3930 inlines"
	for want, same := range map[string]bool{
		got: true,
		"symtool: /lib/x86_64-linux-gnu/libc.so.6: ... functions, ... inlines":   true,
		"symtool: /lib/x86_64-linux-gnu/libc.so.6: 3686 functions, 3930 inlines": false,
	} {
		if sameElsewhere(want, got) != same {
			t.Errorf("%q beside %q: %v", want, got, !same)
		}
	}
}
