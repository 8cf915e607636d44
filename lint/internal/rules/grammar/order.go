// Package grammar implements the rules of the family grammar: the form of records, their order and
// encoding.
package grammar

import (
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// allKinds are all kinds of records, notModule all except MODULE, and named those that end in a
// name or other free text that readers expect to be UTF-8.
var (
	allKinds = []symfmt.Kind{
		symfmt.KindModule, symfmt.KindInfo, symfmt.KindFile, symfmt.KindInlineOrigin, symfmt.KindFunc,
		symfmt.KindInline, symfmt.KindLine, symfmt.KindPublic, symfmt.KindStackWin, symfmt.KindCFIInit, symfmt.KindCFI,
	}
	notModule = allKinds[1:]
	ownPlace  = []symfmt.Kind{ // kinds that do not belong to a record before them
		symfmt.KindInfo, symfmt.KindFile, symfmt.KindInlineOrigin, symfmt.KindFunc,
		symfmt.KindPublic, symfmt.KindStackWin, symfmt.KindCFIInit,
	}
	named = []symfmt.Kind{
		symfmt.KindModule, symfmt.KindFile, symfmt.KindInlineOrigin, symfmt.KindFunc,
		symfmt.KindPublic, symfmt.KindStackWin, symfmt.KindCFIInit, symfmt.KindCFI,
	}
)

// BadRecord is a line that the reader cannot parse. The code that reads the file reports it.
var BadRecord = &check.Rule{
	Rule: &finding.Rule{
		ID:       "SYM101",
		Title:    "unrecognised line",
		Severity: finding.Error,
		Refused:  true,
		Since:    "0.1",
		Spec:     "symbol_files: Records",
		Doc: `rust-minidump refuses a file for one such line. Breakpad drops the line, and gives up
the rest of the file after 100 of them. Column and message say which field is wrong.`,
		Cites: []string{"rust-minidump#903", "dump_syms#511"},
		Bad:   check.Head + "FUNC 1000 zz 0 f\n",
		Good:  check.Head + "FUNC 1000 10 0 f\n",
		At:    2,
	},
}

// Rules are the rules of the family, by ID.
var Rules = slices.Concat(orderRules, moduleRules, textRules, limitRules)

var orderRules = []*check.Rule{
	BadRecord,
	{
		Rule: &finding.Rule{
			ID:       "SYM102",
			Title:    "MODULE is not the first record",
			Severity: finding.Error,
			Refused:  true,
			Since:    "0.1",
			Spec:     "symbol_files: MODULE records",
			Doc: `Symbol servers and stores read only the first line to learn which module a file
belongs to. rust-minidump refuses a file whose MODULE is not on its first line.`,
			Bad:  "FILE 0 a.c\n" + check.Head + "FUNC 1000 10 0 f\n1000 10 1 0\n",
			Good: check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 10 1 0\n",
			At:   1,
		},
		On:     notModule,
		Faults: facts.LineOrphan,
		Check:  moduleFirst,
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM103",
			Title:    "second MODULE record",
			Severity: finding.Error,
			Refused:  true,
			Since:    "0.1",
			Spec:     "symbol_files: MODULE records",
			Doc: `rust-minidump refuses the file; Breakpad attributes the functions of both modules to
one. Two files were probably concatenated: split them.`,
			Bad:  check.Head + check.Head,
			Good: check.Head,
			At:   2,
		},
		On: []symfmt.Kind{symfmt.KindModule},
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			seen := false
			return func(r *symfmt.Record) {
				if seen {
					p.Report(r, -1, "second MODULE record, want one")
				}
				seen = true
			}, nil
		},
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM104",
			Title:    "line record or INLINE that follows no FUNC",
			Severity: finding.Error,
			Refused:  true,
			Since:    "0.1",
			Spec:     "symbol_files: Line records; INLINE records",
			Doc: `Line records and INLINEs belong to the FUNC before them, with nothing but
INLINE_ORIGINs in between. After any other record rust-minidump refuses the file, and
after a PUBLIC Breakpad drops the line records and fails on an INLINE. Move them to
their FUNC; symtool convert does so.`,
			Bad:  check.Head + "FILE 0 a.c\n1000 10 1 0\nFUNC 1000 10 0 f\n",
			Good: check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 10 1 0\nPUBLIC 2000 0 g\n",
			At:   3,
		},
		On:     []symfmt.Kind{symfmt.KindInline, symfmt.KindLine},
		Faults: facts.LineOrphan,
		Check:  followsFunc,
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM105",
			Title:    "records are not in the usual order",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symtool: order of what it writes",
			Doc: `Readers take any order, but two files of the same module are easier to compare,
and some tools look for INFO in the first lines only. The usual order is MODULE,
INFO, FILE, INLINE_ORIGIN, FUNC with its INLINEs and lines, PUBLIC, STACK WIN, STACK
CFI. symtool convert writes it.`,
			Bad:  check.Head + "FUNC 1000 10 0 f\nFILE 0 a.c\n",
			Good: check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 10 1 0\nFUNC 2000 10 0 g\n2000 10 1 0\n",
			At:   3,
		},
		On:    ownPlace,
		Check: usualOrder,
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM106",
			Title:    "unknown INFO record",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "FIELD: INFO lines",
			Doc: `Readers skip INFO records that they do not know. This one may be a misspelling of
CODE_ID, GENERATOR or URL.`,
			Cites: []string{"dump_syms#638"},
			Bad:   check.Head + "INFO CODE_IDENT 0123\n",
			Good:  check.Head + "INFO CODE_ID 67452301AB89EFCD0123456789ABCDEF01234567\nINFO GENERATOR symtool 0.1\n",
			At:    2,
		},
		On: []symfmt.Kind{symfmt.KindInfo},
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			if !facts.IsVariable(r) && !slices.Contains(knownInfos, string(r.Key)) {
				p.Report(r, 1, "unknown key %s, want one of %s", check.Quoted(r.Key), strings.Join(knownInfos, ", "))
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM107",
			Title:    "INFO CODE_ID without a usable id, or a second one",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "FIELD: INFO lines",
			Doc: `Servers find a file by its code id where the debug id is not known: for Windows
binaries and for minidumps of some clients. The value is hexadecimal digits, on
Windows followed by the name of the binary.`,
			Bad:  check.Head + "INFO CODE_ID\n",
			Good: check.Head + "INFO CODE_ID 67452301AB89EFCD0123456789ABCDEF01234567\n",
			At:   2,
		},
		On:    []symfmt.Kind{symfmt.KindInfo},
		Check: codeID,
	},
}

// knownInfos are the keys that dumpers write and readers read: Breakpad's (CODE_ID), those of
// dump_syms --extra-info, and the one of rust-minidump's cache (URL).
var knownInfos = []string{
	"CODE_ID", "GENERATOR", "URL", "VERSION", "RELEASECHANNEL", "VENDOR", "PRODUCTNAME", "BUILDID",
}

func moduleFirst(p *check.Pass) (func(*symfmt.Record), func()) {
	reported := false
	return func(r *symfmt.Record) {
			if !p.HasModule && !reported {
				reported = true
				p.Report(r, -1, "%v before MODULE", r.Kind)
			}
		}, func() {
			switch {
			case p.HasModule || reported:
			case p.Lines == 0:
				p.ReportLine(0, "the file is empty: no MODULE record")
			default:
				p.ReportLine(0, "no MODULE record")
			}
		}
}

func followsFunc(p *check.Pass) (func(*symfmt.Record), func()) {
	before := symfmt.KindNone // the record before the run of line and INLINE records
	return func(r *symfmt.Record) {
		if p.InFunc || p.FuncLost {
			return
		}
		if p.Last != symfmt.KindInline && p.Last != symfmt.KindLine {
			before = p.Last
		}
		if before == symfmt.KindNone {
			p.Report(r, -1, "%v at the start of the file, want a FUNC before it", r.Kind)
			return
		}
		p.Report(r, -1, "%v after %v, want a FUNC before it", r.Kind, before)
	}, nil
}

func usualOrder(p *check.Pass) (func(*symfmt.Record), func()) {
	last, first, n := symfmt.KindNone, 0, 0
	var kind, behind symfmt.Kind
	return func(r *symfmt.Record) {
			if r.Kind >= last {
				last = r.Kind
				return
			}
			if facts.IsVariable(r) {
				return // variables come after all other records, where no reader minds them
			}
			if n++; n == 1 {
				first, kind, behind = r.Pos().Line, r.Kind, last
			}
		}, func() {
			if n > 0 {
				p.ReportLine(first, "%v after %v; %s out of the usual order", kind, behind, text.Count(uint64(n), "record"))
			}
		}
}

func codeID(p *check.Pass) (func(*symfmt.Record), func()) {
	first := 0
	return func(r *symfmt.Record) {
		if string(r.Key) != "CODE_ID" {
			return
		}
		id, _, _ := strings.Cut(string(r.Name), " ")
		switch {
		case first > 0:
			p.Report(r, 1, "second INFO CODE_ID, the first is in line %d", first)
		case id == "":
			p.Report(r, 1, "the id is missing, want hexadecimal digits")
		case !isHex(id):
			p.Report(r, 2, "id %s, want hexadecimal digits", check.Quoted(id))
		}
		if first == 0 {
			first = r.Pos().Line
		}
	}, nil
}

func isHex(s string) bool {
	return s != "" && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}
