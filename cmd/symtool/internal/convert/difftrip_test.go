package convert_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// differing runs diff.
func differing(args ...string) (status int, stdout, stderr string) {
	var out, said bytes.Buffer
	status = app.Run(context.Background(), append([]string{"symtool", "diff"}, args...), nil, &out, &said)
	return status, out.String(), said.String()
}

// tripFormats lists the formats that lose nothing.
var tripFormats = []string{"breakpad", "json", "jsonl"}

// TestDiffAfterConvert checks that a symbol file does not differ from the result of
// converting it to another format and back. It does so for files in the repository, and for
// files of other dumpers, some of which have duplicate records.
func TestDiffAfterConvert(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	dir := t.TempDir()
	names := goldenSymbols(t)
	others, err := filepath.Glob(filepath.Join(testenv.Shared(t, "data", "minidumps"), "*", "symbols", "*", "*", "*.sym"))
	if err != nil || len(others) < 10 {
		t.Fatal(others, err)
	}
	for i, name := range append(names, others...) {
		if filepath.Base(name) == "linux_inline.new.sym" {
			continue // it ends without a line feed: its last record may be cut, and is omitted
		}
		to := tripFormats[i%len(tripFormats):][:1]
		if i >= len(names) {
			to = tripFormats
		}
		for _, format := range to {
			there, back := filepath.Join(dir, "there"), filepath.Join(dir, "back")
			mustConvert(t, "--to", format, name, "-o", there)
			mustConvert(t, "--from", format, "--to", "breakpad", there, "-o", back)
			if status, out, said := differing(name, back); status != cli.StatusOK {
				t.Errorf("%s by %s: status %d %s\n%s", name, format, status, said, out)
			}
		}
	}
}

// TestDiffAfterConvertFindsChange checks that the comparison above would find a change.
func TestDiffAfterConvertFindsChange(t *testing.T) {
	text, err := os.ReadFile(goldenSymbols(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	name, there, back := filepath.Join(dir, "a.sym"), filepath.Join(dir, "there"), filepath.Join(dir, "back")
	if err := os.WriteFile(name, append(text, "PUBLIC fffff0 0 one_more\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	mustConvert(t, "--to", "json", name, "-o", there)
	mustConvert(t, "--to", "breakpad", there, "-o", back)
	if status, out, said := differing(goldenSymbols(t)[0], back); status != cli.StatusFindings || said != "" {
		t.Errorf("status %d %s\n%s", status, said, out)
	}
}
