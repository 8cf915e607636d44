package walk_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestWalkMusl checks that the stack of a thread that crashed in a comparator of musl's qsort goes on to the thread's
// start: musl has next to no call frame information, and qsort's functions have no frame pointers.
func TestWalkMusl(t *testing.T) {
	dir := t.TempDir()
	for from, to := range map[string]string{"musl-libc.so.gz": "bin/libc.so", "musld": "bin/musld", "musl.core.gz": "core"} {
		path := testenv.Shared(t, "data", "found3", "walk", from)
		data, err := os.ReadFile(path)
		if filepath.Ext(path) == ".gz" {
			data, err = testenv.Gunzip(t, path), nil
		}
		if err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(dir, to)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got := testenv.Output(t, 0, "walk", "--brief", "--binaries", filepath.Join(dir, "bin"), filepath.Join(dir, "core"))
	for i, want := range []string{"musld!boom", "musld!cmp", "libc.so + 0x64281", "libc.so + 0x64523", "libc.so!qsort_r", "musld!thr", "libc.so + 0x69bde"} {
		if line := strings.SplitN(got, "\n", 10)[i+1]; !strings.Contains(line, want) {
			t.Errorf("frame %d: %q, want %s", i, line, want)
		}
	}
}
