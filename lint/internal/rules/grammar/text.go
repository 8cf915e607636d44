package grammar

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// layout returns a check of the text's layout, which is known only at the end.
func layout(report func(p *check.Pass, l *symfmt.Layout)) check.Func {
	return check.AtEnd(func(p *check.Pass) { report(p, &p.Layout) })
}

// reportPlaces reports lines that share a property as one finding.
func reportPlaces(p *check.Pass, at symfmt.Places, one, all string) {
	switch at.Count {
	case 0:
	case 1:
		p.ReportLine(at.First, "%s", one)
	default:
		p.ReportLine(at.First, "%s; %s", one, text.Count(at.Count, all))
	}
}

// UTF16Text is reported by the code that reads the file, because rules see no records of such a
// file.
var UTF16Text = &check.Rule{
	Rule: &finding.Rule{
		ID:       "SYM113",
		Title:    "text in UTF-16",
		Severity: finding.Error,
		Since:    "0.1",
		Spec:     "symbol_files: Overview",
		Doc: `No reader takes it. Windows shells write UTF-16 when output is redirected: use the
dumper's own option for the output file, or convert it with iconv.`,
		Cites: []string{"rust-minidump#903", "sentry-docs#1067"},
		Bad:   "\xff\xfe" + utf16LE(check.Head),
		Good:  check.Head,
		At:    1,
	},
}

func utf16LE(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.Write([]byte{c, 0})
	}
	return b.String()
}

var textRules = []*check.Rule{
	UTF16Text,
	{
		Rule: &finding.Rule{
			ID:       "SYM114",
			Title:    "byte order mark",
			Severity: finding.Error,
			Refused:  true,
			Since:    "0.1",
			Spec:     "symbol_files: Overview",
			Doc: `To other readers the mark is part of the first word: rust-minidump refuses the file
("failed to parse file at line 0"), and tools that look for MODULE do not find it.
PowerShell writes it when output is redirected: use the dumper's own option.`,
			Cites: []string{"rust-minidump#903", "sentry-docs#1067"},
			Bad:   "\xef\xbb\xbf" + check.Head,
			Good:  check.Head,
			At:    1,
		},
		Check: layout(func(p *check.Pass, l *symfmt.Layout) {
			if l.BOM {
				p.ReportLine(1, "byte order mark of UTF-8 at the start, want none")
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM115",
			Title:    "text that is not UTF-8, outside of names",
			Severity: finding.Error,
			Refused:  true,
			Since:    "0.1",
			Spec:     "symbol_files: Overview",
			Doc: `rust-minidump refuses a file for one such byte in a text field: the system and CPU of
MODULE, rules of STACK CFI, programs of STACK WIN. The line is damaged. For names see
SYM604.`,
			Bad:  check.Head + "STACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $r\xb1: .cfa\n",
			Good: check.Head + "STACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n",
			At:   2,
		},
		On:    named,
		Check: check.PerRecord(validUTF8),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM116",
			Title:    "lines end in CR LF",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symbol_files: Overview",
			Doc: `Breakpad and rust-minidump accept it; tools made for Linux may take the CR for part
of a name. It costs a byte a line.`,
			Bad:  strings.ReplaceAll(check.Head, "\n", "\r\n"),
			Good: check.Head,
			At:   1,
		},
		Check: layout(func(p *check.Pass, l *symfmt.Layout) {
			if l.CR.Count > l.ManyCR.Count && l.Mixed(p.Lines) == 0 {
				p.ReportLine(l.CR.First, "lines end in CR LF")
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM117",
			Title:    "lines end in different ways",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: Overview",
			Doc: `Some lines end in LF and some in CR LF: the file was put together from parts or
changed by an editor, and its checksum no longer matches what the dumper wrote.
Readers accept it.`,
			Bad:  check.Head + "FUNC 1000 10 0 f\r\n",
			Good: check.Head + "FUNC 1000 10 0 f\n",
			At:   2,
		},
		Check: layout(func(p *check.Pass, l *symfmt.Layout) {
			if at := l.Mixed(p.Lines); at > 0 {
				p.ReportLine(at, "the line ending differs from the first; %d of %d lines end in CR LF", l.CR.Count, p.Lines)
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM118",
			Title:    "lines end in CR CR LF",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "rust-minidump: sym_file/parser.rs",
			Doc: `Line endings were converted twice, as old dumpers do on Windows when they write to a
pipe. Breakpad and rust-minidump accept it; others see a CR at the end of names.`,
			Bad:  strings.ReplaceAll(check.Head, "\n", "\r\r\n"),
			Good: check.Head,
			At:   1,
		},
		Check: layout(func(p *check.Pass, l *symfmt.Layout) {
			reportPlaces(p, l.ManyCR, "line ends in more than one CR", "such line")
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM119",
			Title:    "CR inside a line",
			Severity: finding.Error,
			Refused:  true,
			Since:    "0.1",
			Spec:     "symbol_files: Overview",
			Doc: `Breakpad ends the line there and takes the rest for another record, rust-minidump
refuses the file. The CR mostly comes from a line break inside a name.`,
			Cites: []string{"dump_syms 2.1.1"},
			Bad:   check.Head + "FUNC 1000 10 0 f<\r>\n",
			Good:  check.Head + "FUNC 1000 10 0 f<>\n",
			At:    2,
		},
		On: withKinds(named, symfmt.KindInfo),
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			if i := bytes.IndexByte(r.Text(), '\r'); i >= 0 {
				p.Report(r, -1, "CR at byte %d of the line", i+1)
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM120",
			Title:    "last line without an end",
			Severity: finding.Error,
			Refused:  true,
			Since:    "0.1",
			Spec:     "symbol_files: Overview",
			Doc: `rust-minidump refuses the file ("unexpected EOF"), and symtool does not use the line: the
file may have been cut off. Compare its size with the original, and dump it again.`,
			Bad:  check.Head + "FUNC 1000 10 0 f",
			Good: check.Head + "FUNC 1000 10 0 f\n",
			At:   2,
		},
		Check: check.AtEnd(func(p *check.Pass) {
			var cut *symfmt.SyntaxError
			if errors.As(p.Cut, &cut) {
				p.ReportPos(symfmt.Pos{Line: cut.Line, Col: cut.Col}, "%s", cut.Msg)
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM121",
			Title:    "blank lines",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symbol_files: Overview",
			Doc:      `Readers skip them, except between a FUNC and its lines: see SYM122.`,
			Bad:      check.Head + "\nFUNC 1000 10 0 f\n",
			Good:     check.Head + "FUNC 1000 10 0 f\n",
			At:       2,
		},
		Check: layout(func(p *check.Pass, l *symfmt.Layout) {
			if l.Blank.Count > l.Split.Count {
				reportPlaces(p, l.Blank, "blank line", "blank line")
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM122",
			Title:    "blank line between a FUNC and its lines",
			Severity: finding.Error,
			Refused:  true,
			Since:    "0.1",
			Spec:     "rust-minidump: sym_file/parser.rs",
			Doc: `To rust-minidump the blank line ends the FUNC, and it then refuses the file because
of the line record that follows.`,
			Bad:  check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n\n1000 10 1 0\n",
			Good: check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 10 1 0\n",
			At:   5,
		},
		Check: layout(func(p *check.Pass, l *symfmt.Layout) {
			reportPlaces(p, l.Split, "record of a FUNC after a blank line", "such record")
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM123",
			Title:    "tabs between fields, or blanks around a record",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: Overview",
			Doc: `Fields are separated by spaces, and a record starts in the first column. Breakpad
takes a tab for part of the field and a record after a blank for a line record;
rust-minidump refuses the file for blanks before a record or after a line record.`,
			Bad:  check.Head + " FUNC 1000 10 0 f\n",
			Good: check.Head + "FUNC 1000 10 0 f\n",
			At:   2,
		},
		Check: layout(func(p *check.Pass, l *symfmt.Layout) {
			reportPlaces(p, l.OddBlanks, "tab between fields, or blanks around the record", "such record")
		}),
	},
}

// withKinds returns a copy of kinds with more appended.
func withKinds(kinds []symfmt.Kind, more ...symfmt.Kind) []symfmt.Kind {
	return append(kinds[:len(kinds):len(kinds)], more...)
}

func validUTF8(p *check.Pass, r *symfmt.Record) {
	text := r.Text()
	if utf8.Valid(text) {
		return
	}
	if name := facts.NameField(r); name > 0 {
		text = text[:min(r.FieldPos(name).Col-1, len(text))]
	}
	for i := 0; i < len(text); {
		c, n := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && n == 1 {
			p.Report(r, -1, "byte %#02x at byte %d of the line is not UTF-8", text[i], i+1)
			return
		}
		i += n
	}
}
