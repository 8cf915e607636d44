package symserver

import (
	"os"
	"path/filepath"
	"testing"
)

// A missing folder is looked for once; files that exist, or cannot be examined, are opened.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "A0"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "A0", "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"inside": "a", "outside": "/"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	r, err := openRoot(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	asked := folders{root: r}
	for range 2 { // the second time with what the first kept
		for _, c := range []struct {
			path string
			lack bool
		}{
			{"a/A0/x.sym", false}, {"a/A0/y.sym", false}, {"a/B0/x.sym", true}, {"a/B0/y.sym", true}, {"a/B/x.sym", true},
			{"a/A0/x.sym", false}, {"b/A0/x.sym", true}, {"b/B0/x.sym", true}, {"ab/A0/x.sym", true}, {"a/x.sym", false}, {"x.sym", false},
			{"inside/A0/x.sym", false}, {"inside/B0/x.sym", true}, {"outside/etc/x.sym", false}, {"a/A0/file/x.sym", false},
		} {
			if lack := asked.lack(filepath.FromSlash(c.path)); lack != c.lack {
				t.Errorf("%s: %v, want %v", c.path, lack, c.lack)
			}
		}
	}
}
