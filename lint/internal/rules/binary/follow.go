package binary

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/follow"
)

var followRule = &check.Rule{
	Rule: &finding.Rule{
		ID: "SYM551", Title: "CFA that the instructions of a function contradict", Severity: finding.Error, Since: "0.1", Misleads: true,
		Spec: binarySpec + "STACK CFI records",
		Doc: `The stack pointer was followed from the function's first instruction through pushes,
pops and additions, and at this address the CFA is not where the rule says: a walker
reads the return address from a wrong place, or all frames below are lost. Where the
stack pointer cannot be followed nothing is reported (SYM552). The function's rule is
wrong at a call, so that each walk through the function goes wrong, or at half of its
instructions; other functions are reported as SYM553.

If the binary's own .eh_frame has the same rule, SYM557 is reported instead. Compare
"readelf --debug-dump=frames-interp" with "objdump -d".`,
		Cites: []string{"llvm-project#145443", "llvm-project#145633", "llvm-project#220720"},
	},
	Check: checkFollow,
}

// followRules maps the follower's findings to rules.
var followRules = map[follow.Kind]string{
	follow.WrongCFA: "SYM551", follow.WrongCFASome: "SYM553", follow.WrongReturn: "SYM554", follow.WrongSaved: "SYM555", follow.MissingRule: "SYM556",
}

// checkFollow follows the instructions of functions and reports the rules that they contradict.
var checkFollow = sharedWithBinary(func(p *check.Pass, b *check.Image) {
	rows, cpu := b.Rows(), follow.CPUOf(b.Arch, b.AddrSize)
	if cpu == nil || len(rows.Blocks) == 0 || rows.CPU == nil || rows.CPU != b.Arch {
		return
	}
	size := uint64(0)
	for _, r := range b.ExecRanges() {
		size += r.End - r.Start
	}
	code := &follow.Binary{Base: b.Base, Size: size, Code: b.CodeAt, Exported: b.Exported, Begins: b.Begins, Tables: b.OS == "windows"}
	own := sync.OnceValue(func() *ownTable { return newOwnTable(b) }) // made for the first finding that needs it
	p.Followed = follow.Run(cpu, rows, code, func(f follow.Finding) {
		rule := followRules[f.Kind]
		checked := f.Kind == follow.WrongCFA || f.Kind == follow.WrongCFASome || f.Kind == follow.WrongReturn
		if checked && own().says(f.Addr, f.Kind == follow.WrongReturn) {
			f.Text += "; the binary's .eh_frame has the same rule"
			if f.Kind != follow.WrongCFASome {
				rule = "SYM557"
			}
		}
		p.As(rule, func() { reportFollowed(p, b, f) })
	})
	p.As("SYM552", func() { reportSkipped(p, p.Followed) })
})

func reportFollowed(p *check.Pass, b *check.Image, f follow.Finding) {
	rva := b.RVA(f.Addr)
	if kept := p.ReportAt(int(f.Line), rva, "at 0x%x %s", uint64(rva), f.Text); kept != nil {
		kept.Function = b.NameAt(f.Addr)
	}
}

// reportSkipped reports how much could not be compared, and why.
func reportSkipped(p *check.Pass, s *follow.Stats) {
	if s.Followed+s.Wrong == s.Blocks {
		return
	}
	p.ReportLine(0, "of %d STACK CFI INITs %d were compared with the instructions, %d in part and %d not%s; %d instructions were compared, %d were not%s",
		s.Blocks, s.Followed+s.Wrong, s.Partly, s.Abstained, byReason(s.AbstainedBy), s.Instructions, total(s.NotCompared), byReason(s.NotCompared))
}

func total(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// byReason lists the reasons with their counts, the largest first.
func byReason(counts map[string]int) string {
	keys := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(keys, func(a, b string) int { return counts[b] - counts[a] })
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s: %d", k, counts[k])
	}
	if len(keys) == 0 {
		return ""
	}
	return " (" + strings.Join(keys, ", ") + ")"
}
