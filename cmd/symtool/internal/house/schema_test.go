package house

import (
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestValidate checks that a document that does not match the schema is refused.
func TestValidate(t *testing.T) {
	for document, want := range map[string]string{`{}`: "missing propert", `{`: "unexpected EOF", `[]`: "got array, want object"} {
		if err := testenv.Validate(t, []byte(document), "golden/upload/schema.json"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", document, err, want)
		}
	}
}
