package doctor

import (
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestJSONIsDocumented checks that docs/json.md documents every field.
func TestJSONIsDocumented(t *testing.T) {
	for _, v := range []any{dumpDiagnosis{}, advice{}} {
		testenv.DocumentedJSON(t, testenv.JSONFields(t, v), "doctor")
	}
}
