package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

func TestDebianNames(t *testing.T) {
	for file, want := range map[string]string{
		"/usr/lib/x86_64-linux-gnu/libssl.so.3": "libssl3", "libfoo2.so.1": "libfoo2-1", "libstdc++.so.6.0.30": "libstdc++6",
		"libGL_x.so.1": "libgl-x1", "libc.so": "", "program": "",
	} {
		if got := sonamePackage(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "libx1:amd64.list"), []byte("/.\n/usr\n/lib/libx.so.1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"/usr/lib/libx.so.1": "libx1", "/lib/libx.so.1": "libx1", "/usr/lib/libx.so": ""} {
		if got := (&doctor{dpkg: dir}).debianPackage(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
	if debugPackage("libc6") != "libc6-dbg" || debugPackage("libssl3") != "libssl3-dbgsym" {
		t.Error("the names of debug packages")
	}
}

// TestDebianNamesOracle checks that dpkg -S names the same packages.
func TestDebianNamesOracle(t *testing.T) {
	testenv.Oracle(t)
	dpkg := testenv.Tool(t, "dpkg-query")
	var files []string
	for _, pattern := range []string{"/usr/lib/x86_64-linux-gnu/lib[c-z]*.so.?", "/bin/[a-c]*", "/usr/sbin/[a-d]*"} {
		found, _ := filepath.Glob(pattern)
		for i := 0; i < len(found); i += 1 + len(found)/30 {
			files = append(files, found[i])
		}
	}
	out, _ := exec.Command(dpkg, append([]string{"-S"}, files...)...).Output() // fails for files that no package owns
	n, guessed := 0, 0
	for line := range strings.Lines(string(out)) {
		owner, file, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if strings.HasPrefix(owner, "diversion ") || strings.Contains(owner, ",") {
			continue
		}
		want, _, _ := strings.Cut(owner, ":")
		n++
		if got := (&doctor{dpkg: dpkgLists}).debianPackage(file); got != want {
			t.Errorf("%s: %q, dpkg -S has %q", file, got, want)
		}
		if want == sonamePackage(file) {
			guessed++
		}
	}
	t.Logf("%d files; the name of the library alone gives the package of %d", n, guessed)
	if n < 30 {
		t.Errorf("compared only %d files", n)
	}
}
