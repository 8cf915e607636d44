package dwarf2sym

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
)

// surveyed reads the units of a file, with its supplementary file if it has one.
func surveyed(t *testing.T, path string) *Units {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	set := debugset.Set{Binary: f}
	defer set.Close()
	finder := debugset.Finder{Limits: object.DefaultLimits()}
	if err := finder.Complete(t.Context(), &set); err != nil {
		t.Fatal(err)
	}
	u, err := ReadUnits(t.Context(), f, set.Supplement)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestReadUnits(t *testing.T) {
	for name, want := range map[string]string{
		"gcc-dwarf5.elf":   "[{DWARF 5 2}]",
		"clang-dwarf4.elf": "[{DWARF 4 2}]",
		"gcc-dwarf64.elf":  "[{DWARF 5, 64-bit 2}]",
		"nodebug.elf":      "[]",
	} {
		u := surveyed(t, testenv.Input(t, name))
		if got := fmt.Sprint(u.Versions); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	u := surveyed(t, testenv.Input(t, "split-clang5.elf"))
	if u.Skeletons != 3 || len(u.DwoNames) != 3 || len(u.Producers) > 0 {
		t.Errorf("split-clang5.elf: %+v", u)
	}
}

var dumpedDIE = regexp.MustCompile(`(?m)^0x[0-9a-f]+: (DW_TAG_\w+)\n((?:  .*\n)*)`)
var dumpedAttr = regexp.MustCompile(`(DW_AT_\w+)\t\((.*)\)`)

// llvm-dwarfdump finds the same languages and producers, in every input.
func TestReadUnitsOracle(t *testing.T) {
	testenv.Oracle(t)
	tool := testenv.Tool(t, "llvm-dwarfdump-22")
	files, err := filepath.Glob(filepath.Join(testenv.Input(t), "*.elf"))
	if err != nil {
		t.Fatal(err)
	}
	unread := map[string]string{
		"compressed-zlib-gnu.elf": "llvm 22 no longer reads .zdebug_*",
		"object-crel-i686.elf":    "llvm-dwarfdump gives up at CREL of a CPU with implicit addends",
		"dwz4.elf":                "llvm-dwarfdump does not read strings of a supplementary file", "dwz5.elf": "the same",
		"bad-form.elf": "damaged", "bad-cycle.elf": "damaged",
	}
	units, skipped := 0, 0
	for _, path := range files {
		name := filepath.Base(path)
		if unread[name] != "" {
			skipped++
			continue
		}
		out, err := exec.Command(tool, "--debug-info", "--recurse-depth=0", path).Output()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		languages, producers := map[string]int{}, map[string]int{}
		for _, die := range dumpedDIE.FindAllStringSubmatch(string(out), -1) {
			attrs := map[string]string{}
			for _, a := range dumpedAttr.FindAllStringSubmatch(die[2], -1) {
				attrs[a[1]] = strings.Trim(a[2], `"`)
			}
			if die[1] == "DW_TAG_type_unit" || die[1] == "DW_TAG_partial_unit" || attrs["DW_AT_dwo_name"]+attrs["DW_AT_GNU_dwo_name"] != "" {
				continue
			}
			if l := attrs["DW_AT_language"]; l != "" {
				languages[strings.TrimPrefix(l, "DW_LANG_")]++
			}
			if p := attrs["DW_AT_producer"]; p != "" {
				producers[p]++
			}
		}
		u := surveyed(t, path)
		if got, want := fmt.Sprint(u.Languages), fmt.Sprint(sortedCounts(languages)); got != want {
			t.Errorf("%s: languages %s, llvm-dwarfdump has %s", name, got, want)
		}
		if got, want := fmt.Sprint(u.Producers), fmt.Sprint(sortedCounts(producers)); got != want {
			t.Errorf("%s: producers %s, llvm-dwarfdump has %s", name, got, want)
		}
		units += u.Total
	}
	t.Logf("%d units of %d files, %d files left out", units, len(files)-skipped, skipped)
	if skipped != len(unread) {
		t.Errorf("left out %d files, want %d", skipped, len(unread))
	}
	if units < 150 {
		t.Errorf("compared %d units only", units)
	}
}
