package testenv

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// DOM loads a page in Chromium, and returns the document after its scripts.
func DOM(t testing.TB, page string) string {
	t.Helper()
	browser := Tool(t, "chromium")
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+Scratch(t), "--window-size=1280,1600",
		"--virtual-time-budget=20000", "--dump-dom", "file://"+file)
	cmd.Stderr = &stderr
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v\n%s", err, stderr.String())
	}
	return string(dom)
}
