package lint

import (
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"github.com/symtool/symtool/symfmt"
)

// inlined is a FUNC with an INLINE and a line, without their numbers' records.
const inlined = "FUNC 1000 10 0 f\nINLINE 0 5 0 0 1004 4\n1000 10 1 0\n"

var (
	onFile   = []symfmt.Kind{symfmt.KindFile}
	onOrigin = []symfmt.Kind{symfmt.KindInlineOrigin}
	onInline = []symfmt.Kind{symfmt.KindInline}
)

var refRules = sync.OnceValue(func() []*Rule {
	return []*Rule{
		{
			ID:       "SYM201",
			Title:    "FILE number taken twice",
			Severity: Error,
			Since:    "0.1",
			Spec:     "symbol_files: FILE records",
			Doc: `Breakpad gives all lines with the number the first name, rust-minidump the last: one
of them answers wrongly. Files were joined without renumbering.`,
			Bad:   head + "FILE 0 a.c\nFILE 0 b.c\nFUNC 1000 10 0 f\n1000 10 1 0\n",
			Good:  head + "FILE 0 a.c\nFILE 1 b.c\nFUNC 1000 10 0 f\n1000 8 1 0\n1008 8 1 1\n",
			At:    3,
			On:    onFile,
			Check: again,
		},
		{
			ID:       "SYM202",
			Title:    "INLINE_ORIGIN number taken twice",
			Severity: Error,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE_ORIGIN records",
			Doc: `Breakpad gives all inlined calls with the number the first name, rust-minidump the
last: one of them answers wrongly.`,
			Bad:   head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nINLINE_ORIGIN 0 h\n" + inlined,
			Good:  head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + inlined,
			At:    4,
			On:    onOrigin,
			Check: again,
		},
		{
			ID:       "SYM203",
			Title:    "line record of a FILE that is not there",
			Severity: Error,
			Since:    "0.1",
			Spec:     "symbol_files: Line records",
			Doc: `Frames at this code have a line number but no file name. The FILE record was lost,
or the numbers were changed in one place only. It is told once for each number, where
it is used first.`,
			Bad:   head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 8 1 0\n1008 8 2 1\n",
			Good:  head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 8 1 0\n1008 8 2 0\n",
			At:    5,
			Check: undeclared(func(f *Facts) *IDs { return &f.Files }, symfmt.KindLine, "file"),
		},
		{
			ID:       "SYM204",
			Title:    "INLINE called from a FILE that is not there",
			Severity: Error,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records",
			Doc: `The frame that the call is in has no file name. It is told once for each number,
where it is used first.`,
			Cites: []string{"dump_syms#466"},
			Bad:   head + "FILE 1 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1004 4\n1000 10 1 1\n",
			Good:  head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + inlined,
			At:    5,
			Check: undeclared(func(f *Facts) *IDs { return &f.Files }, symfmt.KindInline, "call file"),
		},
		{
			ID:       "SYM205",
			Title:    "INLINE of an INLINE_ORIGIN that is not there",
			Severity: Error,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records",
			Doc: `The inlined function has no name: Breakpad prints "<name omitted>" and rust-minidump
leaves the frame out. It is told once for each number, where it is used first.`,
			Bad:   head + "FILE 0 a.c\n" + inlined,
			Good:  head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + inlined,
			At:    4,
			Check: undeclared(func(f *Facts) *IDs { return &f.Origins }, symfmt.KindInline, "origin"),
		},
		{
			ID:       "SYM206",
			Title:    "FILE declared behind its first use",
			Severity: Warning,
			Since:    "0.1",
			Spec:     "symbol_files: Line records",
			Doc: `The specification wants a "prior FILE record". Breakpad and rust-minidump find it
anywhere in the file, readers that go through the file once do not.`,
			Bad:   head + "FUNC 1000 10 0 f\n1000 10 1 0\nFILE 0 a.c\n",
			Good:  head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 10 1 0\n",
			At:    3,
			Check: late(func(f *Facts) *IDs { return &f.Files }, "file"),
		},
		{
			ID:       "SYM207",
			Title:    "INLINE_ORIGIN declared behind its first use",
			Severity: Note,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE_ORIGIN records",
			Doc: `Breakpad and rust-minidump find it anywhere in the file, readers that go through the
file once do not.`,
			Bad:   head + "FILE 0 a.c\n" + inlined + "INLINE_ORIGIN 0 g\n",
			Good:  head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + inlined,
			At:    4,
			Check: late(func(f *Facts) *IDs { return &f.Origins }, "origin"),
		},
		{
			ID:       "SYM208",
			Title:    "FILE records that nothing uses",
			Severity: Note,
			Since:    "0.1",
			Spec:     "symbol_files: FILE records",
			Doc: `They cost bytes and nothing else. Some dumpers write every file of the line tables;
symtool convert writes those that are used. It is told once.`,
			Bad:  head + "FILE 0 a.c\nFILE 1 b.c\nFUNC 1000 10 0 f\n1000 10 1 0\n",
			Good: head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 10 1 0\n",
			At:   0,
			Check: func(p *Pass) (func(*symfmt.Record), func()) {
				return nil, func() {
					old := func(id uint32) bool {
						return p.Forms.OldOrigins() && p.Forms.origins.usedEarly(id)
					}
					if n, least := p.Files.unused(old); n > 0 {
						p.ReportLine(0, "%d of %s are used by nothing, the first is %d", n, plural(p.Files.Count, "FILE record"), least)
					}
				}
			},
		},
		{
			ID:       "SYM209",
			Title:    "INLINE_ORIGIN records that nothing uses",
			Severity: Note,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE_ORIGIN records",
			Doc: `They cost bytes and nothing else, unless INLINE records were lost: then inlined calls
are missing in stacks. symtool convert writes those that are used. It is told once.`,
			Bad:  head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\n1000 10 1 0\n",
			Good: head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + inlined,
			At:   0,
			Check: func(p *Pass) (func(*symfmt.Record), func()) {
				return nil, func() {
					if n, least := p.Origins.unused(func(uint32) bool { return false }); n > 0 {
						p.ReportLine(0, "%d of %s are used by nothing, the first is %d", n, plural(p.Origins.Count, "INLINE_ORIGIN record"), least)
					}
				}
			},
		},
		{
			ID:       "SYM210",
			Title:    "INLINE records of both forms",
			Severity: Error,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records; Breakpad: ParseInline",
			Doc: `The form of a file's INLINEs tells whether its INLINE_ORIGINs have the number of a
file before the name. With both, nobody knows: names begin with a stray number or miss
one. It is told once, at the first that differs.`,
			Bad: head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 4\n" +
				"INLINE 0 5 0 1004 4\n1000 10 1 0\n",
			Good: head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + inlined,
			At:   6,
			On:   onInline,
			Check: func(p *Pass) (func(*symfmt.Record), func()) {
				told := false
				return func(r *symfmt.Record) {
					if !told && p.Forms.Old > 0 && p.Forms.New > 0 {
						told = true
						form := "with a call file behind records without"
						if r.OldForm {
							form = "without a call file behind records with one"
						}
						p.Report(r, -1, "INLINE %s", form)
					}
				}, nil
			},
		},
		{
			ID:       "SYM211",
			Title:    "INLINE with the call file -1",
			Severity: Error,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records; Breakpad: ParseInline",
			Doc: `Breakpad takes -1 for a call whose file is not known, rust-minidump refuses the
file. It is told once. symtool convert writes a FILE named <unknown> in its place.`,
			Bad:  head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 -1 0 1004 4\n1000 10 1 0\n",
			Good: head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + inlined,
			At:   5,
			On:   onInline,
			Check: func(p *Pass) (func(*symfmt.Record), func()) {
				first, n := 0, 0
				return func(r *symfmt.Record) {
						if r.Inline.NoFile && !r.OldForm {
							if n++; n == 1 {
								first = r.Pos().Line
							}
						}
					}, func() {
						if n > 0 {
							p.ReportLine(first, "call file -1; %s", plural(n, "such record"))
						}
					}
			},
		},
		{
			ID:       "SYM212",
			Title:    "INLINE_ORIGIN of the old form names a FILE that is not there",
			Severity: Warning,
			Since:    "0.1",
			Spec:     "Breakpad: ParseInlineOrigin",
			Doc: `The number between number and name is that of a FILE. Breakpad shows the inlined
function without its file.`,
			Bad:   head + "FILE 0 a.c\nINLINE_ORIGIN 0 7 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 1004 4\n1000 10 1 0\n",
			Good:  head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + inlined,
			At:    3,
			Check: oldOriginFiles,
		},
		{
			ID:       "SYM213",
			Title:    "MODULE id is not that of INFO CODE_ID",
			Severity: Error,
			Since:    "0.1",
			Spec:     "Breakpad: linux/file_id.cc",
			Doc: `On Linux, the first 16 bytes of the build id (CODE_ID) are the debug id (MODULE), with
the bytes of its first three numbers turned around on little-endian CPUs, and a 0
behind it; on macOS, both are the same. Here they are of two different binaries, or
the dumper forgot to turn the bytes around: the file is looked for, and stored, under an
id that no module has.`,
			Cites: []string{"dump_syms#629"},
			Bad:   head + "INFO CODE_ID 0123456789ABCDEF0123456789ABCDEF01234567\n",
			Good:  head + "INFO CODE_ID 67452301AB89EFCD0123456789ABCDEF01234567\n",
			At:    2,
			On:    []symfmt.Kind{symfmt.KindInfo},
			Check: sameID,
		},
	}
})

// again reports a number that was declared before.
func again(p *Pass) (func(*symfmt.Record), func()) {
	return func(r *symfmt.Record) {
		if p.Again {
			p.Report(r, 1, "number %d is taken by another %v before it", r.ID, r.Kind)
		}
	}, nil
}

// undeclared reports numbers that records of a kind name and nothing declares.
func undeclared(ids func(*Facts) *IDs, kind symfmt.Kind, what string) func(*Pass) (func(*symfmt.Record), func()) {
	return func(p *Pass) (func(*symfmt.Record), func()) {
		return nil, func() {
			ids := ids(p.Facts)
			for _, use := range ids.Early {
				if use.Kind == kind && !ids.Has(use.ID) {
					p.reportPos(use.Pos, "%s %d is not declared", what, use.ID)
				}
			}
		}
	}
}

// late reports numbers that are declared behind their use.
func late(ids func(*Facts) *IDs, what string) func(*Pass) (func(*symfmt.Record), func()) {
	return func(p *Pass) (func(*symfmt.Record), func()) {
		return nil, func() {
			ids := ids(p.Facts)
			for _, use := range ids.Early {
				if ids.Has(use.ID) {
					p.reportPos(use.Pos, "%s %d is declared behind this use", what, use.ID)
				}
			}
		}
	}
}

func oldOriginFiles(p *Pass) (func(*symfmt.Record), func()) {
	return nil, func() {
		if !p.Forms.OldOrigins() {
			return
		}
		for _, use := range p.Forms.origins.Early {
			if !p.Files.Has(use.ID) {
				p.reportPos(use.Pos, "file %d is not declared", use.ID)
			}
		}
	}
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

// debugIDs are the debug ids, without age, that a module with this code id may
// have; none if nothing is known of their relation.
func debugIDs(f *Facts, code string) []string {
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

// maybeBig are the CPUs that may be big-endian: MODULE does not tell.
var maybeBig = map[string]bool{
	"arm": true, "arm64": true, "mips": true, "mips64": true, "ppc": true, "ppc64": true, "s390x": true,
}
