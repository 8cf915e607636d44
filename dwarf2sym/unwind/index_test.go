package unwind

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// An Index has the blocks of Read at every address, in whatever order they are looked up, and in
// the end the same problems.
func TestIndex(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Input(t), "cpu-*.elf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"frame-both-cie*.elf", "exidx*.elf", "debug-frame*.elf", "eh*.elf", "gcc-dwarf5.elf"} {
		more, _ := filepath.Glob(filepath.Join(testenv.Input(t), name))
		files = append(files, more...)
	}
	blocks := 0
	for _, path := range append(files, testenv.SharedGlob(t, "crashes", "*", "prog")...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			in := openInput(t, path)
			table, _, problems := readTable(in)
			blocks += len(table.Blocks)
			compareIndex(t, in, &table, problems)
		})
	}
	if len(files) < 20 || blocks < 200 {
		t.Errorf("%d blocks in %d files", blocks, len(files))
	}
}

// indexSteps is roughly the number of addresses that compareIndex looks up in a file.
const indexSteps = 5_000

// compareIndex looks up addresses around those in Read's table.
func compareIndex(t testing.TB, in *Input, want *symfmt.CFITable, problems []symfmt.Problem) {
	t.Helper()
	x := NewIndex(in)
	if x.HasBlocks() != (len(want.Blocks) > 0) {
		t.Errorf("the index has blocks: %v; Read has %d", x.HasBlocks(), len(want.Blocks))
	}
	for i, rva := range indexedAddresses(in, want) {
		block, _ := x.Block(rva)
		if got, want := symtest.CFI(&block), blockText(want, rva); got != want {
			t.Fatalf("at %#x the index has\n%s\nRead has\n%s", uint64(rva), got, want)
		}
		to := rva + symfmt.RVA(i%256)
		begins := slices.ContainsFunc(want.Blocks, func(b symfmt.CFIBlock) bool { return rva < b.RVA && b.RVA <= to })
		if got := x.Begins(rva, to); i%16 == 0 && got != begins {
			t.Fatalf("a block begins in (%#x, %#x]: %v, want %v", uint64(rva), uint64(to), got, begins)
		}
	}
	if got := x.Problems(); fmt.Sprint(got) != fmt.Sprint(problems) {
		t.Errorf("problems %v, want %v", got, problems)
	}
	if again := x.Problems(); again != nil {
		t.Errorf("problems are reported again: %v", again)
	}
}

// indexedAddresses returns addresses in and around FDEs and blocks, in random order.
func indexedAddresses(in *Input, want *symfmt.CFITable) (all []symfmt.RVA) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, b := range want.Blocks {
		all = append(all, b.RVA, b.RVA+symfmt.RVA(b.Size)-1, b.RVA+symfmt.RVA(b.Size))
	}
	if n := len(want.Blocks); n > 0 {
		first, end := want.Blocks[0].RVA, want.Blocks[n-1].RVA+symfmt.RVA(want.Blocks[n-1].Size)
		step := max(1, uint64(end-first)/indexSteps)
		for rva := first - min(first, 2); rva < end+2; rva += symfmt.RVA(1 + random.Uint64N(step)) {
			all = append(all, rva)
		}
	}
	for _, f := range NewIndex(in).r.fdes { // include FDEs without blocks: they have problems
		all = append(all, symfmt.RVA(f.lo-in.Base))
	}
	random.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all
}

// blockText returns the block around an address as text.
func blockText(table *symfmt.CFITable, rva symfmt.RVA) string {
	i, found := slices.BinarySearchFunc(table.Blocks, rva, func(b symfmt.CFIBlock, rva symfmt.RVA) int {
		switch {
		case b.RVA > rva:
			return 1
		case uint64(rva-b.RVA) >= b.Size:
			return -1
		}
		return 0
	})
	if !found {
		return ""
	}
	b := table.Blocks[i]
	rows := slices.Clone(table.Rows[b.First : b.First+b.Count])
	b.First, b.Count = 0, uint32(len(rows))
	return symtest.CFI(&symfmt.CFITable{Blocks: []symfmt.CFIBlock{b}, Rows: rows, Rules: table.Rules})
}
