package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/lint/finding"
)

// A rule has the same findings if it is the only rule checked: rules that share an examination of
// the binary do not depend on each other.
func TestBinaryRulesAlone(t *testing.T) {
	root := testenv.Root(t)
	for _, c := range []struct{ id, pair, old, new string }{
		{"SYM507", "gcc-dwarf5", "STACK CFI INIT 350 12 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", ""},
		{"SYM508", "gcc-dwarf5", "STACK CFI INIT 350 12", "STACK CFI INIT 350 11"},
		{"SYM551", "gcc-dwarf5", "STACK CFI 384 .cfa: $rsp 64 +", "STACK CFI 384 .cfa: $rsp 80 +"},
		{"SYM552", "eh", "", ""},
		{"SYM553", "sframe-text-v2", "STACK CFI 14bd .cfa: $rsp 16 +", "STACK CFI 14bd .cfa: $rsp 24 +"},
		{"SYM554", "gcc-dwarf5", "STACK CFI INIT 370 10f .cfa: $rsp 8 + .ra: .cfa -8 + ^", "STACK CFI INIT 370 10f .cfa: $rsp 8 + .ra: .cfa -16 + ^"},
		{"SYM555", "gcc-dwarf5", "$r13: .cfa -32 + ^", "$r13: .cfa -40 + ^"},
		{"SYM556", "gcc-dwarf5", " $rbx: .cfa -56 + ^", ""},
	} {
		text, err := os.ReadFile(filepath.Join(root, "golden", "dwarf2sym", c.pair+".sym"))
		if err != nil {
			t.Fatal(err)
		}
		damaged := []byte(swap(c.old, c.new)(string(text)))
		of := func(rules []*finding.Rule) (list []string) {
			r := lintBinary(t, damaged, symtest.Open(t, filepath.Join(root, "golden", "input", c.pair+".elf")), Options{Rules: rules})
			for i := range r.Findings {
				f := &r.Findings[i]
				if rules != nil || f.Rule.ID == c.id {
					list = append(list, f.String()+" "+f.Function)
				}
			}
			return list
		}
		all, alone := strings.Join(of(nil), "\n"), strings.Join(of([]*finding.Rule{RuleByID(c.id)}), "\n")
		if all != alone || !strings.Contains(alone, c.id) {
			t.Errorf("%s alone: %q, with all others: %q", c.id, alone, all)
		}
	}
}
