package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
)

// A finding about a rule that a few instructions contradict names the binary if the binary's .eh_frame has the same
// rule, but not if only the symbol file has it. Instructions that were compared and are wrong do not count as left
// out.
func TestFollowedNamesTheBinary(t *testing.T) {
	const same = "the binary's .eh_frame has the same rule"
	for _, c := range []struct {
		pair, old, new string
		rule           string
		count, own     int
	}{
		// Tables with expressions are not compared.
		{"eh", "", "", "SYM553", 3, 1},
		{"sframe-text-v2", "STACK CFI 14bd .cfa: $rsp 16 +", "STACK CFI 14bd .cfa: $rsp 24 +", "SYM553", 1, 0},
		{"gcc-dwarf5", "STACK CFI 384 .cfa: $rsp 64 +", "STACK CFI 384 .cfa: $rsp 80 +", "SYM552", 0, 0},
	} {
		text := swap(c.old, c.new)(string(readGolden(t, c.pair)))
		count, own := 0, 0
		for _, f := range lintBinary(t, []byte(text), symtest.Open(t, testenv.Input(t, c.pair+".elf")), Options{}).Findings {
			if f.Rule.ID != c.rule {
				continue
			}
			count++
			if strings.Contains(f.Message, same) {
				own++
			}
		}
		if count != c.count || own != c.own {
			t.Errorf("%s: %d findings of %s, %d of them name the binary, want %d and %d", c.pair, count, c.rule, own, c.count, c.own)
		}
	}
}

// readGolden returns the symbol file of a test binary.
func readGolden(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", name+".sym"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
