package resolve

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/gsym"
)

// TestOracleGSYMRead converts programs with llvm-gsymutil, and compares its answers from the
// result with ours.
func TestOracleGSYMRead(t *testing.T) {
	testenv.Oracle(t)
	for _, c := range []struct {
		name string
		path func(t *testing.T) string
	}{
		{"c++", func(t *testing.T) string { return testenv.Templates(t) }},
		{"go", goProgram}, {"rust", rustProgram}, {"vmlinux", vmlinux},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "c++" && !testenv.OracleFull() {
				t.Skip("runs with SYMTOOL_ORACLE=full: a large program")
			}
			program := c.path(t)
			file := filepath.Join(t.TempDir(), "x.gsym")
			ask(t, nil, testenv.Tool(t, "llvm-gsymutil-22"), "--convert="+program, "--out-file="+file, "--quiet")
			m := readGSYM(t, file)
			var text bytes.Buffer
			if err := symfmt.Write(&text, m, symfmt.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			r := openFile(t, writeFile(t, "x.sym", text.Bytes()))
			rules := make(map[string]int)
			asked, shown := 0, 0
			var at Location
			askGSYM(t, file, imageBase(t, file), gsymAddresses(m), func(rva symfmt.RVA, frames []gsymFrame) {
				if _, err := r.Nearest(t.Context(), rva, &at); err != nil {
					t.Fatal(err)
				}
				asked++
				switch rule := readRule(r, rva, frames, &at); {
				case sameGSYM(frames, &at, rva):
				case rule != "":
					rules[rule]++
				case shown < 20:
					shown++
					t.Errorf("%#x: %+v, want %+v", uint64(rva), at, frames)
				}
			})
			t.Logf("%d addresses of %d functions, differences: %v", asked, len(m.Funcs), rules)
		})
	}
}

func readGSYM(t *testing.T, file string) *symfmt.Module {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	result, err := gsym.Read(context.Background(), f, info.Size(), gsym.ReadOptions{File: file})
	if err != nil || len(result.Problems) > 0 {
		t.Fatal(err, result)
	}
	return result.Module
}

// imageBase returns the base address in a header of version 1.
func imageBase(t *testing.T, file string) uint64 {
	head, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var base uint64
	for i := range 8 {
		base |= uint64(head[8+i]) << (8 * i)
	}
	return base
}

// readRule names the rule for a difference, "" if no rule covers it.
func readRule(r *Resolver, rva symfmt.RVA, frames []gsymFrame, at *Location) string {
	last := len(at.Frames) - 1
	switch {
	case len(frames) == 1 && last > 0 && at.Frames[0].File == "" && frames[0].file == "" && frames[0].name == at.Frames[last].Function:
		// llvm-gsymutil does not look for inlined functions where a row has no file.
		return "inlined functions without a line"
	case len(frames) == 0 && at.Source == Func && behindInner(r, rva):
		// It considers only the last function that begins before the address.
		return "behind a function inside of another"
	}
	return ""
}

// behindInner reports whether a function ends between an address and the start of the function
// around it.
func behindInner(r *Resolver, rva symfmt.RVA) bool {
	base := r.x.funcs.below(rva) - 1
	return base >= 0 && !holds(r.x.funcs.start(base), r.x.funcs.span(base).size, rva)
}
