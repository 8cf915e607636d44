package itanium

import (
	"debug/elf"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// libraries are programs and libraries with many names, of Debian's packages libclang-cpp22, libllvm22, libstdc++6,
// libboost-*, librustc-dev (librustc_driver has LLVM's), ceph-osd and ceph-osd-dbg.
var libraries = []string{
	"/usr/lib/x86_64-linux-gnu/libclang-cpp.so*", "/usr/lib/x86_64-linux-gnu/libLLVM*.so*", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libboost_*.so.*", "/usr/lib/x86_64-linux-gnu/librustc_driver-*.so", "/usr/bin/ceph-osd", "/usr/lib/debug/.build-id/*/*.debug",
}

// The decoder prints each name of large libraries as the library does, except where a rule says why
// not.
func TestOracleLikeLibrary(t *testing.T) {
	testenv.Oracle(t)
	known := map[string]bool{}
	for _, pattern := range libraries {
		found, _ := filepath.Glob(pattern)
		for _, path := range found {
			addNames(known, path)
		}
	}
	reasons, d, refusals := map[string]int{}, new(decoder), 0
	for raw := range known {
		if why := compareWithLibrary(t, d, raw); why != "" {
			reasons[why]++
		}
		if _, v := d.appendName(nil, raw); v == refused {
			refusals++
		}
	}
	t.Logf("%d names, %d of them left to the library", len(known), refusals)
	for why, n := range reasons {
		t.Logf("%8d %s", n, why)
	}
	if len(known) == 0 {
		t.Error("no names")
	}
}

// addNames adds the C++ names of a file's symbols.
func addNames(known map[string]bool, path string) {
	f, err := elf.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	table, _ := f.Symbols()
	dynamic, _ := f.DynamicSymbols()
	for _, s := range append(table, dynamic...) {
		if name, _, _ := strings.Cut(s.Name, "@"); strings.HasPrefix(name, "_Z") {
			known[name] = true
		}
	}
}
