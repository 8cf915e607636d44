package hostile

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// TestWalkBudget checks that threads that share a stack do not multiply it: the number of frames of
// a dump depends on its size, and cuts are reported in every format.
func TestWalkBudget(t *testing.T) {
	const threads, frames = 128, 4096
	data := stackDump(threads, framePointers(frames), mdStack)
	path := filepath.Join(t.TempDir(), "m.dmp")
	testenv.WriteFile(t, path, data)
	for _, format := range []string{"text", "machine", "json", "jsonl"} {
		w := callWalk("--format", format, path)
		if w.status != cli.StatusInput || strings.Count(w.stderr, "of 128 stacks are cut: the stacks of a dump with") != 1 {
			t.Errorf("%s: status %d, %s", format, w.status, w.stderr)
		}
		if most := 256 * len(data); len(w.stdout) > most {
			t.Errorf("%s: %d bytes of output, want at most %d", format, len(w.stdout), most)
		}
	}
	w := callWalk("--format", "jsonl", "--verify", path)
	if n := strings.Count(w.stdout, `"end":"budget"`); n < threads-10 || !strings.Contains(w.stdout, `"holds":false`) {
		t.Errorf("%d stacks are cut, want nearly %d; holds false: %v", n, threads, strings.Contains(w.stdout, `"holds":false`))
	}
	w = callWalk("--stack-bytes", path)
	if shown := 16 * strings.Count(w.stdout, "\n     00007fff"); shown > len(data)+1<<20 {
		t.Errorf("%d bytes of the stack are shown, for a dump of %d", shown, len(data))
	}
}

// TestWalkNotes checks that for a dump without the stacks of its threads, some of these are
// reported, with the number of the others.
func TestWalkNotes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.dmp")
	testenv.WriteFile(t, path, stackDump(100, nil, mdStack))
	const note, others = ": the stack pointer, ", "symtool: and 90 more problems, which --verbose shows\n"
	if w := callWalk(path); strings.Count(w.stderr, note) != 10 || !strings.Contains(w.stderr, others) {
		t.Errorf("%s", w.stderr)
	}
	if w := callWalk("--verbose", path); strings.Count(w.stderr, note) != 100 || strings.Contains(w.stderr, others) {
		t.Errorf("%d notes", strings.Count(w.stderr, note))
	}
}
