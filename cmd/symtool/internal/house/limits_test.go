package house

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestDocLimits checks that every limit and promise of docs/limits.md names a test.
// TestDocTests checks that the test exists.
func TestDocLimits(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testenv.Root(t), "docs", "limits.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("| ")) || bytes.HasSuffix(line, []byte("| test |\n")) {
			continue
		}
		if rows++; !bytes.Contains(line, []byte("| `Test")) {
			t.Errorf("a row without a test: %s", line)
		}
	}
	if rows < 20 {
		t.Errorf("%d rows", rows)
	}
}
