package house

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestDiffJSONIsDocumented checks that docs/json.md documents every field in the schema
// of diff --format json.
func TestDiffJSONIsDocumented(t *testing.T) {
	var schema any
	if err := json.Unmarshal([]byte(string(testenv.ReadFile(t, testenv.Root(t), "golden/symfmt/symdiff/schema.json"))), &schema); err != nil {
		t.Fatal(err)
	}
	text := chapter(t, readDocument(t, "docs/json.md"), "symtool diff")
	fields := schemaFields(schema)
	for _, field := range fields {
		if !strings.Contains(text, "`"+field+"`") {
			t.Errorf("docs/json.md does not document the field %s of diff", field)
		}
	}
	if len(fields) < 40 {
		t.Errorf("the schema has %d fields", len(fields))
	}
}

// schemaFields returns the names of all properties in a schema.
func schemaFields(v any) (names []string) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			names = append(names, schemaFields(x)...)
		}
	case map[string]any:
		for key, x := range v {
			if properties, ok := x.(map[string]any); ok && key == "properties" {
				for name := range properties {
					names = append(names, name)
				}
			}
			names = append(names, schemaFields(x)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
