package dropin

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
)

// TestOracleMarkup checks that llvm-symbolizer --filter-markup and symtool under its name turn a log with
// symbolizer markup, including mistakes, into the same bytes.
func TestOracleMarkup(t *testing.T) {
	testenv.Oracle(t)
	tool, dir, inlined := testenv.Tool(t, "llvm-symbolizer-22"), t.TempDir(), false
	for _, file := range []string{"clang-dwarf5.elf", "gcc-dwarf5.elf"} {
		log := markupLog(t, dir, file)
		for _, options := range []string{"", "--color=always", "--no-demangle -s", "--relativenames -f=short", "--no-inlines --color"} {
			args := append(strings.Fields(options), "--filter-markup", "--debug-file-directory", dir)
			want := asked(t, log, tool, args...)
			got := asked(t, log, testenv.Symtool(t), append([]string{"as", "llvm-symbolizer"}, args...)...)
			if !bytes.Equal(got, want) {
				t.Errorf("%s %s:\n%s\nwant\n%s", file, options, got, want)
			}
			inlined = inlined || bytes.Contains(want, []byte(".1  0x"))
		}
	}
	if !inlined {
		t.Error("no inlined function")
	}
}

// markupLog returns a log about all code and some data of a fixture, and copies the fixture to the path for
// its build-id.
func markupLog(t *testing.T, dir, file string) string {
	t.Helper()
	path := testenv.Input(t, file)
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id := fmt.Sprintf("%x", f.BuildID())
	text, err := os.ReadFile(path)
	if err != nil || len(id) < 10 {
		t.Fatalf("build-id %q: %v", id, err)
	}
	place := filepath.Join(dir, ".build-id", id[:2], id[2:]+".debug")
	if err := os.MkdirAll(filepath.Dir(place), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(place, text, 0o666); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "early {{{pc:0x1}}}\n[1] {{{module:0:%s:elf:%s}}} rest\n{{{module:0x1:gone.so:elf:ABC}}}\n", file, id)
	for i, r := range f.ExecRanges() {
		fmt.Fprintf(&b, "[1] {{{mmap:0x%x:0x%x:load:0:rX:0x%x}}} rest\n", 0x7000000+r.Start, r.End-r.Start, r.Start)
		if i == 0 {
			b.WriteString("between\n{{{mmap:0x1000:4096:load:1:rw:0x0}}}\r\n")
		}
	}
	for i, r := range f.ExecRanges() {
		for addr := r.Start; addr < r.End; addr += 7 {
			fmt.Fprintf(&b, "\x1b[3%dm{{{bt:%d:0x%x}}} at {{{pc:0x%x:ra}}}\x1b[0m {{{pc:0x%x}}}\n", i, addr%1000, 0x7000000+addr, 0x7000000+addr, 0x7000000+addr)
		}
	}
	b.WriteString("{{{bt:1:0x1010:pc}}} {{{data:0x1010}}}\r\n\x1b[1m{{{symbol:_ZN1a1bILi1EEEvi.cold}}} \x1b[34m{{{symbol:x}}} \x1b[99m\n")
	b.WriteString("{{{Tag:1}}} {{{other:1}}} {{{bt:x:0x1}}} {{{pc:1}}} {{{}}} {{{symbol:a\nb}}} {{{mmap:0x1:0x1:load:9:r:0x0}}}\n{{{reset}}}\n{{{reset}}}\nend")
	return b.String()
}
