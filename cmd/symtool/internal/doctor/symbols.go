package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/formats"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/symfmt"
)

// symbolDiagnosis describes symbols and how useful they are.
type symbolDiagnosis struct {
	Module   *binfile.ModuleSummary `json:"module,omitempty"` // nil if there is no MODULE record
	Errors   int                    `json:"errors"`           // numbers of lint's findings, by severity
	Warnings int                    `json:"warnings"`
	*coverage.Coverage
	CallFrames string `json:"cfi_share"`  // share of the code, "99.5 %"; "" if unknown
	LineShare  string `json:"line_share"` // share of the functions' bytes
}

// diagnoseSymbols runs lint on the symbol file made from m. If binary is given, it must be the
// file that m was read from. It is used to measure the code, and not compared with m.
func diagnoseSymbols(ctx context.Context, name string, m *symfmt.Module, binary *object.File) (*symbolDiagnosis, error) {
	const binaryFamily = 5
	rules := slices.DeleteFunc(lint.Rules(), func(r *finding.Rule) bool { return r.Family().Hundred == binaryFamily })
	report, err := lint.Run(ctx, symfmt.NewModuleRecords(m), lint.Options{File: name, Rules: rules, Binary: binary, OwnBinary: true})
	if err != nil {
		return nil, err
	}
	binfile.NameGaps(m, report.Coverage.Worst)
	return newSymbolDiagnosis(report), nil
}

func newSymbolDiagnosis(r *finding.Report) *symbolDiagnosis {
	s := &symbolDiagnosis{Errors: r.Totals[finding.Error], Warnings: r.Totals[finding.Warning], Coverage: r.Coverage}
	if m := r.Module; m != nil {
		s.Module = &binfile.ModuleSummary{OS: m.OS, Arch: m.CPU, ID: m.ID, Name: m.Name}
	}
	s.LineShare = r.Coverage.Lines.String()
	if all := r.Coverage.All; all.Total > 0 {
		s.CallFrames = all.String()
	}
	return s
}

// lookAtSymbols reads symbols in any format. A Breakpad symbol file is passed to lint unchanged.
func (d *doctor) lookAtSymbols(ctx context.Context, g *diagnosis, in *formats.Input) error {
	if in.Format.Read == nil {
		return errors.New(in.Format.Title + ": not symbols")
	}
	if in.Format.Name == "breakpad" {
		return d.lintSymbols(ctx, g, in)
	}
	c := &formats.Job{Options: formats.Options{DebugDirs: d.places.DebugDirs, Jobs: d.options.Jobs, Quiet: true}, Msgs: d.msgs}
	err := in.Format.Read(ctx, c, in, func(s *formats.Symbols) error {
		g.problems(s.Problems)
		var err error
		g.Symbols, err = diagnoseSymbols(ctx, g.File, s.Module, nil)
		return err
	})
	if err != nil {
		return err
	}
	g.adviseSymbols()
	return nil
}

func (d *doctor) lintSymbols(ctx context.Context, g *diagnosis, in *formats.Input) error {
	r, err := in.Reader()
	if err != nil {
		return err
	}
	text, _, err := symfmt.Decompress(r)
	if err != nil {
		return err
	}
	report, err := lint.Run(ctx, symfmt.TextRecords(bin.ContextReader(ctx, text)), lint.Options{File: g.File})
	if err != nil {
		return err
	}
	g.problems(report.Lost)
	if err := report.Damage; err != nil {
		g.problem(cli.ProblemSummary{File: g.File, Message: err.Error()}, cli.Named(g.File, err))
	}
	g.Symbols = newSymbolDiagnosis(report)
	g.adviseSymbols()
	return nil
}

// adviseSymbols advises on symbols whose binary is not available.
func (g *diagnosis) adviseSymbols() {
	s := g.Symbols
	if s.Errors > 0 {
		g.missing("sound records", "lint has "+text.Count(s.Errors, "error"), "symtool lint "+cli.ShellWord(g.File)+" lists them")
	}
	if s.Verdict == coverage.Unusable || s.Functions+s.Publics == 0 {
		g.missing("names", strings.Join(s.Reasons, "; "), "dump the binary: symtool dump BINARY")
		return
	}
	if s.Verdict != coverage.GoodForUnwinding {
		g.missing("call frame information", strings.Join(s.Reasons, "; "),
			"dump the binary itself, not its debug file alone: symtool dump BINARY DEBUGFILE",
			"symtool doctor BINARY lists what is missing there")
	}
	if s.Functions == 0 || s.WithLines.Covered == 0 {
		g.missing("functions and lines", "there are only public symbols or functions without lines",
			"dump with debug information: symtool doctor BINARY lists where it may be")
	}
}
