package hostile

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// shapeNames matches the name of a shape in the generators of the shared data. Shapes of logs have their own
// function there.
var shapeNames = regexp.MustCompile(`(case|\bL)?\(\s*'((?:[^'\\]|\\.)*)',\s*lambda|\bcase\('([^']*)'`)

// TestHostileShapes checks testdata/shapes.txt, which lists the kinds for each shape of hostile inputs that the
// generators of the shared data make: SHAPE=KIND KIND... These kinds can be in any family, beside similar ones.
func TestHostileShapes(t *testing.T) {
	rows, err := os.ReadFile(filepath.Join("testdata", "shapes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, kind := range hostileKinds(t) {
		known[kind.name] = true
	}
	table := map[string]bool{}
	for row := range strings.Lines(string(rows)) {
		shape, kinds, found := strings.Cut(strings.TrimSuffix(row, "\n"), "=")
		if !found || table[shape] {
			t.Errorf("%q is not a row, or its shape is listed twice", row)
		}
		table[shape] = true
		for kind := range strings.SplitSeq(kinds, " ") {
			if !known[kind] {
				t.Errorf("%s: there is no kind %q", shape, kind)
			}
		}
	}
	n := 0
	for _, path := range testenv.SharedGlob(t, "tools", "hostile", "more", "shapes*.py") {
		program, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shapeNames.FindAllStringSubmatch(string(program), -1) {
			name := m[2] + m[3]
			if m[1] == "L" {
				name = "log " + name
			}
			switch name {
			case "log ", "name: ", "names: ": // the common prefix of these shapes
				continue
			}
			if n++; !table[name] {
				t.Errorf("%s: shape %q is not in the table", filepath.Base(path), name)
			}
		}
	}
	t.Logf("%d rows for %d shapes", len(table), n)
}
