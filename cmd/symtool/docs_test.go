package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/lint"
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
			if name == "-" {
				continue
			}
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

// The README's table has every command, and the reference every flag in the chapter of its
// command.
func TestFlagsAreDocumented(t *testing.T) {
	commands, reference := chapter(t, readDocument(t, "README.md"), "Commands"), readDocument(t, "docs/reference.md")
	for _, c := range newApp(nil, nil, newMessages(nil)).Commands {
		if !strings.Contains(commands, "| `symtool "+c.Name+"` |") {
			t.Errorf("the README's table of commands lacks symtool %s", c.Name)
		}
		flags := chapter(t, reference, "symtool "+c.Name)
		for _, f := range c.Flags {
			if !regexp.MustCompile("(?m)^\\| `(-\\w, )?--" + f.Names()[0] + "\\b").MatchString(flags) {
				t.Errorf("docs/reference.md does not document --%s of %s", f.Names()[0], c.Name)
			}
		}
	}
}

// docs/json.md documents every field of these types in the chapter of their command.
func TestJSONIsDocumented(t *testing.T) {
	d := readDocument(t, "docs/json.md")
	for command, types := range map[string][]any{
		"dump":    {dumpSummary{}},
		"resolve": {answerJSON{}},
		"store":   {storeVerifyJSON{}, storeGCJSON{}, storeListJSON{}, storeMissingJSON{}},
		"doctor":  {dumpDiagnosis{}, advice{}},
		"version": {build{}},
	} {
		text := chapter(t, d, "symtool "+command)
		for _, v := range types {
			for _, field := range jsonFields(t, v) {
				if !strings.Contains(text, "`"+field+"`") {
					t.Errorf("docs/json.md does not document the field %s of %s", field, command)
				}
			}
		}
	}
}

// docs/json.md documents every field that sframe --format json prints. Some are those of dump.
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
	d := readDocument(t, "docs/json.md")
	text := chapter(t, d, "symtool sframe") + chapter(t, d, "symtool dump")
	for _, field := range slices.Compact(fields) {
		if !strings.Contains(text, "`"+field+"`") {
			t.Errorf("docs/json.md does not document the field %s of sframe", field)
		}
	}
}

// TestDocRules checks that the documents have the number of lint's rules.
func TestDocRules(t *testing.T) {
	want := fmt.Sprintf("%d rules", len(lint.Rules()))
	for _, name := range []string{"README.md", "docs/checks.md", "CHANGELOG.md"} {
		if !strings.Contains(readFile(t, name), want) {
			t.Errorf("%s does not say that lint has %s", name, want)
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
