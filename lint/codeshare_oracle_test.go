package lint

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/finding"
)

// byteMap describes a binary's code byte by byte, according to readelf.
type byteMap struct {
	code    []bool // by address
	covered []bool // by an FDE
	other   uint64 // bytes of .plt, .init and .fini
}

// readByteMap runs readelf.
func readByteMap(t *testing.T, path string) *byteMap {
	t.Helper()
	m := &byteMap{}
	for _, line := range oracle.Readelf(t, path, "-SW") {
		_, line, ok := strings.Cut(line, "] ")
		if f := strings.Fields(line); ok && len(f) > 6 && strings.Contains(f[6], "X") {
			var addr, size uint64
			if _, err := fmt.Sscanf(f[2]+" "+f[4], "%x %x", &addr, &size); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			m.section(f[0], addr, size)
		}
	}
	for _, line := range oracle.Readelf(t, path, "--debug-dump=frames") {
		var from, to uint64
		if _, pc, ok := strings.Cut(line, " FDE "); ok {
			if _, err := fmt.Sscanf(pc[strings.Index(pc, "pc="):], "pc=%x..%x", &from, &to); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			for at := from; at < min(to, uint64(len(m.covered))); at++ {
				m.covered[at] = true
			}
		}
	}
	return m
}

func (m *byteMap) section(name string, addr, size uint64) {
	if strings.HasPrefix(name, ".plt") || name == ".iplt" || name == ".init" || name == ".fini" {
		m.other += size
		return
	}
	if more := int(addr+size) - len(m.code); more > 0 {
		m.code = append(m.code, make([]bool, more)...)
		m.covered = append(m.covered, make([]bool, more)...)
	}
	for at := addr; at < addr+size; at++ {
		m.code[at] = true
	}
}

// The number of bytes of code that have rules equals the count in readelf's output. Together with
// the bytes that the figure leaves out, it adds up to all executable bytes: 18,872,313 bytes of 60
// libraries, for all CPUs except ARM.
func TestOracleCodeShare(t *testing.T) {
	testenv.Oracle(t)
	const most, largest = 60, 5 << 20
	paths, err := filepath.Glob("/usr/lib/x86_64-linux-gnu/*.so*")
	if err != nil {
		t.Fatal(err)
	}
	others, err := filepath.Glob("/usr/*-linux-gnu*/lib/lib[cm].so.6")
	if err != nil {
		t.Fatal(err)
	}
	compared, bytesCompared := 0, uint64(0)
	step := max(1, len(paths)/(4*most))
	var list []string
	for i := 0; i < len(paths); i += step {
		list = append(list, paths[i])
	}
	for _, path := range append(others, list...) {
		st, err := os.Lstat(path)
		if err != nil || !st.Mode().IsRegular() || st.Size() > largest || compared == most || strings.Contains(path, "/arm-") {
			continue // links; ARM's rules are elsewhere
		}
		if head, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(head, []byte("\x7fELF")) {
			continue
		}
		r := lintBinary(t, testenv.Dump(t, path, "--cfi", "dwarf"), symtest.Open(t, path), Options{Rules: []*finding.Rule{}})
		m := readByteMap(t, path)
		var covered, code uint64
		for at, is := range m.code {
			if is {
				code++
				if m.covered[at] {
					covered++
				}
			}
		}
		all := r.Coverage.All
		if all.Of != coverage.CodeOfBinary || all.Covered != covered {
			t.Errorf("%s: %d bytes have rules, readelf has %d", path, all.Covered, covered)
		}
		if sum := all.Total + all.Padding + all.Data + all.Startup + all.Linkage; sum != code+m.other {
			t.Errorf("%s: %d bytes in total, readelf has %d", path, sum, code+m.other)
		}
		compared++
		bytesCompared += code
	}
	t.Logf("%d bytes of code of %d libraries", bytesCompared, compared)
	if compared < 50 {
		t.Errorf("only %d libraries", compared)
	}
}
