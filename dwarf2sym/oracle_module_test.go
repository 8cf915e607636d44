package dwarf2sym_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// kernelModules are modules of Debian's kernel, from 1 function to 12 thousand.
var kernelModules = []string{"crc7.ko", "dummy.ko", "aesni-intel.ko", "ext4.ko", "xfs.ko", "amdgpu.ko"}

// Modules of a real kernel give the same symbols as their linked forms, for which
// llvm-symbolizer agrees at every address.
func TestOracleModules(t *testing.T) {
	testenv.Oracle(t)
	if !testenv.OracleFull() {
		t.Skip("downloads 1 GB: runs with SYMTOOL_ORACLE=full")
	}
	symtool := symtoolBinary(t)
	for _, path := range moduleFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) { compareLinked(t, symtool, path, ld, 5, false) })
	}
}

// moduleFiles returns the modules, which stay in build/bench once they are there.
func moduleFiles(t *testing.T) (files []string) {
	t.Helper()
	cache := filepath.Join(testenv.Root(t), "build", "bench")
	missing := false
	for _, name := range kernelModules {
		file := filepath.Join(cache, name)
		_, err := os.Stat(file)
		missing = missing || err != nil
		files = append(files, file)
	}
	if !missing {
		return files
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	script := `apt-cache search --names-only '^linux-image-6\.1\.0-[0-9]+-amd64-dbg$' | cut -d ' ' -f 1 | sort -V | tail -n 1`
	names := run(t, "sh", "-c", script)
	name := strings.TrimSpace(string(names))
	if name == "" {
		t.Skip("apt offers no linux-image-6.1.0-NN-amd64-dbg, as Debian 12 does")
	}
	get := exec.Command("apt-get", "download", "-qq", name)
	get.Dir = work
	if text, err := get.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", get, err, text)
	}
	var patterns []string
	for _, module := range kernelModules {
		patterns = append(patterns, "'*/"+module+"'")
	}
	slices.Sort(patterns)
	run(t, "sh", "-c", "dpkg-deb --fsys-tarfile "+work+"/*.deb | tar -x -C "+cache+" --wildcards --transform 's,.*/,,' "+strings.Join(patterns, " "))
	return files
}
