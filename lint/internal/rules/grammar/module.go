package grammar

import (
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

var onModule = []symfmt.Kind{symfmt.KindModule}

// guidDigits is the number of digits of an id before the age.
const guidDigits = 32

var moduleRules = []*check.Rule{
	{
		Rule: &finding.Rule{
			ID:       "SYM108",
			Title:    "debug id of the wrong length",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: MODULE records",
			Doc: `The id is 32 digits and the age, one to eight more; the oldest PDBs have 8 digits and
the age. Readers compute the id of a module in a dump in this form and look the file
up under it: they will not find this one. A common cause is an id without the age,
which on Linux is 0.`,
			Cites: []string{"dump_syms#629"},
			Bad:   "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF a\n",
			Good:  check.Head,
			At:    1,
		},
		On: onModule,
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			if n := len(r.DebugID); n > 40 || n < 33 && (n < 9 || n > 16 || !isWindows(string(r.OS))) {
				p.Report(r, 3, "id of %s, want 33 to 40", text.Count(n, "digit"))
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM109",
			Title:    "debug id of all zeros",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: MODULE records",
			Doc: `The binary has no build id, or the dumper did not find it. All modules without an id
share this one, so a store keeps only the last file, whatever version of the module
it belongs to. Link with --build-id.`,
			Bad:  "MODULE Linux x86_64 000000000000000000000000000000000 a\n",
			Good: check.Head,
			At:   1,
		},
		On: onModule,
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			if len(r.DebugID) > 0 && strings.Trim(string(r.DebugID), "0") == "" {
				p.Report(r, 3, "id of all zeros")
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM110",
			Title:    "debug id with lower-case digits",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: MODULE records",
			Doc: `Readers look the file up under an id of upper-case digits. Where names in the store
are case-sensitive, as on most servers and on Linux, they do not find one in lower
case. The age occurs in either case.`,
			Cites: []string{"dump_syms#629"},
			Bad:   "MODULE Linux x86_64 0123456789abcdef0123456789ABCDEF0 a\n",
			Good:  check.Head,
			At:    1,
		},
		On: onModule,
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			id := string(r.DebugID)
			if id = id[:min(len(id), guidDigits)]; id != strings.ToUpper(id) {
				p.Report(r, 3, "id with lower-case digits, want %s", check.Quoted(strings.ToUpper(id)+string(r.DebugID[len(id):])))
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM111",
			Title:    "unknown operating system",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: MODULE records",
			Doc: `Servers and tools that decide by the operating system do not know what to do with the
file.`,
			Bad:  "MODULE Linus x86_64 0123456789ABCDEF0123456789ABCDEF0 a\n",
			Good: check.Head,
			At:   1,
		},
		On: onModule,
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			if !knownOS[strings.ToLower(string(r.OS))] {
				p.Report(r, 1, "unknown operating system %s, want Linux, mac, windows", check.Quoted(r.OS))
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM112",
			Title:    "unknown architecture",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: MODULE records",
			Doc: `Walkers take the CPU from the dump, but servers and tools that check the file cannot:
registers in STACK CFI are not checked here either.`,
			Bad:  "MODULE Linux x86-64 0123456789ABCDEF0123456789ABCDEF0 a\n",
			Good: check.Head,
			At:   1,
		},
		On: onModule,
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			name := string(r.Arch)
			if arch.Known(name) {
				return
			}
			var known []string
			for _, a := range arch.All {
				known = append(known, a.Name)
			}
			p.Report(r, 2, "unknown architecture %s, want one of %s", check.Quoted(name), strings.Join(known, ", "))
		}),
	},
}

// knownOS lists the systems in lower case: dumpers write Mac and mac, Windows and windows.
var knownOS = map[string]bool{
	"linux": true, "mac": true, "windows": true, "android": true, "ios": true,
	"fuchsia": true, "solaris": true, "nacl": true,
}

func isWindows(os string) bool { return strings.EqualFold(os, "windows") }
