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

// matrix lists, for each pair of formats of symbols, what the second format cannot hold, except
// what the first has already lost. The table in docs/convert.md summarises it.
const matrix = `breakpad -> breakpad: loss-free
breakpad -> json: loss-free
breakpad -> jsonl: loss-free
breakpad -> gsym: MODULE record, INFO record, STACK WIN record, STACK CFI INIT record, STACK CFI record, sizes of parameters, "m" mark
breakpad -> symcache: MODULE record, INFO records, STACK CFI INIT record, STACK CFI record, STACK WIN record, sizes of parameters, "m" mark
breakpad -> elf: INFO record, sizes of parameters, "m" mark, STACK WIN record
breakpad -> perfmap: MODULE record, INFO records, FILE records, INLINE_ORIGIN records, INLINE records, line records, STACK WIN record, STACK CFI INIT record, STACK CFI record, sizes of parameters, "m" mark, mark that a symbol is PUBLIC
breakpad -> nm: MODULE record, INFO records, FILE records, INLINE_ORIGIN records, INLINE records, line records, STACK WIN record, STACK CFI INIT record, STACK CFI record, sizes of parameters, "m" mark
json -> breakpad: loss-free
json -> json: loss-free
json -> jsonl: loss-free
json -> gsym: MODULE record, INFO record, STACK WIN record, STACK CFI INIT record, STACK CFI record, sizes of parameters, "m" mark
json -> symcache: MODULE record, INFO records, STACK CFI INIT record, STACK CFI record, STACK WIN record, sizes of parameters, "m" mark
json -> elf: INFO record, sizes of parameters, "m" mark, STACK WIN record
json -> perfmap: MODULE record, INFO records, FILE records, INLINE_ORIGIN records, INLINE records, line records, STACK WIN record, STACK CFI INIT record, STACK CFI record, sizes of parameters, "m" mark, mark that a symbol is PUBLIC
json -> nm: MODULE record, INFO records, FILE records, INLINE_ORIGIN records, INLINE records, line records, STACK WIN record, STACK CFI INIT record, STACK CFI record, sizes of parameters, "m" mark
jsonl -> breakpad: loss-free
jsonl -> json: loss-free
jsonl -> jsonl: loss-free
jsonl -> gsym: MODULE record, INFO record, STACK WIN record, STACK CFI INIT record, STACK CFI record, sizes of parameters, "m" mark
jsonl -> symcache: MODULE record, INFO records, STACK CFI INIT record, STACK CFI record, STACK WIN record, sizes of parameters, "m" mark
jsonl -> elf: INFO record, sizes of parameters, "m" mark, STACK WIN record
jsonl -> perfmap: MODULE record, INFO records, FILE records, INLINE_ORIGIN records, INLINE records, line records, STACK WIN record, STACK CFI INIT record, STACK CFI record, sizes of parameters, "m" mark, mark that a symbol is PUBLIC
jsonl -> nm: MODULE record, INFO records, FILE records, INLINE_ORIGIN records, INLINE records, line records, STACK WIN record, STACK CFI INIT record, STACK CFI record, sizes of parameters, "m" mark
gsym -> breakpad: loss-free
gsym -> json: loss-free
gsym -> jsonl: loss-free
gsym -> gsym: MODULE record
gsym -> symcache: MODULE record, INFO record
gsym -> elf: not written as elf: MODULE's CPU "unknown" has no known ELF machine
gsym -> perfmap: MODULE record, INFO record, FILE records, INLINE_ORIGIN records, INLINE records, line records, mark that a symbol is PUBLIC
gsym -> nm: MODULE record, INFO record, FILE records, INLINE_ORIGIN records, INLINE records, line records
symcache -> breakpad: loss-free
symcache -> json: loss-free
symcache -> jsonl: loss-free
symcache -> gsym: MODULE record
symcache -> symcache: MODULE record
symcache -> elf: loss-free
symcache -> perfmap: MODULE record, FILE records, INLINE_ORIGIN records, INLINE records, line records, mark that a symbol is PUBLIC
symcache -> nm: MODULE record, FILE records, INLINE_ORIGIN records, INLINE records, line records
elf -> breakpad: loss-free
elf -> json: loss-free
elf -> jsonl: loss-free
elf -> gsym: MODULE record, INFO record, STACK CFI INIT record, STACK CFI record
elf -> symcache: MODULE record, INFO records, STACK CFI INIT record, STACK CFI record
elf -> elf: INFO record
elf -> perfmap: MODULE record, INFO records, FILE records, INLINE_ORIGIN records, INLINE records, line records, STACK CFI INIT record, STACK CFI record, mark that a symbol is PUBLIC
elf -> nm: MODULE record, INFO records, FILE records, INLINE_ORIGIN records, INLINE records, line records, STACK CFI INIT record, STACK CFI record
perfmap -> breakpad: loss-free
perfmap -> json: loss-free
perfmap -> jsonl: loss-free
perfmap -> gsym: MODULE record
perfmap -> symcache: MODULE record
perfmap -> elf: not written as elf: MODULE's CPU "unknown" has no known ELF machine
perfmap -> perfmap: MODULE record
perfmap -> nm: MODULE record
nm -> breakpad: loss-free
nm -> json: loss-free
nm -> jsonl: loss-free
nm -> gsym: MODULE record
nm -> symcache: MODULE record
nm -> elf: not written as elf: MODULE's CPU "unknown" has no known ELF machine
nm -> perfmap: MODULE record, mark that a symbol is PUBLIC
nm -> nm: MODULE record
`

// lostLine matches convert's report of a loss: the count and what was lost.
var lostLine = regexp.MustCompile(`(?m)^symtool: [^:]*: lost: [0-9]+ (.*?)(?: \(.*\))?$`)

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
	if found.String() != matrix {
		t.Errorf("got\n%s\nwant\n%s", found.String(), matrix)
	}
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
