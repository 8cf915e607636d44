package lint

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/symfmt/srcmap"
)

// TestSourcePaths checks that source files are named as in the folder of the checkout, in which
// lint runs. Other files keep their names.
func TestSourcePaths(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "src"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "src", "a.c"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	find := sourcePaths([]srcmap.Prefix{{Old: "/mapped", New: "."}, {Old: "./out/.", New: "."}})
	for name, want := range map[string]string{
		here + "/src/./a.c":                     "src/a.c",
		here + "/out/../src/b.c":                "src/b.c",
		here + "2/b.c":                          here + "2/b.c",
		"src/b.c":                               "src/b.c",
		`src\b.c`:                               "src/b.c",
		"/usr/include/a.h":                      "/usr/include/a.h",
		"../sysdeps/start.S":                    "",
		"/mapped/src/a.c":                       "src/a.c",
		"./out/./src/a.c":                       "src/a.c",
		"git:github.com/me/app:src/a.c:0123abc": "src/a.c",
		"git:github.com/rust-lang/rust:core/fmt.rs:0123": "",
		"s3:bucket:../a.c:": "",
	} {
		if got := find(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
