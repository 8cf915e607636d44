package doctor

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
)

var (
	readelfSection = regexp.MustCompile(`(?m)^  \[ *\d+\] (\S+) +([A-Z_]\S*) +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) `)
	readelfTable   = regexp.MustCompile(`Symbol table '(\S+)' contains (\d+) entr`)
	readelfBuildID = regexp.MustCompile(`Build ID: ([0-9a-f]+)`)
)

// readelf finds the same sections with the same sizes, numbers of symbols and build-ids.
func TestInventoryOracle(t *testing.T) {
	testenv.Oracle(t)
	tool := testenv.Tool(t, "llvm-readelf-22")
	files, err := filepath.Glob(filepath.Join(testenv.Input(t), "*.elf"))
	if err != nil {
		t.Fatal(err)
	}
	sections, tables := 0, 0
	for _, path := range files {
		name := filepath.Base(path)
		f, err := objfile.Open(path, object.DefaultLimits())
		if err != nil {
			t.Error(err)
			continue
		}
		unwind := f.Terms.Unwind
		out, _ := exec.Command(tool, "-S", "-n", "-s", "--wide", path).Output() // damage is reported on stderr, and the rest is printed
		want := map[string]uint64{}
		for _, m := range readelfSection.FindAllStringSubmatch(string(out), -1) {
			size, _ := strconv.ParseUint(m[3], 16, 64)
			debug := strings.HasPrefix(m[1], ".debug_") || strings.HasPrefix(m[1], ".zdebug_")
			if m[2] != "NOBITS" && size > 0 && (debug || slices.Contains(unwind, m[1])) {
				want[m[1]] += size
			}
		}
		c := takeInventory(f)
		f.Close()
		got := map[string]uint64{}
		for _, s := range slices.Concat(c.Debug, c.Unwind) {
			if s.FileSize > 0 {
				got[s.Name] += s.FileSize
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: sections %v, readelf has %v", name, got, want)
		}
		sections += len(want)
		for _, m := range readelfTable.FindAllStringSubmatch(string(out), -1) {
			n, _ := strconv.Atoi(m[2])
			i := slices.IndexFunc(c.Symbols, func(s symbolCount) bool { return s.Table == m[1] })
			have := 0
			if i >= 0 {
				have = c.Symbols[i].Symbols
			}
			if have != max(n-1, 0) { // the first one is null
				t.Errorf("%s: %d symbols in %s, readelf has %d", name, have, m[1], n-1)
			}
			tables++
		}
		id := ""
		if m := readelfBuildID.FindStringSubmatch(string(out)); m != nil {
			id = m[1]
		}
		// The id of moved-exec.elf has 5 bytes without padding, at the section's end: llvm-readelf and readelf refuse the note.
		if c.BuildID != id && !(name == "moved-exec.elf" && c.BuildID == "6d6f766564") {
			t.Errorf("%s: build-id %q, readelf has %q", name, c.BuildID, id)
		}
	}
	t.Logf("%d files, %d sections, %d symbol tables", len(files), sections, tables)
	if sections < 800 || tables < 200 {
		t.Error("compared too little")
	}
}
