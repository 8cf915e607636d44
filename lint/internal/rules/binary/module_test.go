package binary

import (
	"strings"
	"testing"

	"github.com/symtool/symtool/lint/internal/follow"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// Paths that count as paths in a store.
func TestStorePlaces(t *testing.T) {
	digits := strings.Repeat("0123456789ABCDEF", 3)
	for _, c := range []struct {
		path       string
		sure, want bool
	}{
		{"a.so/" + digits[:32] + "/a.so.sym", false, false}, {"a.so/" + digits[:33] + "/a.so.sym", false, true},
		{"a.so/" + digits[:40] + "/a.so.sym", false, true}, {"a.so/" + digits[:41] + "/a.so.sym", false, false},
		{"a.so/" + digits[:32] + "g/a.so.sym", false, false}, {"a.so/" + digits[:33] + "/a.so.txt", false, false},
		{"a.so/" + digits[:33] + "/b.so.sym", false, false}, {"A.pdb/" + digits[:33] + "/a.sym", false, true},
		{"a.so/" + digits[:33] + "/a.so.sym.zst", false, true}, {digits[:33] + "/a.so.sym", true, false}, {"a.so/1/b", true, true},
	} {
		if _, _, ok := storePlace(c.path, c.sure); ok != c.want {
			t.Errorf("%s: %v", c.path, ok)
		}
	}
}

// Names of CPUs that leave the word size open.
func TestSameFamily(t *testing.T) {
	for _, c := range []struct {
		cpu, name string
		want      bool
	}{{"mips64", "mips", true}, {"riscv64", "riscv", true}, {"s390x", "s390", true}, {"arm64", "arm", false}, {"ppc64", "ppc", false}, {"mips", "mips", false}} {
		if got := sameFamily(arch.ByName(c.cpu), c.name); got != c.want {
			t.Errorf("%s and %s: %v", c.cpu, c.name, got)
		}
	}
}

// Blocks that together correspond to an FDE.
func TestSameRange(t *testing.T) {
	block := func(rva, size uint64) follow.Block { return follow.Block{RVA: symfmt.RVA(rva), Size: size} }
	for _, c := range []struct {
		name   string
		blocks []follow.Block
		want   bool
	}{
		{"one", []follow.Block{block(8, 8)}, true},
		{"short", []follow.Block{block(8, 7)}, false},
		{"long", []follow.Block{block(8, 9)}, false},
		{"two in a row", []follow.Block{block(8, 4), block(12, 4)}, true},
		{"the second is long", []follow.Block{block(8, 4), block(12, 5)}, false},
		{"with a gap", []follow.Block{block(8, 4), block(13, 3)}, false},
		{"second of the address", []follow.Block{block(8, 4), block(8, 8), block(20, 4)}, true},
		{"one within the first", []follow.Block{block(8, 6), block(10, 2), block(14, 2)}, true},
	} {
		if got := sameRange(c.blocks, 8); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
