package check

import (
	"iter"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/symfmt"
)

// Own returns the check of a rule that a program brings itself.
func Own(r *finding.Rule) *Rule {
	return &Rule{Rule: r, On: r.On, Check: func(p *Pass) (func(*symfmt.Record), func()) { return r.Check(p.own()) }}
}

// own returns what rules of a program's own see of the pass.
func (p *Pass) own() *finding.Pass {
	own := &finding.Pass{
		File: p.Options.File, Module: p.module, Functions: p.functions, Report: p.Report, ReportLine: p.ReportLine,
		ReportAt: func(line int, rva symfmt.RVA, format string, args ...any) { p.ReportAt(line, rva, format, args...) },
	}
	if p.Image != nil {
		own.Binary = p.Image.File
	}
	return own
}

// module returns the MODULE record, or nil if there was none yet.
func (p *Pass) module() *finding.Module {
	if !p.HasModule {
		return nil
	}
	return &finding.Module{Name: p.Name, ID: p.DebugID, OS: p.OS, CPU: p.CPU}
}

// functions iterates over the FUNCs that have ended.
func (p *Pass) functions() iter.Seq[finding.Function] {
	return func(yield func(finding.Function) bool) {
		for _, f := range p.Functions.All {
			if !yield(finding.Function{RVA: f.RVA, Size: f.Size, Line: int(f.Line), Lines: int(f.Lines), Covered: f.Covered}) {
				return
			}
		}
	}
}
