package dump

import (
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestJSONIsDocumented checks that docs/json.md documents every field.
func TestJSONIsDocumented(t *testing.T) {
	testenv.DocumentedJSON(t, testenv.JSONFields(t, dumpSummary{}), "dump")
}
