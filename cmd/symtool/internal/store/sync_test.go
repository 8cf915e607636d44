package store_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestOracleStoreSync traces the system calls of every command that writes a store. Before a
// file gets its name, its contents are synced, and afterwards the folders with its name, so
// that after a power failure the file is complete or missing.
func TestOracleStoreSync(t *testing.T) {
	strace := testenv.Tool(t, "strace")
	program := testenv.Symtool(t)
	binary, err := filepath.Abs(testenv.Input(t, "clang-dwarf5.elf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"dump", []string{"dump", "--store", "s", binary}, []string{"sync", "name", "sync", "sync", "sync"}},
		{"convert", []string{"convert", "--to-store", "s", "--layout", "breakpad", "x.sym"}, []string{"sync", "name", "sync", "sync", "sync"}},
		{"add", []string{"store", "add", "s", "x.sym"}, []string{"sync", "name", "sync", "sync", "sync"}},
		{"add without", []string{"store", "add", "--no-sync", "s", "x.sym"}, []string{"name"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			testenv.WriteFile(t, filepath.Join(dir, "x.sym"), []byte("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 x\nFUNC 0 10 0 f\n"))
			cmd := exec.Command(strace, append([]string{"-f", "-qq", "-o", "trace", "-e", "trace=fsync,fdatasync,linkat,renameat,renameat2", program}, c.args...)...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Skipf("%v: %s", err, out) // tracing is not permitted
			}
			trace, err := os.ReadFile(filepath.Join(dir, "trace"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, call := range regexp.MustCompile(`(?m)(f(?:data)?sync|linkat|renameat2?)\(`).FindAllStringSubmatch(string(trace), -1) {
				step := "name"
				if call[1] == "fsync" || call[1] == "fdatasync" {
					step = "sync"
				}
				got = append(got, step)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q:\n%s", got, c.want, trace)
			}
		})
	}
}
