package symsframe

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestFixturesLikeObjdump compares the sections of golden/input, in versions 1, 2 and 3, with the
// output of objdump that lies beside them: 2.40's for version 1, 2.47's for the others.
func TestFixturesLikeObjdump(t *testing.T) {
	rules := &ruleSet{slices.DeleteFunc(slices.Clone(synthRules), func(r expectRule) bool { return r.name == "gap before FDEs" }), map[string]int{}}
	versions := map[uint8]int{}
	rows, lines := 0, 0
	for _, tool := range []string{objdump240, objdump247} {
		paths, err := filepath.Glob(testenv.Input(t) + "/*." + tool + ".txt")
		if err != nil || len(paths) != 2 {
			t.Fatalf("%d texts of %s: %v", len(paths), tool, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimSuffix(filepath.Base(path), "."+tool+".txt")
			e := &expectation{tool: tool, name: name, text: string(text)}
			e.parse(t)
			e.open(t, testenv.Input(t, name+".elf"))
			explain := func(d difference) { rules.explain(t, &d) }
			versions[e.section.Headers[0].Version]++
			rows += e.compare(explain)
			if tool == objdump247 { // 2.40 has a simpler layout
				lines += e.comparePrint(t, explain)
			}
		}
	}
	t.Logf("%d rows, %d lines", rows, lines)
	if versions[1] != 2 || versions[2] != 1 || versions[3] != 1 {
		t.Errorf("sections by version: %v", versions)
	}
	rules.finish(t)
}
