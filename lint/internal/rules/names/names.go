// Package names implements the rules of the family names: names of functions, files and modules.
package names

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// withName are the kinds of records with a name.
var withName = []symfmt.Kind{symfmt.KindModule, symfmt.KindFile, symfmt.KindInlineOrigin, symfmt.KindFunc, symfmt.KindPublic}

// functionNames are the kinds of records with the name of a function.
var functionNames = []symfmt.Kind{symfmt.KindInlineOrigin, symfmt.KindFunc, symfmt.KindPublic}

// maxName is the length in bytes above which a name is absurd: C++ compilers rarely write more than
// 2,000 bytes for templates of the standard library.
const maxName = 4096

// Rules are the rules of the family, by ID.
var Rules = slices.Concat(nameRules, fileNameRules)

var nameRules = []*check.Rule{
	{
		Rule: &finding.Rule{
			ID:       "SYM601",
			Title:    "empty name",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: FUNC, INLINE_ORIGIN, FILE, PUBLIC and MODULE records",
			Doc: `The name is empty, or blanks only. Readers that split lines at blanks find one field
too few: some drop the record and what belongs to it, and some the whole file. A
writer that knows no name writes a placeholder such as <name omitted>.`,
			Cites: []string{"dump_syms#511", "dump_syms#543", "dump_syms#475", "dump_syms#476"},
			Bad:   check.Head + "INLINE_ORIGIN 0  \t\n",
			Good:  check.Head + "INLINE_ORIGIN 0 f\n",
			At:    2,
		},
		On:    withName,
		Check: emptyName,
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM602",
			Title:    "placeholder for a name",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "dump_syms of Breakpad and of Mozilla: names of functions",
			Doc: `The writer did not know the name: frames will have none either. Most placeholders
come from debug information that lacks DW_AT_name, or refers to a supplementary file
(dwz) that was missing when the symbols were dumped.`,
			Cites:   []string{"dump_syms#476"},
			PerFile: true,
			Bad:     check.Head + "INLINE_ORIGIN 0 <name omitted>\nINLINE_ORIGIN 1 <name omitted>\n",
			Good:    check.Head + "INLINE_ORIGIN 0 operator<\n",
			At:      2,
		},
		On:    functionNames,
		Check: placeholders,
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM603",
			Title:    "control character in a name",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: records are lines of text",
			Doc: `Terminals and log viewers act on control characters; Breakpad treats a file with a
NUL as corrupt. A line break within a name ends the record: the rest becomes a line
of its own, which no reader recognises (SYM101).`,
			Cites: []string{"dump_syms 2.1.1"},
			Bad:   check.Head + "PUBLIC 10 0 a\x1b[31mb\n",
			Good:  check.Head + "PUBLIC 10 0 a b\n",
			At:    2,
		},
		On:    withName[1:], // for MODULE, see SYM614
		Check: badBytes(nameControl, "control character"),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM604",
			Title:    "name that is not UTF-8",
			Severity: finding.Error,
			Refused:  true,
			Since:    "0.1",
			Spec:     "rust-minidump: breakpad-symbols, sym_file/parser.rs",
			Doc: `rust-minidump refuses a file with such a name in any record, so it has no symbols at
all for the module. The bytes usually come from a source file or identifier in an
older encoding (Latin-1, Shift JIS): convert them, or replace them.`,
			Bad:  check.Head + "FILE 0 /src/caf\xe9.c\n",
			Good: check.Head + "FILE 0 /src/caf\xc3\xa9.c\n",
			At:   2,
		},
		On:    withName,
		Check: badBytes(nameNotUTF8, "invalid UTF-8 at byte"),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM605",
			Title:    "invisible character in a name",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "Unicode TR 36 and 39",
			Doc: `Direction marks show a name other than it is, and characters without width make two
names look the same: what people see in a stack is not what they can search for.`,
			Bad:  check.Head + "PUBLIC 10 0 a\u202eb\n",
			Good: check.Head + "PUBLIC 10 0 \u03b1\u03b2\n",
			At:   2,
		},
		On:    withName,
		Check: badBytes(nameInvisible, "invisible character"),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM606",
			Title:    "mangled name",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: FUNC records: \"this should be the source language name\"",
			Doc: `The name is in the linker's form (C++ of gcc, clang and MSVC, Rust). Resolvers print
names as they are in the file, so people see it mangled, and crashes of one function
get two signatures. Dump again with demangling. There is one finding for each scheme.`,
			PerFile: true,
			Bad:     check.Head + "PUBLIC 10 0 _ZN3foo3barEv\n",
			Good:    check.Head + "PUBLIC 10 0 _Zero\nPUBLIC 20 0 _RNG_init\nPUBLIC 30 0 foo::bar()\n",
			At:      2,
		},
		On:    functionNames,
		Check: mangledNames(false),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM607",
			Title:    "mangled Swift name",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symbol_files: FUNC records: \"this should be the source language name\"",
			Doc: `Few writers can demangle Swift, whose scheme changes with the compiler; symtool
leaves its names as they are. Resolvers print them so.`,
			Cites:   []string{"symbolic#204", "symbolicator#1953"},
			PerFile: true,
			Bad:     check.Head + "PUBLIC 10 0 $s6shapes5PointV1xSivg\n",
			Good:    check.Head + "PUBLIC 10 0 $stack\n",
			At:      2,
		},
		On:    functionNames,
		Check: mangledNames(true),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM608",
			Title:    "name that is absurdly long",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symbol_files: records are lines of text",
			Doc: `Some readers have buffers of a fixed size, and databases of crashes truncate names.
Such names come from nested templates, of which C++ programs have some that are
longer, or from a demangler without a limit.`,
			Cites: []string{"cpp_demangle#53", "rustc-demangle#47"},
			Bad:   check.Head + "PUBLIC 10 0 " + string(bytes.Repeat([]byte("x"), maxName+1)) + "\n",
			Good:  check.Head + "PUBLIC 10 0 " + string(bytes.Repeat([]byte("x"), maxName)) + "\n",
			At:    2,
		},
		On:    withName,
		Check: check.PerRecord(longName),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM609",
			Title:    "compiler suffix in a name",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symbol_files: FUNC records: \"this should be the source language name\"",
			Doc: `A compiler split or copied the function (.cold, .part.0, .isra.0, .constprop.0), and
the file has the name without the suffix, too. Crashes of one function get several
signatures, which some want and some do not.`,
			Cites:   []string{"dyninst#1349"},
			PerFile: true,
			Bad:     check.Head + "FUNC 10 1 0 f.cold\nFUNC 20 1 0 f\n",
			Good:    check.Head + "FUNC 10 1 0 f.cold\nFUNC 20 1 0 g\nFUNC 30 1 0 .cold\n",
			At:      2,
		},
		On:    []symfmt.Kind{symfmt.KindFunc, symfmt.KindPublic},
		Check: suffixedNames,
	},
}

// Nameless holds the records without a name that SYM601 has reported and that the reader also
// complains about.
type Nameless struct {
	Count int
	Lines map[int]bool // lines of the first ones, at most Options.MaxPerRule
}

func emptyName(p *check.Pass) (func(*symfmt.Record), func()) {
	nameless := check.State[Nameless](p)
	nameless.Lines = map[int]bool{}
	return func(r *symfmt.Record) {
		if len(r.Name) > 0 {
			return
		}
		if r.Kind != symfmt.KindModule { // the reader may be complaining about its id instead
			if nameless.Count++; nameless.Count <= p.Options.MaxPerRule {
				nameless.Lines[r.Pos().Line] = true
			}
		}
		p.Report(r, facts.NameField(r), "%v without a name", r.Kind)
	}, func() { namelessOrigins(p) }
}

// namelessOrigins reports INLINE_ORIGINs that end after the number of their FILE. Whether they lack
// a name is known only once the forms of all INLINEs are known.
func namelessOrigins(p *check.Pass) {
	if !p.Forms.OldOrigins() {
		return
	}
	for _, pos := range p.Forms.Nameless {
		p.ReportPos(pos, "%v of the old form without a name", symfmt.KindInlineOrigin)
	}
}

// badBytes returns a check for names with one of the flags in want.
func badBytes(want nameFlags, what string) check.Func {
	return func(p *check.Pass) (func(*symfmt.Record), func()) {
		flags := check.State[nameCache](p)
		return func(r *symfmt.Record) {
			if flags.of(p, r)&want == 0 {
				return
			}
			at, bad := findInName(r.Name, want)
			p.Report(r, facts.NameField(r), "%v: %s %s at offset %d of the name %s", r.Kind, what, codePoint(bad), at, shortName(r.Name))
		}, nil
	}
}

// codePoint formats a character: "U+202E", or "0xe9" for an invalid byte.
func codePoint(c []byte) string {
	if len(c) == 1 {
		return fmt.Sprintf("0x%02x", c[0])
	}
	return fmt.Sprintf("%U", bytes.Runes(c)[0])
}

// maxShown is the length at which messages cut a name.
const maxShown = 60

// shortName quotes a name for a message, shortened if it is long.
func shortName(name []byte) string {
	if len(name) > maxShown {
		return fmt.Sprintf("%+q...", bytes.ToValidUTF8(name[:maxShown], nil))
	}
	return fmt.Sprintf("%+q", name)
}

func longName(p *check.Pass, r *symfmt.Record) {
	if len(r.Name) > maxName {
		p.Report(r, facts.NameField(r), "%v: the name is %d bytes long, over %d: %s", r.Kind, len(r.Name), maxName, shortName(r.Name))
	}
}
