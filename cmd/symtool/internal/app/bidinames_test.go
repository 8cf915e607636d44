package app_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/symtool/symtool/internal/testenv"
)

// bidiSymbols returns the symbols of crashes/stacks with a mark in the name of each function and file.
func bidiSymbols(t *testing.T, mark string) string {
	t.Helper()
	symbols := testenv.Output(t, 0, "dump", testenv.Input(t, "crashes", "stacks"))
	fields := map[string]int{"FUNC": 4, "FILE": 2, "PUBLIC": 3, "INLINE_ORIGIN": 2}
	var out strings.Builder
	for line := range strings.Lines(symbols) {
		words := strings.SplitN(line, " ", fields[strings.SplitN(line, " ", 2)[0]]+1)
		if n := len(words) - 1; n > 1 && n == fields[words[0]] {
			words[n] = words[n][:1] + mark + words[n][1:]
		}
		out.WriteString(strings.Join(words, " "))
	}
	return out.String()
}

// runIn runs symtool in a folder, with the file after < as its input, and returns all that it wrote, including
// the file named out.
func runIn(t *testing.T, dir, command string) string {
	t.Helper()
	command, stdin, redirected := strings.Cut(command, " < ")
	c := exec.Command(testenv.Symtool(t), strings.Fields(command)...)
	c.Dir = dir
	if redirected {
		in, err := os.Open(filepath.Join(dir, stdin))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		c.Stdin = in
	}
	printed, err := c.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) || c.ProcessState.ExitCode() == 2 {
		t.Fatalf("symtool %s: %v: %s", command, err, printed)
	}
	written, err := os.ReadFile(filepath.Join(dir, "out"))
	if err == nil {
		err = os.Remove(filepath.Join(dir, "out"))
	}
	if err != nil && strings.Contains(command, "-o out") {
		t.Fatalf("symtool %s: %v: %s", command, err, printed)
	}
	return string(printed) + string(written)
}

// bidiCommands are commands whose output people read. a.sym and b.sym have marks in the names of functions and
// files, module.sym has one in the name of its module, and the store placed has them in the names of its folders
// and files.
var bidiCommands = []string{
	"resolve -s a.sym ADDR 2000", "resolve -v -s a.sym 99999999",
	"lint a.sym", "lint --format html -o out a.sym", "lint --format github a.sym", "lint --format junit a.sym",
	"lint --format sarif a.sym", "lint --format codequality a.sym", "lint --format json a.sym", "lint module.sym", "lint --format html -o out module.sym",
	"diff a.sym b.sym", "diff --detail a.sym b.sym", "diff --raw a.sym b.sym", "diff --format html -o out a.sym b.sym", "diff --format json a.sym b.sym",
	"diff a.sym module.sym", "doctor a.sym", "doctor module.sym", "dump -v -o binary.sym l\u202e.elf", "dump --store store l\u202e.elf", "doctor l\u202e.elf",
	"store add store module.sym", "convert --to-store store --layout breakpad module.sym", "convert -v --to gsym -o x.gsym module.sym",
	"walk -s a.sym m.dmp", "walk --brief -s a.sym m.dmp", "walk --trace --verify -s a.sym m.dmp", "walk -v -s a.sym m.dmp",
	"walk --format machine -s a.sym m.dmp", "walk --format json -s a.sym m.dmp", "walk --format jsonl --verify --trace -s a.sym m.dmp",
	"walk --format html --verify -o out -s a.sym m.dmp", "walk --summary -s a.sym m.dmp", "walk --summary --format html -o out -s a.sym m.dmp",
	"walk --summary --format json -s a.sym m.dmp", "walk --symbols-b b.sym -s a.sym m.dmp", "walk --symbols-b b.sym -s a.sym --format json m.dmp",
	"resolve --format json -s a.sym ADDR", "inspect m.dmp",
	"resolve --filter --no-debuginfod -s a.sym < m.log", "resolve -v --filter --no-debuginfod -s placed < m.log",
	"store ls placed", "store ls --format json placed", "store ls --missing list placed", "store verify placed", "store verify --format json placed", "store gc --keep-last 1 --dry-run placed",
	"upload --protocol put --dry-run http://127.0.0.1:1/ placed", "upload --protocol put --dry-run --format json http://127.0.0.1:1/ placed", "lint placed",
}

// bidiMarks are a mark of each kind that changes the direction of text.
var bidiMarks = []string{"\u202e", "\u2066", "\u200f", "\u061c"}

// TestBidiNames checks that names, wherever they come from, cannot reverse text that people read
// (CVE-2021-42574): characters that change the direction of text are escaped. Symbol files keep them.
func TestBidiNames(t *testing.T) {
	for i, mark := range bidiMarks {
		commands := bidiCommands
		if i > 0 {
			commands = []string{bidiCommands[0], "walk -s a.sym m.dmp", "walk --format html -o out -s a.sym m.dmp", "diff a.sym b.sym"}
		}
		dir := t.TempDir()
		symbols := bidiSymbols(t, mark)
		module := "MODULE Linux x86_64 4D70D0BF39CFB6C791C354B6BD3ED3E90 m" + mark + "od\nFUNC 1000 10 0 f" + mark + "g\n"
		elf := testenv.Input(t, "gcc-dwarf5.elf")
		data, err := os.ReadFile(elf)
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{
			"a.sym": []byte(symbols), "b.sym": []byte(strings.ReplaceAll(symbols, mark, mark+mark)), "module.sym": []byte(module), "l\u202e.elf": data,
			"m.dmp": testenv.Gunzip(t, testenv.Input(t, "crashes", "stacks.dmp.gz")),
		} {
			testenv.WriteFile(t, filepath.Join(dir, name), data)
		}
		placeBidi(t, dir, "m"+mark+"od", module)
		addr := firstFunction(t, symbols)
		for _, command := range commands {
			out := runIn(t, dir, strings.Replace(command, "ADDR", addr, 1))
			if at := strings.IndexFunc(out, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }); at >= 0 {
				t.Errorf("%+q: symtool %s: %+q", mark, command, out[max(0, at-40):min(len(out), at+40)])
			}
		}
		if again := runIn(t, dir, "convert --to breakpad a.sym"); !bytes.Equal([]byte(again), []byte(symbols)) {
			t.Errorf("%+q: symbols change in convert", mark)
		}
		if machine := runIn(t, dir, "resolve --format llvm -s a.sym "+addr); !strings.Contains(machine, mark) {
			t.Errorf("%+q: not in what other programs read: %+q", mark, machine)
		}
	}
}

// placeBidi makes the store placed, a list of missing names, and a log of places in modules. symtool itself
// would not write such names into a store (TestNamesWithoutPlace).
func placeBidi(t *testing.T, dir, name, symbols string) {
	t.Helper()
	const id = "4D70D0BF39CFB6C791C354B6BD3ED3E90"
	folder := filepath.Join(dir, "placed", name, id)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	testenv.WriteFile(t, filepath.Join(folder, name+".sym"), []byte(symbols))
	testenv.WriteFile(t, filepath.Join(folder, "damaged.sym"), []byte(symbols+"zzz "+name+"\n"))
	testenv.WriteFile(t, filepath.Join(dir, "list"), []byte(name+"/"+id+"\nno"+name+"/"+id+"\n"))
	testenv.WriteFile(t, filepath.Join(dir, "m.log"), []byte("stacks+0x1200\nat mod+0x1001 (BuildId: BFD0704DCF39C7B691C354B6BD3ED3E9)\n"))
}

// firstFunction returns the address of the first FUNC record.
func firstFunction(t *testing.T, symbols string) string {
	t.Helper()
	_, rest, found := strings.Cut(symbols, "\nFUNC ")
	if !found {
		t.Fatal("no FUNC")
	}
	words := strings.Fields(strings.TrimPrefix(rest, "m "))
	return words[0]
}

// TestNamesWithoutPlace checks that a name that no file in a store can have is damage in the input, whichever
// command writes the store.
func TestNamesWithoutPlace(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile(testenv.Input(t, "gcc-dwarf5.elf"))
	if err != nil {
		t.Fatal(err)
	}
	for name, why := range map[string]string{"l\xff": `"l\xff": is not UTF-8`, "l\u202e": `"l\u202e": has the control character U+202E`} {
		testenv.WriteFile(t, filepath.Join(dir, name), data)
		symbols := name + ".sym"
		testenv.WriteFile(t, filepath.Join(dir, symbols), []byte("MODULE Linux x86_64 4D70D0BF39CFB6C791C354B6BD3ED3E90 "+name+"\nFUNC 1000 10 0 f\n"))
		for _, args := range [][]string{
			{"dump", "--store", "st", name}, {"store", "add", "st", symbols}, {"convert", "--to-store", "st", "--layout", "breakpad", symbols},
		} {
			if args[0] == "convert" && name == "l\xff" {
				continue // the reader, and so the output, has U+FFFD there
			}
			c := exec.Command(testenv.Symtool(t), args...)
			c.Dir = dir
			out, _ := c.CombinedOutput()
			if status := c.ProcessState.ExitCode(); status != 3 || !strings.Contains(string(out), why) {
				t.Errorf("symtool %q: status %d, want 3: %s", args, status, out)
			}
		}
	}
}
