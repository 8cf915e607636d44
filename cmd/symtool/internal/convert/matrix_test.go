package convert_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/formats"
	"github.com/symtool/symtool/internal/testenv"
)

// everyRecord has each kind of record and field in symbol files.
const everyRecord = `MODULE Linux x86_64 90CC062BE7FC76BA7C3A0E8032C177960 m
INFO CODE_ID 2B06CC90FCE7BA767C3A0E8032C177968513A021
INFO GENERATOR by hand
FILE 0 /src/a.c
FILE 1 /src/b.h
INLINE_ORIGIN 0 inner
INLINE_ORIGIN 1 outer
FUNC 1000 40 8 main
INLINE 0 3 0 1 1008 10
INLINE 1 9 1 0 100c 4
1000 8 2 0
1008 10 4 1
1018 28 5 0
FUNC m 1040 10 0 folded
1040 10 7 0
PUBLIC 1100 4 last
STACK WIN 4 1000 40 0 0 8 0 0 0 1 $eip $esp ^ =
STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1001 .cfa: $rsp 16 +
`

// lostLine matches convert's report of a loss: the count and what was lost.
var lostLine = regexp.MustCompile(`(?m)^symtool: [^:]*: lost: [0-9]+ (.*?)(?: \(.*\))?$`)

// TestConvertMatrix compares, for each pair of formats of symbols, what the second format cannot hold, except what the
// first has already lost, with a list that the table in docs/convert.md summarises.
func TestConvertMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	dir := t.TempDir()
	path := func(parts ...string) string { return filepath.Join(dir, strings.Join(parts, ".")) }
	if err := os.WriteFile(path("every"), []byte(everyRecord), 0o666); err != nil {
		t.Fatal(err)
	}
	// The scripts convert_sframe and convert_nothing test what SFrame holds and loses.
	names := formats.Names(func(f *formats.Format) bool { return f.Read != nil && f.Write != nil && !f.OnlyRules() })
	var found strings.Builder
	for _, from := range names {
		mustConvert(t, "--quiet", "--from", "breakpad", "--to", from, path("every"), "-o", path(from))
		before := recordsOf(t, from, path(from), path(from, "sym"))
		for _, to := range names {
			pair := path(from, to)
			status, said := converted("--from", from, "--to", to, path(from), "-o", pair)
			if status == cli.StatusInput {
				_, why, _ := strings.Cut(strings.TrimSpace(said), "is not written as ")
				fmt.Fprintf(&found, "%s -> %s: not written as %s\n", from, to, why)
				continue
			}
			if status != cli.StatusOK {
				t.Fatalf("%s -> %s: status %d: %s", from, to, status, said)
			}
			var lost []string
			for _, m := range lostLine.FindAllStringSubmatch(said, -1) {
				lost = append(lost, m[1])
			}
			if lost == nil {
				lost = []string{"loss-free"}
			}
			fmt.Fprintf(&found, "%s -> %s: %s\n", from, to, strings.Join(lost, ", "))
			after := recordsOf(t, to, pair, path(from, to, "sym"))
			checkLosses(t, from+" -> "+to, strings.Join(lost, ", "), before, after)
			if status, _ := converted("--strict", "--quiet", "--from", from, "--to", to, path(from), "-o", path("strict")); (status == cli.StatusOK) != (lost[0] == "loss-free") {
				t.Errorf("%s -> %s: status %d of --strict, and lost is %s", from, to, status, lost)
			}
		}
	}
	testenv.Golden(t).Assert(t, "matrix.txt", []byte(found.String()))
}

// recordsOf returns the lines of the symbol file that convert makes from a file, without the lines
// that are made up if a format lacks them.
func recordsOf(t *testing.T, format, file, out string) []string {
	t.Helper()
	mustConvert(t, "--quiet", "--rename-module", "m", "--from", format, "--to", "breakpad", file, "-o", out)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// checkLosses compares the reported losses with the records before the conversion and those found
// when the output is read again.
func checkLosses(t *testing.T, pair, reported string, before, after []string) {
	t.Helper()
	if reported == "loss-free" {
		// An ELF file is dumped, which adds INFO records: symelf's tests compare these.
		if !slices.Equal(before, after) && !strings.HasPrefix(pair, "elf") && !strings.HasSuffix(pair, "elf") {
			t.Errorf("%s: loss-free, but\n%s\nbecame\n%s", pair, strings.Join(before, "\n"), strings.Join(after, "\n"))
		}
		return
	}
	kinds := map[string]int{}
	for _, line := range before {
		kinds[kindOf(line)]++
	}
	for _, line := range after {
		kinds[kindOf(line)]--
	}
	for kind, less := range kinds {
		if less > 0 && !strings.Contains(reported, kind+" record") && !strings.Contains(reported, "that a symbol is "+kind) {
			t.Errorf("%s: %d fewer records of %s, and it reported %q", pair, less, kind, reported)
		}
	}
}

func kindOf(line string) string {
	for _, kind := range []string{"MODULE", "INFO", "FILE", "INLINE_ORIGIN", "FUNC", "INLINE", "PUBLIC", "STACK WIN", "STACK CFI INIT", "STACK CFI"} {
		if strings.HasPrefix(line, kind+" ") {
			return kind
		}
	}
	return "line"
}
