package store

import (
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestJSONIsDocumented checks that docs/json.md documents every field.
func TestJSONIsDocumented(t *testing.T) {
	for _, v := range []any{storeVerifyJSON{}, storeGCJSON{}, storeListJSON{}, storeMissingJSON{}} {
		testenv.DocumentedJSON(t, testenv.JSONFields(t, v), "store")
	}
}
