package testenv

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// JSONFields lists the names of all JSON fields of v's type and of the types in it.
func JSONFields(t *testing.T, v any) []string {
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

// DocumentedJSON checks that docs/json.md documents each field in the chapter of one of the commands.
func DocumentedJSON(t *testing.T, fields []string, commands ...string) {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, command := range commands {
		_, chapter, ok := strings.Cut(string(data), "\n## symtool "+command+"\n")
		if !ok {
			t.Fatalf("docs/json.md has no chapter for %s", command)
		}
		chapter, _, _ = strings.Cut(chapter, "\n## ")
		text += chapter
	}
	for _, field := range fields {
		if !strings.Contains(text, "`"+field+"`") {
			t.Errorf("docs/json.md does not document the field %s of %s", field, commands[0])
		}
	}
}
