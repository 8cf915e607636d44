package dwarf2sym_test

import (
	"debug/elf"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// debianCPUs are the Debian architectures, in addition to this machine's, whose C library
// is compared; .ci/cpus downloads them.
var debianCPUs = []string{"arm64", "armel", "armhf", "i386", "mips64el", "mipsel", "ppc64el", "riscv64", "s390x"}

// debianLibraries are the libraries of each, by their file names without version.
var debianLibraries = []string{"libc.so*", "libm.so*", "ld*.so*"}

// debianLibrary returns a library of another CPU, and its separate debug file.
// They are in build/cpus, where .ci/cpus puts them.
func debianLibrary(t *testing.T, cpu, pattern string) (file, debug string) {
	t.Helper()
	root := filepath.Join(testenv.Root(t), "build", "cpus", cpu)
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no %s: .ci/cpus downloads it", root)
	}
	for _, lib := range []string{"lib", "usr/lib"} { // Debian 12 and later
		found, err := filepath.Glob(filepath.Join(root, lib, "*-linux-gnu*", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			if debug := filepath.Join(root, "usr/lib/debug/.build-id", buildIDPath(t, file)); isFile(debug) {
				return file, debug
			}
		}
	}
	t.Fatalf("%s: no %s with a debug file", root, pattern)
	return "", ""
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// buildIDPath returns ab/cdef.debug for a file with build-id abcdef.
func buildIDPath(t *testing.T, file string) string {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	section := f.Section(".note.gnu.build-id")
	if section == nil {
		t.Fatalf("%s: no build-id", file)
	}
	note, err := section.Data()
	if err != nil || len(note) < 18 {
		t.Fatalf("%s: build-id of %d bytes: %v", file, len(note), err)
	}
	id := hex.EncodeToString(note[16:])
	return filepath.Join(id[:2], id[2:]+".debug")
}
