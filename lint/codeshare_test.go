package lint

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/symfmt"
)

// fixture returns a binary and its symbol file, without rules of instructions.
func fixture(t *testing.T, name string) (text, elf []byte) {
	t.Helper()
	path := testenv.Input(t, name+".elf")
	elf, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return testenv.Dump(t, path, "--cfi", "dwarf"), elf
}

// covered checks a text against a binary, which may be nil.
func covered(t *testing.T, text, elf []byte, o Options) *coverage.Coverage {
	t.Helper()
	if elf != nil {
		path := filepath.Join(t.TempDir(), "a.elf")
		if err := os.WriteFile(path, elf, 0o666); err != nil {
			t.Fatal(err)
		}
		o.Binary = symtest.Open(t, path)
	}
	o.File = "a.sym"
	r, err := Run(context.Background(), symfmt.TextRecords(bytes.NewReader(text)), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Coverage.ReadNames(bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return r.Coverage
}

// gapList prints the functions that lack call frame information.
func gapList(c *coverage.Coverage) string {
	var list []string
	for _, g := range c.Worst {
		list = append(list, fmt.Sprintf("%s %s %s %d of %d", g.Kind, g.Address, g.Name, g.Missing, g.Size))
	}
	return strings.Join(list, "; ")
}

// withoutHeaders removes the section headers.
func withoutHeaders(elf []byte) []byte {
	elf = slices.Clone(elf)
	binary.LittleEndian.PutUint64(elf[0x28:], 0)
	clear(elf[0x3c:0x40])
	return elf
}

// The code of a binary counts even if no record names it; other bytes do not count. The figures
// were counted in objdump's output for the two functions of uncovered.s and for the start-up code.
func TestCodeShareOfBinary(t *testing.T) {
	text, elf := fixture(t, "uncovered")
	bare, stripped := fixture(t, "uncovered-stripped")
	named := "PUBLIC 700 grind 1408 of 1408; PUBLIC d80 grain 4 of 4"
	nameless := "code 700  1408 of 1408; code d80  4 of 4"
	whole := coverage.CodeShare{Share: coverage.Share{Covered: 52, Total: 1464}, Of: coverage.CodeOfBinary, Startup: 272, Linkage: 24, Padding: 28, Data: 256}
	bareWhole := whole
	bareWhole.Startup, bareWhole.Padding = 286, 14                                                                                                            // with the padding inside
	segment := coverage.CodeShare{Share: coverage.Share{Covered: 52 + 24, Total: 1464 + 24}, Of: coverage.CodeOfBinary, Startup: 464, Padding: 52, Data: 256} // the PLT has rules, and no section
	masked := whole
	masked.Total, masked.Startup = masked.Total-128, 400 // frame_dummy may have 192 bytes
	records := coverage.CodeShare{Share: coverage.Share{Covered: 52, Total: 52 + 1664 + 4}, Of: coverage.CodeOfRecords, Startup: 464}
	for _, c := range []struct {
		name      string
		text, elf []byte
		with      func(string) string
		want      coverage.CodeShare
		gaps      string // with names of the text
	}{
		{"all", text, elf, nil, whole, named},
		{"no names", bare, stripped, nil, bareWhole, nameless},
		{"a name less", text, elf, swap("PUBLIC 700 0 grind\n", ""), masked, "PUBLIC 6c0 frame_dummy 1280 of 1472; PUBLIC d80 grain 4 of 4"},
		{"no section headers", text, withoutHeaders(elf), nil, segment, named},
		{"without the binary", text, nil, nil, records, "PUBLIC 700 grind 1664 of 1664; PUBLIC d80 grain 4 of 4"},
		{"the binary of another file", bytes.Replace(text, []byte("B6AA"), []byte("B6AB"), 1), elf, nil, records, "PUBLIC 700 grind 1664 of 1664; PUBLIC d80 grain 4 of 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			input := c.text
			if c.with != nil {
				input = []byte(c.with(string(input)))
			}
			got := covered(t, input, c.elf, Options{})
			if got.All != c.want || gapList(got) != c.gaps || got.Verdict != coverage.SymbolicationOnly {
				t.Errorf("%#v, %s: %s; want %#v: %s", got.All, got.Verdict, gapList(got), c.want, c.gaps)
			}
		})
	}
}
