package doctor

import (
	"strings"
	"testing"
)

// TestModuleColumns checks that the paths of modules begin in the same column, whatever the lengths of their ids: ages
// on Windows have up to eight digits.
func TestModuleColumns(t *testing.T) {
	g := &diagnosis{Process: &dumpDiagnosis{Modules: []moduleDiagnosis{
		{Path: "/a", DebugID: strings.Repeat("0", 33)}, {Path: "/b"}, {Path: "/c", DebugID: strings.Repeat("0", 40)},
	}}}
	columns := map[int]bool{}
	for line := range strings.Lines(g.text()) {
		if i := strings.LastIndex(line, " /"); i >= 0 {
			columns[i] = true
		}
	}
	if len(columns) != 1 {
		t.Errorf("%d columns in\n%s", len(columns), g.text())
	}
}
