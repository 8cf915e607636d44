package cfi

import (
	"cmp"
	"slices"
	"strings"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// Beginnings of the examples for STACK WIN.
const (
	winHead    = "MODULE windows x86 0123456789ABCDEF0123456789ABCDEF1 a.pdb\nFUNC 1000 40 0 f\n1000 40 1 0\n"
	winProg    = "$T0 .raSearchStart = $eip $T0 ^ = $esp $T0 4 + ="
	winExample = "STACK WIN 4 1000 40 0 0 0 0 0 0 1 " + winProg + "\n"
)

const winSpec = "symbol_files: STACK WIN records"

var winKind = []symfmt.Kind{symfmt.KindStackWin}

var winRules = []*check.Rule{
	{
		Rule: &finding.Rule{
			ID: "SYM431", Title: "STACK WIN of a type that readers ignore", Severity: finding.Note, Since: "0.1", Spec: winSpec,
			Doc: "Readers use types 0 (FPO) and 4 (frame data) and drop the others.",
			Bad: winHead + "STACK WIN 3 1000 40 0 0 0 0 0 0 0 0\n", At: 4,
			Good: winHead + winExample,
		},
		On: winKind,
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			if t := r.Win.Type; t != facts.WinFPO && t != facts.WinFrameData {
				p.Report(r, 2, "type %x, want 0 or 4", t)
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM432", Title: "STACK WIN of size 0", Severity: finding.Warning, Since: "0.1", Spec: winSpec,
			Doc: `The record covers no code, so no reader ever uses it.`,
			Bad: winHead + "STACK WIN 4 1000 0 0 0 0 0 0 0 1 " + winProg + "\n", At: 4,
			Good: winHead + winExample,
		},
		On: winKind,
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			if r.Win.CodeSize == 0 {
				p.Report(r, 4, "the record at %x has size 0", r.Win.RVA)
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM433", Title: "STACK WIN ranges overlap in part", Severity: finding.Error, Since: "0.1", Spec: winSpec,
			Doc: `Records of one type may lie within each other, and the innermost counts. Of two that
overlap in part, Breakpad drops the one that comes later, with all code that it alone
covers (contained_range_map-inl.h). rust-minidump cuts the one before short at the start
of the later one, and drops the later one where it starts lower. PDB files of split
functions have such records: a range counts from the first to the last byte of the
function, over the parts of others. Frames there are found by another record, or by
the frame pointer.

Where the PDB file is another's and cannot be built again, say so in .symlint.toml, with
the file's own name: [[suppress]], rule = "SYM433", file = "kernel32.sym", reason = "the
ranges are those of Microsoft's PDB".`,
			Bad: winHead + winExample + "STACK WIN 4 1020 40 0 0 0 0 0 0 1 " + winProg + "\n", At: 5,
			Good: winHead + winExample + "STACK WIN 4 1020 20 0 0 0 0 0 0 1 " + winProg + "\nSTACK WIN 0 1020 40 0 0 0 0 0 0 0 0\n",
		},
		Check: winOverlaps,
	},
	{
		Rule: &finding.Rule{
			ID: "SYM434", Title: "STACK WIN twice for the same range", Severity: finding.Warning, Since: "0.1", Spec: winSpec,
			Doc: "Readers keep one of the records of a type that have the same range.",
			Bad: winHead + winExample + winExample, At: 5,
			Good: winHead + winExample,
		},
		Check: winOverlaps,
	},
	{
		Rule: &finding.Rule{
			ID: "SYM435", Title: "STACK WIN whose program flag does not match its type", Severity: finding.Warning, Since: "0.1", Spec: winSpec,
			Doc: `Records of type 4 have a program, those of type 0 a flag. Some readers go by the
type, others by the program flag, and read another last field.`,
			Bad: winHead + "STACK WIN 0 1000 40 0 0 0 0 0 0 1 " + winProg + "\n", At: 4,
			Good: winHead + winExample,
		},
		On:    winKind,
		Check: check.PerRecord(checkWinFlag),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM436", Title: "STACK WIN program that fails", Severity: finding.Error, Since: "0.1", Spec: "symbol_files: Interpreting a STACK WIN record",
			Doc: `The program cannot be run: operands are missing or left over, or a variable has no
value. Readers scan the stack instead. The example in the specification is such a
program: its first assignment has no variable.`,
			Bad: winHead + "STACK WIN 4 1000 40 0 0 0 0 0 0 1 $eip 4 + ^ = $esp $ebp 8 + = $ebp $ebp ^ =\n", At: 4,
			Good: winHead + winExample,
		},
		On: winKind,
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			if w := p.Programs.Program; w != nil && w.Fault != "" {
				p.Report(r, 12+w.Token, "%s", w.Fault)
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM437", Title: "STACK WIN program without $eip or $esp", Severity: finding.Error, Since: "0.1", Spec: "symbol_files: Interpreting a STACK WIN record",
			Doc: `The program has to assign both, the caller's instruction and its stack. Readers treat
a program that does not as one that failed.`,
			Bad: winHead + "STACK WIN 4 1000 40 0 0 0 0 0 0 1 $eip .raSearchStart ^ =\n", At: 4,
			Good: winHead + winExample,
		},
		On: winKind,
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			if w := p.Programs.Program; w != nil && w.Missing != "" {
				p.Report(r, 11, "the program does not assign %s", w.Missing)
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM438", Title: "parameter sizes of FUNC and STACK WIN differ", Severity: finding.Warning, Since: "0.1", Spec: winSpec,
			Doc: `How many bytes of arguments a function has decides where its caller's frame begins.
Readers take one of the two sizes; one is wrong. 0 in FUNC is no size: it comes from the
decorated name, and that of a function of cdecl or C++ has none.`,
			Cites: []string{"dump_syms#284"},
			Bad:   strings.Replace(winHead, "40 0 f", "40 4 f", 1) + "STACK WIN 4 1000 40 0 0 8 0 0 0 1 " + winProg + "\n", At: 4,
			Good: winHead + winExample,
		},
		Check: checkParams,
	},
	{
		Rule: &finding.Rule{
			ID: "SYM439", Title: "prologue and epilogue are larger than the code", Severity: finding.Warning, Since: "0.1", Spec: winSpec,
			Doc: "The two are parts of the record's range. Either they or the code size are wrong.",
			Bad: winHead + "STACK WIN 4 1000 40 50 0 0 0 0 0 1 " + winProg + "\n", At: 4,
			Good: winHead + winExample,
		},
		On: winKind,
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			w := &r.Win
			if w.PrologueSize > w.CodeSize || w.EpilogueSize > w.CodeSize-w.PrologueSize {
				p.Report(r, 5, "prologue of %#x and epilogue of %#x bytes in %#x bytes of code", w.PrologueSize, w.EpilogueSize, w.CodeSize)
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM440", Title: "STACK WIN in a file that is not for 32-bit x86", Severity: finding.Warning, Since: "0.1", Spec: winSpec,
			Doc: "Readers use the records only for stacks of that CPU.",
			Bad: check.HeadFunc + check.Init + winExample, At: 5,
			Good: winHead + winExample,
		},
		On:    winKind,
		Check: checkWinCPU,
	},
	{
		Rule: &finding.Rule{
			ID: "SYM441", Title: "STACK WIN program with registers by number", Severity: finding.Note, Since: "0.1", Spec: "symbol_files: Interpreting a STACK WIN record",
			Doc: `In some programs Microsoft's linker writes the registers that a function saves by
CodeView's numbers: $20 for $ebx, $22 for $ebp, $23 for $esi, $24 for $edi. symtool
reads them as these registers. Breakpad and rust-minidump take them for variables of
the program: the caller's $ebx, $esi and $edi are unknown then, and its $ebp is the
function's or found by a search, so the frames after it may be wrong.`,
			Bad: winHead + "STACK WIN 4 1000 40 0 0 0 4 0 0 1 " + winProg + " $20 $T0 4 - ^ =\n", At: 4,
			Good: winHead + "STACK WIN 4 1000 40 0 0 0 4 0 0 1 " + winProg + " $ebx $T0 4 - ^ =\n",
		},
		On: winKind,
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			if w := p.Programs.Program; w != nil && w.Numbers != "" {
				p.Report(r, 12, "the program has %s", w.Numbers)
			}
		}),
	},
}

func checkWinFlag(p *check.Pass, r *symfmt.Record) {
	switch {
	case r.Win.Type == facts.WinFPO && r.Win.HasProgram:
		p.Report(r, 11, "type 0 with a program")
	case r.Win.Type == facts.WinFrameData && !r.Win.HasProgram:
		p.Report(r, 11, "type 4 without a program")
	}
}

func checkWinCPU(p *check.Pass) (func(*symfmt.Record), func()) {
	reported := false
	return func(r *symfmt.Record) {
		if !reported && p.Arch != nil && p.Arch.Name != "x86" {
			reported = true
			p.Report(r, 0, "MODULE is of %s", p.Arch.Name)
		}
	}, nil
}

// checkParams compares the parameter sizes of FUNCs with those of STACK WIN records that begin at
// the same address.
func checkParams(p *check.Pass) (func(*symfmt.Record), func()) {
	return nil, func() {
		if p.Wins.Len() == 0 {
			return
		}
		starts := make([]facts.FuncParam, p.Functions.Len())
		for i, f := range p.Functions.All {
			starts[i].RVA = f.RVA
		}
		slices.SortStableFunc(starts, func(a, b facts.FuncParam) int { return cmp.Compare(a.RVA, b.RVA) })
		find := func(rva symfmt.RVA) (int, bool) {
			return slices.BinarySearchFunc(starts, rva, func(f facts.FuncParam, rva symfmt.RVA) int { return cmp.Compare(f.RVA, rva) })
		}
		for _, f := range p.Params {
			if i, ok := find(f.RVA); ok {
				starts[i].Size = f.Size
			}
		}
		for _, w := range p.Wins.All {
			if j, ok := find(w.RVA); ok && w.Usable && starts[j].Size > 0 && starts[j].Size != w.Params {
				p.ReportAt(int(w.Line), w.RVA, "parameter size %x at %x, and %x in its FUNC", w.Params, w.RVA, starts[j].Size)
			}
		}
	}
}

// winOverlaps reports records of one type that have the same range, or overlap
// without one containing the other.
var winOverlaps = checkClashes(winClashes, "SYM433", "SYM434")
