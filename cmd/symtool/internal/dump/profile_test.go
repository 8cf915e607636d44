package dump_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
)

// TestProfile runs commands under go test's profiler for `make profile`. Each line of the file that
// SYMTOOL_PROFILE names has the arguments of one command, separated by blanks.
func TestProfile(t *testing.T) {
	name := os.Getenv("SYMTOOL_PROFILE")
	if name == "" {
		t.Skip("make profile sets SYMTOOL_PROFILE to a file of commands")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var stderr bytes.Buffer
		args := append([]string{"symtool"}, strings.Fields(line)...)
		if status := app.Run(t.Context(), args, strings.NewReader(""), io.Discard, &stderr); status > 1 { // 1: findings
			t.Fatalf("%q: status %d: %s", args, status, stderr.String())
		}
	}
}
