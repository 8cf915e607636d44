package convert_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// cutCommands are the commands that read symbols, FILE, of the module of a crash, DUMP; OTHER is a whole symbol file.
// Each command must report that FILE was cut off inside a line, and must end with its status for damage.
var cutCommands = []string{
	"resolve --symbols FILE 0x1000", "resolve --index --symbols FILE 0x1000", "convert --to breakpad FILE -o OUT", "convert --to json FILE -o OUT",
	"diff FILE OTHER", "diff OTHER FILE", "doctor FILE", "lint FILE", "walk --symbols FILE DUMP",
	"store add STORE FILE", "upload --protocol put --dry-run http://127.0.0.1:1 FILE",
}

// cutSymbols are the symbols of the module of DUMP.
const cutSymbols = `MODULE Linux x86_64 %s stacks
FILE 0 a.c
FILE 12 b.c
FUNC 1000 10 0 function
1000 10 12345 12
PUBLIC 2000 0 last public
STACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1001 .cfa: $rsp 16 +
`

// TestCutFiles checks that no command takes a symbol file that is cut off inside a line for a whole one, wherever
// that is.
func TestCutFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	dumpFile := testenv.Input(t, "crashes", "stacks.core.gz")
	var module, said bytes.Buffer
	if status := app.Run(context.Background(), []string{"symtool", "dump", "--module-only", testenv.Input(t, "crashes", "stacks")}, nil, &module, &said); status != cli.StatusOK {
		t.Fatal(said.String())
	}
	text := fmt.Sprintf(cutSymbols, strings.Fields(module.String())[3])
	testenv.WriteFile(t, at("other.sym"), text)
	for _, command := range cutCommands {
		for n := strings.IndexByte(text, '\n') + 2; n < len(text); n++ {
			if text[n-1] == '\n' || n%10 != 0 && strings.HasPrefix(command, "walk") { // a walk takes long
				continue
			}
			testenv.WriteFile(t, at("cut.sym"), text[:n])
			os.RemoveAll(at("store"))
			args := strings.Fields(strings.NewReplacer("FILE", at("cut.sym"), "OTHER", at("other.sym"), "OUT", at("out"),
				"STORE", at("store"), "DUMP", dumpFile).Replace(command))
			var out, said bytes.Buffer
			status := app.Run(context.Background(), append([]string{"symtool"}, args...), nil, &out, &said)
			want := cli.StatusInput
			if strings.HasPrefix(command, "lint") {
				want = cli.StatusFindings
			}
			line := strings.Count(text[:n], "\n") + 1
			place := fmt.Sprintf("%d:%d: ", line, n-strings.LastIndexByte(text[:n], '\n'))
			if all := out.String() + said.String(); status != want || !strings.Contains(all, place) || !strings.Contains(all, "the file ends inside this line") {
				t.Errorf("%s, cut at %d: status %d, want %d and %q in\n%s", command, n, status, want, place, all)
				break
			}
		}
	}
}

// TestCutTexts is like TestCutFiles, for the other text formats of symbols. JSON marks its own ends: a whole last
// value is whole even without a line feed.
func TestCutTexts(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, c := range []struct{ from, text string }{
		{"nm", "0000000000001000 0000000000000010 T main\n0000000000001010 T last function\n"},
		{"nm", "ffffffff81000000 T startup_64\nffffffff81000040 t verify_cpu\t[module]\n"}, // /proc/kallsyms
		{"perfmap", "1000 10 main\n1010 20 last function\n"},
		{"json", ""}, {"jsonl", ""},
	} {
		if c.text == "" {
			testenv.WriteFile(t, in, fmt.Sprintf(cutSymbols, "0123456789ABCDEF0123456789ABCDEF0"))
			mustConvert(t, "--to", c.from, in, "-o", out)
			text, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			c.text = string(bytes.TrimRight(text, "\n"))
		}
		for n := strings.IndexByte(c.text, '\n') + 2; n < len(c.text); n++ {
			if c.text[n-1] == '\n' && c.from != "json" {
				continue
			}
			if n < len(c.text) && c.from == "jsonl" && c.text[n] == '\n' {
				continue // a whole record
			}
			testenv.WriteFile(t, in, c.text[:n])
			status, said := converted("--from", c.from, "--to", "breakpad", in, "-o", out)
			if status != cli.StatusInput || !strings.Contains(said, in) {
				t.Errorf("%s cut at %d, %q: status %d: %s", c.from, n, c.text[max(0, n-20):n], status, said)
				break
			}
		}
	}
}
