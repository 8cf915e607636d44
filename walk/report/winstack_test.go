package report

import (
	"bytes"
	"compress/gzip"
	"os"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// winStack returns a process of 32-bit Windows with a stack of five functions, which are unwound by
// program strings with and without a frame pointer, and by the sizes of FPO.
func winStack(t *testing.T) *walktest.Assembler {
	text := testenv.ReadInput(t, "crashes", "win.sym")
	_, records, _ := strings.Cut(string(text), "\n")
	a := walktest.Assemble(t, arch.X86, dump.Windows)
	a.Module("app.pdb", 0x400000, 0x10000, records)
	a.At(0x80000000)
	a.Mark("esp").Words(1, 2, 3, 0x404020)                           // fpo: two locals, a saved register
	a.Words(0xa0, 0x51, 0xb1).Mark("saves").Words("outer", 0x403030) // its argument; saves: %esi, %ebx
	a.Words(0xa1, 0xa2, 1, 2, 3, 4, 5, 0x402020)                     // its arguments; three locals, two registers
	a.Words(6).Mark("outer").Words("main", 0x401040)                 // outer: a local
	a.Words(0xa3, 7, 0)                                              // its argument; main: a local, no caller
	a.Mark("main").Words(0, 0)
	a.Regs("$eip", 0x405010, "$esp", "esp", "$ebp", "saves", "$ebx", 8, "$esi", 9)
	return allKnown(a)
}

// TestWinStack walks win.dmp.gz with win.sym to the frames that Breakpad finds.
func TestWinStack(t *testing.T) {
	a := winStack(t)
	d := a.Build()
	d.System.CPU = "x86"
	path := testenv.Input(t, "crashes") + "/win.dmp.gz"
	if testenv.Updating() {
		var dmp bytes.Buffer
		if _, err := dumpfile.Write(&dmp, "minidump", d); err != nil {
			t.Fatal(err)
		}
		writeGzip(t, path, dmp.Bytes())
	}
	want := firstThread(breakpadSays(t, "win.txt", func(tool string) string { return breakpadText(t, tool, winStack(t)) }))
	r := walks.Dump(t, path, walks.AssembledSources(a), walk.Config{})
	for name, r := range map[string]*walk.Result{"win.dmp.gz": r, "assembled": walks.Assembled(a, walk.Config{})} {
		if got := firstThread(textOf(t, r, TextOptions{Registers: true})); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
	var names []string
	for _, f := range r.Stacks[0].Frames {
		names = append(names, f.Function()+" "+f.By.String())
	}
	if got, want := strings.Join(names, ", "), "fpo context, saves win-fpo, without_pointer win-program, outer win-program, main win-program"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// firstThread cuts the frames of the first thread out of a text.
func firstThread(text string) string {
	_, text, _ = strings.Cut(text, "\nThread 0")
	_, text, _ = strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, "\n\n")
	return text
}

func writeGzip(t *testing.T, path string, data []byte) {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
