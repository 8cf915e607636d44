package check

import (
	"fmt"
	"strconv"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/symfmt"
)

// Report adds a finding about field i of a record, counted as in
// symfmt.Record.FieldPos, or about the whole record if i is -1.
func (p *Pass) Report(r *symfmt.Record, i int, format string, args ...any) {
	if p.skip() {
		return
	}
	pos := r.Pos()
	if i >= 0 {
		pos = r.FieldPos(i)
	}
	f := finding.Finding{Line: pos.Line, Col: pos.Col, Function: p.function(r)}
	switch r.Kind {
	case symfmt.KindFunc, symfmt.KindPublic, symfmt.KindCFIInit, symfmt.KindCFI:
		f.RVA, f.HasRVA = r.RVA, true
	case symfmt.KindLine:
		f.RVA, f.HasRVA = r.Line.RVA, true
	case symfmt.KindStackWin:
		f.RVA, f.HasRVA = r.Win.RVA, true
	}
	f.Message = fmt.Sprintf(format, args...)
	p.add(f, notLate)
}

// ReportLine adds a finding about a line of the file, or about the whole file if line is 0.
func (p *Pass) ReportLine(line int, format string, args ...any) {
	if p.skip() {
		return
	}
	p.add(finding.Finding{Line: line, Message: fmt.Sprintf(format, args...)}, notLate)
}

// ReportAt is like ReportLine, for a finding about an address that is made at the end of the file.
// It returns the finding, which is valid until the next one, or nil if the finding is not kept.
func (p *Pass) ReportAt(line int, rva symfmt.RVA, format string, args ...any) *finding.Finding {
	if p.skip() {
		return nil
	}
	return p.add(finding.Finding{Line: line, RVA: rva, HasRVA: true, Message: fmt.Sprintf(format, args...)}, lateByRVA)
}

// function returns the name of the function that r declares or belongs to.
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
	return string(name[:min(len(name), finding.MaxFunction)])
}

// ReportFirst is like ReportAt, for a finding that stands for many and is not assigned to a
// function.
func (p *Pass) ReportFirst(line int, rva symfmt.RVA, format string, args ...any) {
	if p.skip() {
		return
	}
	p.add(finding.Finding{Line: line, RVA: rva, HasRVA: true, Message: fmt.Sprintf(format, args...)}, notLate)
}

// ReportPos is like ReportLine, for a position in a record that belongs to no FUNC.
func (p *Pass) ReportPos(pos symfmt.Pos, format string, args ...any) {
	if p.skip() {
		return
	}
	p.add(finding.Finding{Line: pos.Line, Col: pos.Col, Message: fmt.Sprintf(format, args...)}, notLate)
}

// ReportOwned is like ReportPos, for a record that belongs to the FUNC before it.
func (p *Pass) ReportOwned(pos symfmt.Pos, format string, args ...any) {
	if p.skip() {
		return
	}
	p.add(finding.Finding{Line: pos.Line, Col: pos.Col, Message: fmt.Sprintf(format, args...)}, lateByLine)
}

// full reports whether the current rule has as many findings as are kept.
func (p *Pass) full() bool { return p.Result.Counts[p.rule.ID] >= p.Options.MaxPerRule }

// skip counts a finding whose text is not needed because it is not kept, and reports whether it did
// so. Some sieves need the text of every finding to decide whether it counts.
func (p *Pass) skip() bool {
	if !p.full() || p.Sieve != nil && p.Sieve.NeedsWords() {
		return false
	}
	p.Count(1)
	return true
}

// Count adds n findings that are not kept.
func (p *Pass) Count(n int) {
	if n == 0 {
		return
	}
	severity := p.rule.Severity
	if p.Sieve != nil {
		n = p.Sieve.KeepUnseen(p.rule.Rule, n)
		severity = p.Sieve.Severity(p.rule.Rule)
	}
	p.Result.Counts[p.rule.ID] += n
	p.Result.Totals[severity] += n
}

// add adds a finding. It returns nil if the finding is not kept.
func (p *Pass) add(f finding.Finding, late lateness) *finding.Finding {
	f.Rule, f.Severity, f.File, f.Late = p.rule.Rule, p.rule.Severity, p.Options.File, late != notLate
	if f.Late && !p.rule.PerFile {
		f.Owner = p.owners.of(&f, late)
	}
	if p.Sieve != nil {
		f.Severity = p.Sieve.Severity(p.rule.Rule)
		if !p.Sieve.Keep(&f) {
			return nil
		}
	}
	full := p.full()
	p.Result.Counts[f.Rule.ID]++
	p.Result.Totals[f.Severity]++
	if full {
		return nil
	}
	p.Result.Findings = append(p.Result.Findings, f)
	return &p.Result.Findings[len(p.Result.Findings)-1]
}

// quotedMax is the length at which messages cut a bad field.
const quotedMax = 40

// Quoted quotes a field for a message: shortened, with control characters escaped.
func Quoted[T string | []byte](text T) string {
	s := string(text[:min(len(text), quotedMax)])
	if len(text) > quotedMax {
		return strconv.QuoteToASCII(s) + "..."
	}
	return strconv.QuoteToASCII(s)
}
