package walk

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// A minidump of macOS is walked with a program and its dSYM, which are found by the UUID: rules come from the
// program, functions and lines from the dSYM. Return addresses of arm64e are signed, and the first frame is in an
// epilogue.
func TestMachO(t *testing.T) {
	const base, signature = 0x1_0400_0000, 0x5a3b << 48
	dir := t.TempDir()
	dsym := filepath.Join(dir, "any.dSYM", "Contents", "Resources", "DWARF")
	if err := os.MkdirAll(dsym, 0o777); err != nil {
		t.Fatal(err)
	}
	copyFile(t, testenv.Input(t, "macho-arm64"), filepath.Join(dir, "prog"), nil)
	copyFile(t, testenv.Input(t, "macho-arm64.dSYM"), filepath.Join(dsym, "prog"), nil)

	a := walktest.Assemble(t, arch.ARM64, dump.MacOS)
	a.Module("prog", base, 0x8000, "")
	a.Modules[0].Path = "/Applications/Any.app/Contents/MacOS/prog"
	a.Modules[0].DebugID = symtest.Open(t, filepath.Join(dir, "prog")).ID()
	a.At(0x1_6f00_0000).Mark("sp").Zeros(6)
	a.Mark("caller").Word("main").Word(uint64(base + 0x85c | signature))
	a.Mark("main").Word(0).Word(0).Zeros(8)
	a.Regs("pc", base+0x508, "x30", uint64(base+0x53c|signature), "sp", "sp", "x29", "caller", "cpsr", 0)
	data, problems := walktest.Written(t, dumpfile.Minidump, a.Build())
	if len(problems) > 0 {
		t.Error(problems)
	}
	binaries, err := supplier.NewBinaries([]string{dir}, supplier.BinaryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := walkDump(t, NewSymbolSet(nil, binaries), walktest.Parsed(t, data), Config{})
	var got []string
	for _, f := range r.Stacks[0].Frames {
		text := fmt.Sprintf("%x %s", f.PC-base, f.Trust)
		for _, n := range f.Names {
			text += fmt.Sprintf(" %s %s:%d", n.Function, filepath.Base(n.File), n.Line)
		}
		got = append(got, text)
	}
	const want = "508 context calls_one macho_frames.c:24\n53c cfi calls_two macho_frames.c:25\n85c cfi main macho_frames.c:58"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
