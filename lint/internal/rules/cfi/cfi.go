// Package cfi implements the rules of the family cfi: STACK CFI and STACK WIN.
package cfi

import (
	"slices"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// armHead is the beginning of examples for ARM.
const armHead = "MODULE Linux arm 0123456789ABCDEF0123456789ABCDEF0 a\nFUNC 1000 40 0 f\n1000 40 1 0\n"

const cfiSpec = "symbol_files: STACK CFI records"

// cfiKinds are the kinds of records of the family.
var cfiKinds = []symfmt.Kind{symfmt.KindCFIInit, symfmt.KindCFI}

// Rules are the rules of the family, by ID.
var Rules = slices.Concat(cfiRules, winRules)

var cfiRules = []*check.Rule{
	{
		Rule: &finding.Rule{
			ID: "SYM401", Title: "STACK CFI before any STACK CFI INIT", Severity: finding.Error, Since: "0.1", Spec: cfiSpec,
			Doc: `A STACK CFI record changes the rules of the INIT record before it, and means nothing
alone. Readers drop it, or attach it to an unrelated block.`,
			Bad: check.HeadFunc + "STACK CFI 1001 .cfa: $rsp 16 +\n" + check.Init, At: 4,
			Good: check.HeadFunc + check.Init + "STACK CFI 1001 .cfa: $rsp 16 +\n",
		},
		On:    cfiKinds,
		Check: oddRow(facts.OddOrphan, "no STACK CFI INIT before this record"),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM402", Title: "STACK CFI INIT ranges overlap", Severity: finding.Error, Since: "0.1", Spec: cfiSpec,
			Doc: `Two blocks claim the same code. Breakpad drops the one that comes later, with all its
rows; others use either. Rules of the wrong block give wrong callers.`,
			Bad: check.HeadFunc + check.Init + "STACK CFI INIT 1020 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", At: 5,
			Good: check.HeadFunc + check.Init + "STACK CFI INIT 1040 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nPUBLIC 1040 0 g\n",
		},
		On:    cfiKinds,
		Check: blockOverlaps,
	},
	{
		Rule: &finding.Rule{
			ID: "SYM403", Title: "STACK CFI INIT twice for the same range", Severity: finding.Warning, Since: "0.1", Spec: cfiSpec,
			Doc: `Writers that read both .eh_frame and .debug_frame without removing duplicates write
each function twice. Readers keep one of them; the file is larger for nothing.`,
			Bad: check.HeadFunc + check.Init + check.Init, At: 5,
			Good: check.HeadFunc + check.Init,
		},
		On:    cfiKinds,
		Check: blockOverlaps,
	},
	{
		Rule: &finding.Rule{
			ID: "SYM404", Title: "STACK CFI INIT of size 0", Severity: finding.Warning, Since: "0.1", Spec: cfiSpec,
			Doc: `The block covers no code, so no reader ever uses it.`,
			Bad: check.HeadFunc + check.Init + "STACK CFI INIT 2000 0 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nPUBLIC 2000 0 g\n", At: 5,
			Good: check.HeadFunc + check.Init,
		},
		On: []symfmt.Kind{symfmt.KindCFIInit},
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			if r.Size == 0 {
				p.Report(r, 4, "the block at %x has size 0", r.RVA)
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM405", Title: "STACK CFI INIT records are not in order", Severity: finding.Note, Since: "0.1", Spec: cfiSpec,
			Doc: `The format allows any order, and readers sort. Comparing two files line by line, and
searching a file without reading all of it, needs the order of addresses. Reported
once.`,
			Bad: check.HeadFunc + "STACK CFI INIT 1020 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", At: 5,
			Good: check.HeadFunc + check.Init,
		},
		On:    []symfmt.Kind{symfmt.KindCFIInit},
		Check: check.Ascending,
	},
	{
		Rule: &finding.Rule{
			ID: "SYM406", Title: "call frame information beyond the address space", Severity: finding.Warning, Since: "0.1", Spec: cfiSpec,
			Doc: `The CPU of MODULE has 32-bit addresses, and the range ends above them: either the CPU
or the address is wrong. No reader ever looks there.`,
			Bad: armHead + "STACK CFI INIT ffffffff 10 .cfa: sp 0 + .ra: lr\nPUBLIC fffffff0 0 g\n", At: 4,
			Good: armHead + "STACK CFI INIT 1000 10 .cfa: sp 0 + .ra: lr\n",
		},
		On:    []symfmt.Kind{symfmt.KindCFIInit, symfmt.KindStackWin},
		Check: check.PerRecord(checkSpace),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM407", Title: "STACK CFI rows do not ascend", Severity: finding.Warning, Since: "0.1", Spec: cfiSpec,
			Doc: `The address of a row has to be greater than that of the record before. Readers that
sort the rows read something else than those that take them in file order.`,
			Bad: check.HeadFunc + check.Init + "STACK CFI 1008 .cfa: $rsp 16 +\nSTACK CFI 1004 .cfa: $rsp 24 +\n", At: 6,
			Good: check.HeadFunc + check.Init + "STACK CFI 1004 .cfa: $rsp 24 +\nSTACK CFI 1008 .cfa: $rsp 16 +\n",
		},
		On:    cfiKinds,
		Check: oddRow(facts.OddBackwards, "%x is not above the address of the record before"),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM408", Title: "two STACK CFI rows at one address", Severity: finding.Error, Since: "0.1", Spec: cfiSpec,
			Doc: `Breakpad keeps the later of the two: what only the first one says is lost. Write one
row with the rules of both.`,
			Bad: check.HeadFunc + check.Init + "STACK CFI 1004 .cfa: $rsp 16 +\nSTACK CFI 1004 $rbx: .cfa -16 + ^\n", At: 6,
			Good: check.HeadFunc + check.Init + "STACK CFI 1004 .cfa: $rsp 16 + $rbx: .cfa -16 + ^\n",
		},
		On:    cfiKinds,
		Check: oddRow(facts.OddSame, "there is a row at %x already"),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM409", Title: "STACK CFI row outside of its INIT", Severity: finding.Error, Since: "0.1", Spec: cfiSpec,
			Doc: `The row lies outside the range of the INIT record before it. It is lost, or changes
the rules of another function.`,
			Bad: check.HeadFunc + check.Init + "STACK CFI 1040 .cfa: $rsp 16 +\n", At: 5,
			Good: check.HeadFunc + check.Init + "STACK CFI 103f .cfa: $rsp 16 +\n",
		},
		On: cfiKinds,
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			if p.CFI.Odd&facts.OddOutside != 0 {
				b := p.Blocks.At(p.CFI.Block)
				p.Report(r, 2, "%x is outside %x to %x, the range of STACK CFI INIT at line %d", r.RVA, b.RVA, uint64(b.RVA)+b.Size, b.Line)
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM410", Title: "block without .cfa or .ra", Severity: finding.Warning, Since: "0.1", Spec: cfiSpec,
			Doc: `Stack walkers want a rule for .cfa and one for .ra at each address; where one is
missing they skip the block and guess. On CPUs that hold the return address in a
register, .ra has to name it at the function's entry too.`,
			Cites: []string{"dump_syms#744", "symbolic#949"},
			Bad:   "MODULE Linux arm64 0123456789ABCDEF0123456789ABCDEF0 a\nFUNC 1000 40 0 f\n1000 40 1 0\nSTACK CFI INIT 1000 40 .cfa: sp 0 +\nSTACK CFI 1004 .cfa: sp 16 + .ra: .cfa -8 + ^\n", At: 4,
			Good: "MODULE Linux arm64 0123456789ABCDEF0123456789ABCDEF0 a\nFUNC 1000 40 0 f\n1000 40 1 0\nSTACK CFI INIT 1000 40 .cfa: sp 0 + .ra: x30\nSTACK CFI 1004 .cfa: sp 16 + .ra: .cfa -8 + ^\n",
		},
		On:    cfiKinds,
		Check: checkComplete,
	},
	{
		Rule: &finding.Rule{
			ID: "SYM411", Title: "rules that do not parse", Severity: finding.Error, Since: "0.1", Spec: cfiSpec,
			Doc: `Nothing of such a record is used, and Breakpad uses nothing of the block from this
record on.`,
			Bad: check.HeadFunc + check.Init + "STACK CFI 1001 .cfa: $rsp 16 + $rbx: $r12: .cfa -16 + ^\n", At: 5,
			Good: check.HeadFunc + check.Init + "STACK CFI 1001 .cfa: $rsp 16 + $rbx: .cfa -24 + ^ $r12: .cfa -16 + ^\n",
		},
		On: cfiKinds,
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			if f := p.CFI.Set.Fault; f != nil {
				p.Report(r, rulesField(r)+f.Field, "%s", f.Text)
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM412", Title: "expression that has no value", Severity: finding.Error, Since: "0.1", Spec: cfiSpec,
			Doc: `Whatever the registers hold, evaluating the expression fails: operands are missing or
left over, a constant is malformed, a divisor is 0. The register is lost; with .cfa
or .ra, the frame.`,
			Bad: check.HeadFunc + check.Init + "STACK CFI 1001 .cfa: $rsp +\n", At: 5,
			Good: check.HeadFunc + check.Init + "STACK CFI 1001 .cfa: $rsp 16 +\n",
		},
		On:    cfiKinds,
		Check: faultRule(func(s *facts.RuleSet) []facts.RuleFault { return s.Failing }),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM413", Title: "expression with a register that the CPU does not have", Severity: finding.Error, Since: "0.1", Spec: cfiSpec,
			Doc: `The register has no value in any reader, so the expression has none either. Use the
CPU's names as Breakpad writes them: with a dollar sign on x86 and MIPS, without on
ARM.`,
			Bad: armHead + "STACK CFI INIT 1000 40 .cfa: $sp 0 + .ra: lr\n", At: 4,
			Good: armHead + "STACK CFI INIT 1000 40 .cfa: sp 0 + .ra: lr\n",
		},
		On:    cfiKinds,
		Check: faultRule(func(s *facts.RuleSet) []facts.RuleFault { return s.Unknown }),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM414", Title: "rule for a register that the CPU does not have", Severity: finding.Warning, Since: "0.1", Spec: cfiSpec,
			Doc: `No reader asks for the register, so the rule has no effect, and the intended one is
missing.`,
			Bad: check.HeadFunc + check.Init + "STACK CFI 1001 rbx: .cfa -16 + ^\n", At: 5,
			Good: check.HeadFunc + check.Init + "STACK CFI 1001 $rbx: .cfa -16 + ^\n",
		},
		On:    cfiKinds,
		Check: faultRule(func(s *facts.RuleSet) []facts.RuleFault { return s.Foreign }),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM415", Title: "two rules for a register in one record", Severity: finding.Warning, Since: "0.1", Spec: cfiSpec,
			Doc: `The later one counts, in all known readers.`,
			Bad: check.HeadFunc + check.Init + "STACK CFI 1001 .cfa: $rsp 16 + .cfa: $rsp 24 +\n", At: 5,
			Good: check.HeadFunc + check.Init + "STACK CFI 1001 .cfa: $rsp 16 +\n",
		},
		On:    cfiKinds,
		Check: faultRule(func(s *facts.RuleSet) []facts.RuleFault { return s.Repeated }),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM416", Title: "STACK CFI row that changes nothing", Severity: finding.Note, Since: "0.1", Spec: cfiSpec,
			Doc: "All rules of the row are in force already. It can be left out.",
			Bad: check.HeadFunc + check.Init + "STACK CFI 1001 .cfa: $rsp 16 +\nSTACK CFI 1002 .cfa: $rsp 16 +\n", At: 6,
			Good: check.HeadFunc + check.Init + "STACK CFI 1001 .cfa: $rsp 16 +\nSTACK CFI 1002 .cfa: $rsp 24 +\n",
		},
		On:    cfiKinds,
		Check: oddRow(facts.OddNothing, "the rules at %x are in force already"),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM417", Title: ".cfa based on a register that is not restored", Severity: finding.Warning, Since: "0.1", Spec: cfiSpec,
			Doc: `.cfa is computed from a register that functions preserve for their callers, and no
rule says where the caller's value is. Readers give the caller the function's own
value: if the caller computes its frame from that register, the frame after next is
wrong.`,
			Bad: check.HeadFunc + check.Init + "STACK CFI 1004 .cfa: $rbp 16 +\n", At: 5,
			Good: check.HeadFunc + check.Init + "STACK CFI 1004 .cfa: $rbp 16 + $rbp: .cfa -16 + ^\n",
		},
		On:    cfiKinds,
		Check: check.PerRecord(checkBase),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM418", Title: ".cfa based on a register that calls do not preserve", Severity: finding.Note, Since: "0.1", Spec: cfiSpec,
			Doc: `The rules work only while the function itself runs: once it has called another, the
register holds anything. Compilers do this for a few instructions where they align
the stack.`,
			Bad: check.HeadFunc + check.Init + "STACK CFI 1004 .cfa: $r10 0 +\n", At: 5,
			Good: check.HeadFunc + check.Init + "STACK CFI 1004 .cfa: $rsp 16 +\n",
		},
		On:    cfiKinds,
		Check: check.PerRecord(checkScratch),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM419", Title: "end of stack that not all readers recognise", Severity: finding.Note, Since: "0.1",
			Spec: "Breakpad: cfi_frame_info.cc, stackwalker_amd64.cc",
			Doc: `The rule says that there is no caller. Breakpad and rust-minidump treat .undef as a
rule that failed, and Breakpad's walker for x86-64 treats 0 the same way. They guess
a caller by frame pointer or by scanning, and add frames that do not exist. All
readers stop at a number from 1 to 4095.`,
			Bad: check.HeadFunc + "STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .undef\n", At: 4,
			Good: check.HeadFunc + "STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: 1\n",
		},
		On:    cfiKinds,
		Check: faultRule(func(s *facts.RuleSet) []facts.RuleFault { return s.Ends }),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM420", Title: "STACK CFI outside of any FUNC and PUBLIC", Severity: finding.Note, Since: "0.1", Spec: cfiSpec,
			Doc: `The code has call frame information but no name, like entries of the PLT. Frames in
it are walked, and shown without a function.`,
			Bad: check.HeadFunc + check.Init + "STACK CFI INIT 2000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", At: 5,
			Good: check.HeadFunc + check.Init + "STACK CFI INIT 2000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nPUBLIC 2000 0 g\n",
		},
		Check: checkNameless,
	},
}
