package walk_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// trusts counts the frames of all threads by trust, from the best.
func trusts(r *walk.Result) string {
	n := map[walk.Trust]int{}
	for i := range r.Stacks {
		for k := range r.Stacks[i].Frames {
			n[r.Stacks[i].Frames[k].Trust]++
		}
	}
	keys := slices.Sorted(maps.Keys(n))
	slices.Reverse(keys)
	var all []string
	for _, trust := range keys {
		all = append(all, fmt.Sprintf("%d %v", n[trust], trust))
	}
	return strings.Join(all, ", ")
}

// The frames of the dumps of Windows in the shared data, by trust: alone, with the PE files and PDBs there, and with the
// symbol files. No program or PDB there has the id of a module of these dumps, so they must not change anything; what
// Breakpad recorded of minidump2 takes the place of frame pointers.
func TestWindowsDumps(t *testing.T) {
	data := testenv.Shared(t, "data")
	symbols := filepath.Join(data, "minidumps", "breakpad", "symbols")
	for _, c := range []struct{ dump, alone, symbols string }{
		{"breakpad/minidump2.dmp", "1 context, 3 frame_pointer", "1 context, 3 cfi"},
		{"breakpad/read_av_conditional.dmp", "1 context, 4 frame_pointer", "1 context, 4 frame_pointer"},
		{"breakpad/thread_name_list.dmp", "6 context, 23 frame_pointer", "6 context, 23 frame_pointer"},
		{"breakpad/tiny-exe-with-cet-xsave.dmp", "1 context, 27 scan", "1 context, 27 scan"},
		{"rust-minidump/test.dmp", "1 context, 3 frame_pointer", "1 context, 3 cfi"},
	} {
		path := filepath.Join(data, "minidumps", filepath.FromSlash(c.dump))
		for what, s := range map[string]struct {
			sources *walk.SymbolSet
			want    string
		}{
			"alone":          {&walk.SymbolSet{}, c.alone},
			"PE files, PDBs": {walks.BinarySources(t, filepath.Join(data, "pe")), c.alone},
			"symbol files":   {walks.SymbolSources(t, symbols), c.symbols},
		} {
			if got := trusts(walks.Dump(t, path, s.sources, walk.Config{})); got != s.want {
				t.Errorf("%s, %s: %s, want %s", c.dump, what, got, s.want)
			}
		}
	}
}
