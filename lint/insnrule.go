package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/symtool/symtool/lint/follow"
	"github.com/symtool/symtool/symfmt"
)

var followRule = &Rule{
	ID: "SYM551", Title: "CFA that the instructions of a function contradict", Severity: Error, Since: "0.3", Misleads: true,
	Spec: binarySpec + "STACK CFI records",
	Doc: `The stack pointer was followed from the function's first instruction through pushes,
pops and additions, and at this address the CFA is not where the rule says: a walker
reads the return address from a wrong place, or all frames below are lost. Where the
stack pointer cannot be followed nothing is reported (SYM552). The function's rule is
wrong at a call, so that each walk through the function goes wrong, or at half of its
instructions; other functions are reported as SYM553.

The mistake may be in the binary's own call frame information: hand-written assembly
often has it. Compare "readelf --debug-dump=frames-interp" with "objdump -d".`,
	Cites: []string{"llvm-project#145443", "llvm-project#145633", "llvm-project#220720"},
	Check: checkFollow,
}

// followRules are the rules of the follower's findings.
var followRules = map[follow.Kind]string{
	follow.WrongCFA: "SYM551", follow.WrongCFASome: "SYM553", follow.WrongReturn: "SYM554", follow.WrongSaved: "SYM555", follow.MissingRule: "SYM556",
}

func checkFollow(p *Pass) (func(*symfmt.Record), func()) {
	return sharedAtEnd(p, func(b *elfBinary) *bool { return &b.followed }, func() {
		b := p.binary
		rows, cpu := b.ready(), follow.CPUOf(b.Arch, b.AddrSize)
		if cpu == nil || len(rows.Blocks) == 0 || rows.CPU == nil || rows.CPU != b.Arch {
			return
		}
		size := uint64(0)
		for _, r := range b.ExecRanges() {
			size += r.End - r.Start
		}
		p.report.Followed = follow.Run(cpu, rows, &follow.Binary{Base: b.base, Size: size, Code: b.code, Exported: b.exported}, p.reportFollowed)
		p.reportSkipped(p.report.Followed)
	})
}

// reportFollowed reports a finding of the follower, if its rule is enabled.
func (p *Pass) reportFollowed(f follow.Finding) {
	was := p.rule
	defer func() { p.rule = was }()
	if !p.turn(followRules[f.Kind]) {
		return
	}
	before, rva := len(p.report.Findings), p.binary.rva(f.Addr)
	p.ReportAt(int(f.Line), rva, "at 0x%x %s", uint64(rva), f.Text)
	if n := len(p.report.Findings); n > before {
		p.report.Findings[n-1].Function = p.binary.nameAt(f.Addr)
	}
}

// reportSkipped reports what was not compared.
func (p *Pass) reportSkipped(s *follow.Stats) {
	if s.Followed == s.Blocks {
		return
	}
	p.also("SYM552", 0, "of %d STACK CFI INITs %d were compared with the instructions, %d in part and %d not%s; %d instructions were compared, %d were not%s",
		s.Blocks, s.Followed+s.Wrong, s.Partly, s.Abstained, byReason(s.AbstainedBy), s.Instructions, total(s.NotCompared), byReason(s.NotCompared))
}

func total(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// byReason lists counts, greatest first.
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
