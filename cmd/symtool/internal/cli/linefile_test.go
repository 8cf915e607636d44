package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLineFile checks that an interrupted write leaves whole lines, and the bytes that
// were kept.
func TestLineFile(t *testing.T) {
	long := strings.Repeat("x", 3*lineBuffer)
	for _, c := range []struct {
		name   string
		writes []string
		commit bool
		want   string
	}{
		{"nothing", nil, false, "old\n"},
		{"part of a line", []string{"new"}, false, "old\n"},
		{"a line and a part", []string{"a\nb", "\n", "c"}, false, "old\na\nb\n"},
		{"part of a long line", []string{"a\n", long}, false, "old\na\n"},
		{"long line", []string{"a\n", long, "\nb"}, false, "old\na\n" + long + "\n"},
		{"whole", []string{"a\n", "b\n"}, true, "old\na\nb\n"},
	} {
		path := filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(path, []byte("old\npart of one"), 0o666); err != nil {
			t.Fatal(err)
		}
		out, err := CreateLines(path, 4, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range c.writes {
			if _, err := out.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if c.commit {
			if err := out.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		out.Abort()
		if got, err := os.ReadFile(path); string(got) != c.want || err != nil {
			t.Errorf("%s: %.40q (%d bytes), %v; want %.40q", c.name, got, len(got), err, c.want)
		}
	}
}

func TestLineFileErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := CreateLines(dir, 0, nil); err == nil {
		t.Error("a folder was opened")
	}
	if _, err := CreateLines(filepath.Join(dir, "none", "out"), 0, nil); !os.IsNotExist(err) {
		t.Errorf("in a folder that does not exist: %v", err)
	}
	if out, err := CreateLines("-", 0, &strings.Builder{}); err != nil || out.Name() != "standard output" {
		t.Errorf("standard output: %v", err)
	}
}
