package binary

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/lint/internal/check"
)

// row matches a STACK CFI record that sets .cfa to a register plus an offset.
var row = regexp.MustCompile(`^STACK CFI (?:INIT ([0-9a-f]+) [0-9a-f]+|([0-9a-f]+)) .*?\.cfa: \$?(\w+) (-?\d+) \+(?: [.$a-z]|$)`)

// TestOwnRules compares the rules in .eh_frame with the symbol files of the same binaries, which dump made with
// another reader. For a few FDEs the rule is unknown: the PLT's rules are an expression, and a fixture has an FDE for
// each encoding.
func TestOwnRules(t *testing.T) {
	for name, least := range map[string]int{
		"gcc-dwarf5": 20, "clang-dwarf5": 15, "eh": 15, "eh-encodings": 10, "cpu-arm64": 10, "cpu-i686": 10, "cpu-s390x": 10,
	} {
		f, err := objfile.Open(testenv.Input(t, name+".elf"), object.DefaultLimits())
		if err != nil {
			t.Error(err)
			continue
		}
		defer f.Close()
		text, err := os.ReadFile(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", name+".sym"))
		if err != nil {
			t.Error(err)
			continue
		}
		n, unknown := 0, 0
		table := newOwnTable(&check.Image{File: f})
		for line := range strings.Lines(string(text)) {
			m := row.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				continue
			}
			rva, _ := strconv.ParseUint(m[1]+m[2], 16, 64)
			off, _ := strconv.ParseInt(m[4], 10, 64)
			own, ok := table.ruleAt(f.Base + rva)
			reg, _ := f.Arch.RegName(own.reg)
			if !ok || !own.known {
				unknown++
				continue
			}
			if strings.TrimPrefix(reg, "$") != m[3] || own.off != off {
				t.Errorf("%s: %s: .eh_frame has %+v (%s)", name, strings.TrimSpace(line), own, reg)
				continue
			}
			if _, at, is := strings.Cut(line, ".ra: .cfa "); is && !strings.HasPrefix(at, strconv.FormatInt(own.at, 10)+" + ^") {
				t.Errorf("%s: %s: .eh_frame has the return address at %d", name, strings.TrimSpace(line), own.at)
			}
			n++
		}
		if n < least || unknown > n {
			t.Errorf("%s: %d rows agree, want at least %d; %d are not known", name, n, least, unknown)
		}
	}
	if _, ok := newOwnTable(&check.Image{File: &object.File{Container: &object.SectionsOnly{}}}).ruleAt(0x1000); ok {
		t.Error("a file without .eh_frame has a rule")
	}
}
