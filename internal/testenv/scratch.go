package testenv

import (
	"os"
	"testing"
)

// Scratch is t.TempDir for programs whose last processes write for a moment after
// being stopped: the folder is removed when nothing appears in it any more.
func Scratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "scratch")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		Until(t, "the end of who writes into "+dir, func() bool { return os.RemoveAll(dir) == nil })
	})
	return dir
}
