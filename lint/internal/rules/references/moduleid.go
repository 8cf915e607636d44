package references

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// idDigits is the number of digits of an id before the age.
const idDigits = 32

// moduleIDRules are the rules about the id of MODULE.
var moduleIDRules = []*check.Rule{
	{
		Rule: &finding.Rule{
			ID:       "SYM213",
			Title:    "MODULE id that does not match INFO CODE_ID",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "Breakpad: linux/file_id.cc",
			Doc: `On Linux, the first 16 bytes of the build id (CODE_ID) are the debug id (MODULE),
with the bytes of its first three numbers swapped on little-endian CPUs, followed by
a 0; on macOS, both are the same. Here they belong to two different binaries, or the
dumper did not swap the bytes: the file is looked up, and stored, under an id that no
module has.`,
			Cites: []string{"dump_syms#629"},
			Bad:   check.Head + "INFO CODE_ID 0123456789ABCDEF0123456789ABCDEF01234567\n",
			Good:  check.Head + "INFO CODE_ID 67452301AB89EFCD0123456789ABCDEF01234567\n",
			At:    2,
		},
		On:    []symfmt.Kind{symfmt.KindInfo},
		Check: sameID,
	},
}

func sameID(p *check.Pass) (func(*symfmt.Record), func()) {
	return func(r *symfmt.Record) {
		if string(r.Key) != "CODE_ID" || len(p.DebugID) < idDigits {
			return
		}
		code, _, _ := strings.Cut(string(r.Name), " ")
		got := strings.ToUpper(p.DebugID[:idDigits])
		if want := debugIDs(p.Facts, code); len(want) > 0 && !slices.Contains(want, got) {
			p.Report(r, 2, "CODE_ID %s belongs to MODULE id %s0, which is %s", check.Quoted(code), want[0], check.Quoted(p.DebugID))
		}
	}, nil
}

// debugIDs returns the debug ids, without age, that a module with this code id may have. It returns
// none if their relation is unknown.
func debugIDs(f *facts.Facts, code string) []string {
	id, err := hex.DecodeString(code)
	if err != nil || len(id) < 4 {
		return nil
	}
	var same, turned [idDigits / 2]byte
	copy(same[:], id)
	turned = same
	slices.Reverse(turned[0:4])
	slices.Reverse(turned[4:6])
	slices.Reverse(turned[6:8])
	text := func(b [16]byte) string { return strings.ToUpper(hex.EncodeToString(b[:])) }
	switch strings.ToLower(f.OS) {
	case "mac", "ios":
		return []string{text(same)}
	case "linux", "android", "fuchsia":
		if f.Arch == nil || f.Arch.BothOrders || f.Arch.Order == binary.BigEndian {
			return []string{text(same), text(turned)}
		}
		return []string{text(turned)}
	}
	return nil
}
