package names

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// symbolsOf returns the names of all dynamic symbols of libraries, without versions.
func symbolsOf(t *testing.T, nm string, libraries ...string) []string {
	t.Helper()
	seen := map[string]bool{}
	for _, lib := range libraries {
		out, err := exec.Command(nm, "-D", "--format=posix", lib).Output()
		if err != nil {
			t.Fatalf("%s: %v", lib, err)
		}
		for line := range strings.Lines(string(out)) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			name, _, _ = strings.Cut(name, "@")
			seen[name] = true
		}
	}
	delete(seen, "")
	names := make([]string, 0, len(seen))
	for n := range seen {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func demangledBy(t *testing.T, tool string, names []string) []string {
	t.Helper()
	cmd := exec.Command(tool)
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	demangled := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(demangled) != len(names) {
		t.Fatalf("%s: %d names, %d demangled", tool, len(names), len(demangled))
	}
	return demangled
}

// A name is mangled if and only if llvm-cxxfilt or c++filt demangles it. The names are all dynamic
// symbols of the libraries of the machine's compilers.
func TestOracleSchemes(t *testing.T) {
	testenv.Oracle(t)
	nm, cxxfilt := testenv.Tool(t, "nm"), testenv.Tool(t, "llvm-cxxfilt-22")
	var libraries []string
	for _, pattern := range []string{"/usr/lib/*-linux-gnu/libstdc++.so.6", "/usr/lib/*-linux-gnu/libc.so.6", "/lib/*-linux-gnu/libc.so.6", "/usr/lib/llvm-22/lib/libLLVM*.so*", "/usr/lib/llvm-22/lib/liblldb*.so*", "/usr/lib/llvm-22/lib/libclang-cpp.so*"} {
		found, _ := filepath.Glob(pattern)
		libraries = append(libraries, found...)
	}
	names := symbolsOf(t, nm, libraries...)
	if len(names) < 5000 {
		t.Fatalf("%d names, of %q", len(names), libraries)
	}
	ofLLVM, ofGNU := demangledBy(t, cxxfilt, names), demangledBy(t, testenv.Tool(t, "c++filt"), names)
	mangled, different := 0, 0
	for i, name := range names {
		want := ofLLVM[i] != name || ofGNU[i] != name // LLVM's does not support conversion to a type of a template
		if want {
			mangled++
		}
		if got := schemeOf([]byte(name)) != notMangled; got != want {
			if different++; different <= 20 {
				t.Errorf("%s: mangled %v; llvm-cxxfilt has %s, c++filt %s", name, got, ofLLVM[i], ofGNU[i])
			}
		}
	}
	t.Logf("%d names of %d libraries, %d mangled, %d different", len(names), len(libraries), mangled, different)
}
