package lint

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/facts"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

var onModule = []symfmt.Kind{symfmt.KindModule}

// guidDigits are the digits of an id in front of the age.
const guidDigits = 32

var moduleRules = []*Rule{
	{
		ID:       "SYM108",
		Title:    "debug id of the wrong length",
		Severity: Error,
		Since:    "0.1",
		Spec:     "symbol_files: MODULE records",
		Doc: `The id is 32 digits and the age, one to eight more; the oldest PDBs have 8 digits and
the age. Readers compute the id of a module in a dump in this form and look the file
up under it: they will not find this one. A common cause is an id without the age,
which on Linux is 0.`,
		Cites: []string{"dump_syms#629"},
		Bad:   "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF a\n",
		Good:  head,
		At:    1,
		On:    onModule,
		Check: PerRecord(func(p *Pass, r *symfmt.Record) {
			if n := len(r.DebugID); n > 40 || n < 33 && (n < 9 || n > 16 || !isWindows(string(r.OS))) {
				p.Report(r, 3, "id of %s, want 33 to 40", text.Count(n, "digit"))
			}
		}),
	},
	{
		ID:       "SYM109",
		Title:    "debug id of all zeros",
		Severity: Warning,
		Since:    "0.1",
		Spec:     "symbol_files: MODULE records",
		Doc: `The binary has no build id, or the dumper did not find it. All modules without an id
share this one, so a store keeps only the last file, whatever version of the module
it belongs to. Link with --build-id.`,
		Bad:  "MODULE Linux x86_64 000000000000000000000000000000000 a\n",
		Good: head,
		At:   1,
		On:   onModule,
		Check: PerRecord(func(p *Pass, r *symfmt.Record) {
			if len(r.DebugID) > 0 && strings.Trim(string(r.DebugID), "0") == "" {
				p.Report(r, 3, "id of all zeros")
			}
		}),
	},
	{
		ID:       "SYM110",
		Title:    "debug id with lower-case digits",
		Severity: Warning,
		Since:    "0.1",
		Spec:     "symbol_files: MODULE records",
		Doc: `Readers look the file up under an id of upper-case digits. Where names in the store
are case-sensitive, as on most servers and on Linux, they do not find one in lower
case. The age occurs in either case.`,
		Cites: []string{"dump_syms#629"},
		Bad:   "MODULE Linux x86_64 0123456789abcdef0123456789ABCDEF0 a\n",
		Good:  head,
		At:    1,
		On:    onModule,
		Check: PerRecord(func(p *Pass, r *symfmt.Record) {
			id := string(r.DebugID)
			if id = id[:min(len(id), guidDigits)]; id != strings.ToUpper(id) {
				p.Report(r, 3, "id with lower-case digits, want %s", quoted(strings.ToUpper(id)+string(r.DebugID[len(id):])))
			}
		}),
	},
	{
		ID:       "SYM111",
		Title:    "unknown operating system",
		Severity: Warning,
		Since:    "0.1",
		Spec:     "symbol_files: MODULE records",
		Doc: `Servers and tools that decide by the operating system do not know what to do with the
file.`,
		Bad:  "MODULE Linus x86_64 0123456789ABCDEF0123456789ABCDEF0 a\n",
		Good: head,
		At:   1,
		On:   onModule,
		Check: PerRecord(func(p *Pass, r *symfmt.Record) {
			if !knownOS[strings.ToLower(string(r.OS))] {
				p.Report(r, 1, "unknown operating system %s, want Linux, mac, windows", quoted(r.OS))
			}
		}),
	},
	{
		ID:       "SYM112",
		Title:    "unknown architecture",
		Severity: Warning,
		Since:    "0.1",
		Spec:     "symbol_files: MODULE records",
		Doc: `Walkers take the CPU from the dump, but servers and tools that check the file cannot:
registers in STACK CFI are not checked here either.`,
		Bad:  "MODULE Linux x86-64 0123456789ABCDEF0123456789ABCDEF0 a\n",
		Good: head,
		At:   1,
		On:   onModule,
		Check: PerRecord(func(p *Pass, r *symfmt.Record) {
			name := string(r.Arch)
			if arch.ByName(name) != nil || otherCPUs[name] {
				return
			}
			var known []string
			for _, a := range arch.All {
				known = append(known, a.Name)
			}
			p.Report(r, 2, "unknown architecture %s, want one of %s", quoted(name), strings.Join(known, ", "))
		}),
	},
}

// knownOS are the systems in lower case: dumpers write Mac and mac, Windows and
// windows.
var knownOS = map[string]bool{
	"linux": true, "mac": true, "windows": true, "android": true, "ios": true,
	"fuchsia": true, "solaris": true, "nacl": true,
}

// otherCPUs are names that dumpers write for CPUs which package arch has not, or
// for none.
var otherCPUs = map[string]bool{
	"unknown": true, "sparc": true, "sparcv9": true, "ia64": true, "alpha": true, "arm64_32": true,
	"loongarch64": true, "wasm32": true, "armv7f": true, "arm64eb": true,
}

func isWindows(os string) bool { return strings.EqualFold(os, "windows") }

// quotedMax is how much of a bad field a message repeats.
const quotedMax = 40

// quoted formats a field for messages: shortened, control characters escaped.
func quoted[T string | []byte](text T) string {
	s := string(text[:min(len(text), quotedMax)])
	if len(text) > quotedMax {
		return strconv.QuoteToASCII(s) + "..."
	}
	return strconv.QuoteToASCII(s)
}

// moduleIDRules are about the id of MODULE.
var moduleIDRules = []*Rule{
	{
		ID:       "SYM213",
		Title:    "MODULE id that does not match INFO CODE_ID",
		Severity: Error,
		Since:    "0.1",
		Spec:     "Breakpad: linux/file_id.cc",
		Doc: `On Linux, the first 16 bytes of the build id (CODE_ID) are the debug id (MODULE),
with the bytes of its first three numbers swapped on little-endian CPUs, followed by
a 0; on macOS, both are the same. Here they belong to two different binaries, or the
dumper did not swap the bytes: the file is looked up, and stored, under an id that no
module has.`,
		Cites: []string{"dump_syms#629"},
		Bad:   head + "INFO CODE_ID 0123456789ABCDEF0123456789ABCDEF01234567\n",
		Good:  head + "INFO CODE_ID 67452301AB89EFCD0123456789ABCDEF01234567\n",
		At:    2,
		On:    []symfmt.Kind{symfmt.KindInfo},
		Check: sameID,
	},
}

func sameID(p *Pass) (func(*symfmt.Record), func()) {
	return func(r *symfmt.Record) {
		if string(r.Key) != "CODE_ID" || len(p.DebugID) < guidDigits {
			return
		}
		code, _, _ := strings.Cut(string(r.Name), " ")
		got := strings.ToUpper(p.DebugID[:guidDigits])
		if want := debugIDs(p.Facts, code); len(want) > 0 && !slices.Contains(want, got) {
			p.Report(r, 2, "CODE_ID %s belongs to MODULE id %s0, which is %s", quoted(code), want[0], quoted(p.DebugID))
		}
	}, nil
}

// debugIDs returns the debug ids, without age, that a module with this code id may have; none if
// their relation is not known.
func debugIDs(f *facts.Facts, code string) []string {
	id, err := hex.DecodeString(code)
	if err != nil || len(id) < 4 {
		return nil
	}
	var same, turned [guidDigits / 2]byte
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
		if f.Arch == nil || maybeBig[f.Arch.Name] {
			return []string{text(same), text(turned)}
		}
		return []string{text(turned)}
	}
	return nil
}

// maybeBig are the CPUs that may be big-endian: MODULE leaves the byte order open.
var maybeBig = map[string]bool{
	"arm": true, "arm64": true, "mips": true, "mips64": true, "ppc": true, "ppc64": true, "s390x": true,
}
