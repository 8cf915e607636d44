package lint

import "github.com/symtool/symtool/symfmt"

// badRecord is what the reader itself finds.
var badRecord = &Rule{
	ID:       "SYM101",
	Title:    "line that is no record",
	Severity: Error,
	Since:    "0.1",
	Spec:     "symbol_files: Records",
	Doc: `Readers drop such a line, and some drop the file: Breakpad gives up after 100 of
them, older readers at the first. Column and message tell which field is wrong.`,
	Cites: []string{"rust-minidump#903", "dump_syms#511"},
	Bad:   "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nFUNC 1000 zz 0 f\n",
	Good:  "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nFUNC 1000 10 0 f\n",
	At:    2,
	Check: func(*Pass) (func(*symfmt.Record), func()) { return nil, nil }, // see Pass.syntax
}

var grammarRules = []*Rule{
	badRecord,
	{
		ID:       "SYM102",
		Title:    "MODULE is not the first record",
		Severity: Error,
		Since:    "0.1",
		Spec:     "symbol_files: MODULE records",
		Doc: `Symbol servers and stores read the first line alone to learn which module the file
is of. Records in front of it are lost to some readers, and a file without MODULE
is refused by all.`,
		Bad:  "FILE 0 a.c\nMODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\n",
		Good: "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nFILE 0 a.c\n",
		At:   1,
		On: []symfmt.Kind{
			symfmt.KindInfo, symfmt.KindFile, symfmt.KindInlineOrigin, symfmt.KindFunc, symfmt.KindInline,
			symfmt.KindLine, symfmt.KindPublic, symfmt.KindStackWin, symfmt.KindCFIInit, symfmt.KindCFI,
		},
		Check: moduleFirst,
	},
}

func moduleFirst(p *Pass) (func(*symfmt.Record), func()) {
	told := false
	return func(r *symfmt.Record) {
			if !p.HasModule && !told {
				told = true
				p.Report(r, -1, "%v in front of MODULE", r.Kind)
			}
		}, func() {
			if !p.HasModule && !told {
				p.ReportLine(0, "there is no MODULE record")
			}
		}
}
