package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestInstallOracle checks that make install installs the program, its manual pages and its
// completions below DESTDIR and PREFIX, and nothing anywhere else.
func TestInstallOracle(t *testing.T) {
	testenv.Oracle(t)
	staged := t.TempDir()
	cmd := exec.Command(testenv.Tool(t, "make"), "install", "DESTDIR="+staged, "PREFIX=/opt/a b")
	cmd.Dir = testenv.Root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	prefix := filepath.Join(staged, "opt", "a b")
	if out, err := exec.Command(filepath.Join(prefix, "bin", "symtool"), "version").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	pages, err := filepath.Glob(filepath.Join(testenv.Root(t), "docs", "man", "*.1"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d manual pages, %v", len(pages), err)
	}
	want := map[string]bool{
		"bin/symtool": true, "share/bash-completion/completions/symtool": true,
		"share/zsh/site-functions/_symtool": true, "share/fish/vendor_completions.d/symtool.fish": true,
	}
	for _, page := range pages {
		want["share/man/man1/"+filepath.Base(page)] = true
	}
	err = filepath.WalkDir(staged, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(prefix, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if !want[filepath.ToSlash(name)] || info.Size() == 0 {
			t.Errorf("%s was installed, with %d bytes", name, info.Size())
		}
		delete(want, filepath.ToSlash(name))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range want {
		t.Errorf("%s was not installed", name)
	}
}
