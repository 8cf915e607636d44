package suppliers

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestLibraryDirs checks that the configuration of the dynamic linker is read as described in
// ldconfig(8). It may include itself.
func TestLibraryDirs(t *testing.T) {
	dir := t.TempDir()
	conf := filepath.Join(dir, "ld.so.conf")
	for name, text := range map[string]string{
		"ld.so.conf":          "include ld.so.conf.d/*.conf " + conf + "\n/last/\nhwcap 1 avx\nrelative/dir\n",
		"ld.so.conf.d/a.conf": "# comment\n/a/lib /b/lib:/c/lib=libc6 # more\n\t/lib\n",
		"ld.so.conf.d/b.conf": "/a/lib,/d/lib\ninclude [\n",
		"ld.so.conf.d/other":  "/never\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"/last", "/a/lib", "/b/lib", "/c/lib", "/lib", "/d/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"}
	if got := libraryDirs(conf); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := libraryDirs(filepath.Join(dir, "none")); !slices.Equal(got, defaultLibraryDirs) {
		t.Errorf("without a configuration: %q", got)
	}
}
