package dump

import (
	"context"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/symfmt"
)

// measureCFI measures the symbol file of m. binary is the file from which m was made.
func measureCFI(ctx context.Context, m *symfmt.Module, binary *object.File) (*binfile.CFICheck, error) {
	symbols, _ := m.SplitVars()
	report, err := lint.Run(ctx, symfmt.NewModuleRecords(symbols), lint.Options{Rules: []*finding.Rule{}, Binary: binary, OwnBinary: true})
	if err != nil {
		return nil, err
	}
	all := report.Coverage.All
	c := &binfile.CFICheck{Of: "code bytes", Total: all.Total, Without: all.Total - all.Covered, Worst: report.Coverage.Worst, Blocks: report.Coverage.Blocks}
	binfile.NameGaps(m, c.Worst)
	return c, nil
}
