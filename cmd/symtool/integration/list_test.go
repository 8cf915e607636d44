package integration

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIntegrationsAreComplete checks that each build system has a worked example, that each CI system
// has tests in ci_test.go, and that the rules begin with a comment that says how to use them.
func TestIntegrationsAreComplete(t *testing.T) {
	known := map[string]bool{}
	for _, it := range integrations {
		known[it.path] = true
		text, err := integrationText(it.name)
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.HasPrefix(strings.TrimLeft(text, `#" `), it.file()+": symbol files for crash reports") &&
			!strings.HasPrefix(strings.TrimLeft(text, `#" `), it.file()+": rules for symbol files") {
			t.Errorf("%s: begins with %.80q", it.path, text)
		}
		if strings.HasPrefix(it.path, "ci/") {
			continue
		}
		script, err := os.ReadFile(filepath.Join("testdata", "integration", it.name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(script), "symtool integration "+it.name+"\n") {
			t.Errorf("%s.txtar does not use the rules", it.name)
		}
	}
	err := fs.WalkDir(integrationFiles, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !known[path] {
			t.Errorf("%s is embedded, but not an integration", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
