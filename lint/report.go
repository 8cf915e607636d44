package lint

import (
	"fmt"

	"github.com/symtool/symtool/symfmt"
)

// Report adds a finding about field number i of a record, counted as in
// symfmt.Record.FieldPos; -1 for the whole record.
func (p *Pass) Report(r *symfmt.Record, i int, format string, args ...any) {
	if p.skip() {
		return
	}
	pos := r.Pos()
	if i >= 0 {
		pos = r.FieldPos(i)
	}
	f := Finding{Line: pos.Line, Col: pos.Col, Function: p.function(r)}
	switch r.Kind {
	case symfmt.KindFunc, symfmt.KindPublic, symfmt.KindCFIInit, symfmt.KindCFI:
		f.RVA, f.HasRVA = r.RVA, true
	case symfmt.KindLine:
		f.RVA, f.HasRVA = r.Line.RVA, true
	case symfmt.KindStackWin:
		f.RVA, f.HasRVA = r.Win.RVA, true
	}
	f.Message = fmt.Sprintf(format, args...)
	p.add(f)
}

// ReportLine adds a finding about a line of the file, 0 for the file as a whole.
func (p *Pass) ReportLine(line int, format string, args ...any) {
	if p.skip() {
		return
	}
	p.add(Finding{Line: line, Message: fmt.Sprintf(format, args...)})
}

// ReportAt is ReportLine about an address, at the end of the file.
func (p *Pass) ReportAt(line int, rva symfmt.RVA, format string, args ...any) {
	if p.skip() {
		return
	}
	p.add(Finding{Line: line, RVA: rva, HasRVA: true, late: lateByRVA, Message: fmt.Sprintf(format, args...)})
}

// maxFunction is how much of a function's name a finding repeats.
const maxFunction = 1 << 10

// function is the name of the function that a record is or belongs to.
func (p *Pass) function(r *symfmt.Record) string {
	name := []byte(nil)
	switch r.Kind {
	case symfmt.KindPublic, symfmt.KindInlineOrigin:
		name = r.Name
	case symfmt.KindFunc, symfmt.KindInline, symfmt.KindLine:
		if p.InFunc {
			name = p.FuncName
		}
	}
	return string(name[:min(len(name), maxFunction)])
}

// reportPos is ReportLine for a place in a record that belongs to a FUNC.
func (p *Pass) reportPos(pos symfmt.Pos, format string, args ...any) {
	if p.skip() {
		return
	}
	p.add(Finding{Line: pos.Line, Col: pos.Col, late: lateByLine, Message: fmt.Sprintf(format, args...)})
}

// full reports whether no more findings of the rule are kept.
func (p *Pass) full() bool { return p.report.Counts[p.rule.ID] >= p.Options.MaxPerRule }

// skip counts a finding that is not kept. For most filters every finding must be
// put in words: the words decide whether it counts.
func (p *Pass) skip() bool {
	if !p.full() || p.filter != nil && p.filter.wantsWords() {
		return false
	}
	p.count(p.rule, 1)
	return true
}

// count counts findings of a rule, kept or not.
func (p *Pass) count(rule *Rule, n int) {
	if n == 0 {
		return
	}
	severity := rule.Severity
	if p.filter != nil {
		n = p.filter.dropped(rule, n, p.report)
		severity = p.filter.severity(rule)
	}
	p.report.Counts[rule.ID] += n
	p.report.Totals[severity] += n
}

func (p *Pass) add(f Finding) {
	f.Rule, f.Severity, f.File = p.rule, p.rule.Severity, p.Options.File
	if f.late != notLate && !p.rule.PerFile {
		if f.owner, f.owned = p.owners.of(&f); f.owned {
			f.ownerLine = p.owners.line(f.owner)
		}
	}
	if p.filter != nil {
		f.Severity = p.filter.severity(p.rule)
		if !p.filter.keep(&f, p.report) {
			return
		}
	}
	full := p.full()
	p.report.Counts[f.Rule.ID]++
	p.report.Totals[f.Severity]++
	if !full {
		p.report.Findings = append(p.report.Findings, f)
	}
}
