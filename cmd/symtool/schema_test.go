package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// validate checks a JSON document with the arguments of .ci/validate.
func validate(t *testing.T, document []byte, args ...string) error {
	t.Helper()
	cmd := exec.Command("go", append([]string{"run", "./.ci/validate"}, args...)...)
	cmd.Dir, cmd.Stdin = testenv.Root(t), bytes.NewReader(document)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// A document that does not match the schema is refused.
func TestValidate(t *testing.T) {
	for document, want := range map[string]string{`{}`: "missing propert", `{`: "unexpected EOF", `[]`: "got array, want object"} {
		if err := validate(t, []byte(document), "golden/upload/schema.json"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", document, err, want)
		}
	}
}
