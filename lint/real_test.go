package lint

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// structural are the families of this test.
func structural(r *Rule) bool { return r.Family().Hundred <= 3 }

// worse counts the structural findings above a severity, by rule.
func worse(t *testing.T, path string, than Severity) map[string]int {
	r := lintAll(t, readSym(t, path))
	counts := map[string]int{}
	for i := range r.Findings {
		if f := &r.Findings[i]; structural(f.Rule) && f.Severity > than {
			counts[f.Rule.ID]++
		}
	}
	return counts
}

// What symtool dump writes has no error, and no warning but those that are true.
func TestOwnFiles(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil || len(paths) < 100 {
		t.Fatal(len(paths), "files", err)
	}
	noID := []string{"sframe-text-empty.sym", "sframe-text-segment.sym", "sframe-text-v3.sym"} // neither a build id nor text to hash
	for _, path := range paths {
		counts := worse(t, path, Note)
		if slices.Contains(noID, filepath.Base(path)) && counts["SYM109"] == 1 {
			delete(counts, "SYM109")
		}
		if len(counts) > 0 {
			t.Errorf("%s: %v", filepath.Base(path), counts)
		}
	}
}

// peerFindings are the warnings and errors of the peers' symbol files, each
// looked at by hand.
var peerFindings = map[string]struct{ counts, why string }{
	"linux_inline.old.sym": {"SYM126:1", "it is Breakpad's example of the old form"},
	"test_app.sym":         {"SYM310:1", "Breakpad's dumper of PDB files writes lines without code"},
	"crash-client.sym": {"SYM313:2002 SYM315:2789", "Mozilla's dump_syms orders INLINEs by address, and joins calls of " +
		"two parents: at e81, level 2 reaches over two INLINEs of level 1, e81 to e88 and e88 to e9b"},
}

func TestPeersFiles(t *testing.T) {
	files := sharedFiles()
	if len(files) == 0 {
		t.Skip("no symbol files of peers")
	}
	for _, path := range files {
		counts := worse(t, path, Note)
		var list []string
		for _, id := range slices.Sorted(maps.Keys(counts)) {
			list = append(list, fmt.Sprintf("%s:%d", id, counts[id]))
		}
		want := peerFindings[filepath.Base(path)]
		if got := strings.Join(list, " "); got != want.counts {
			t.Errorf("%s: %q, want %q (%s)", filepath.Base(path), got, want.counts, want.why)
		}
	}
}
