package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
)

// documentVersion is the version of the JSON document. Fields may be added; none will be renamed or
// get another unit.
const documentVersion = 1

// The JSON document; golden/lint/report/schema.json describes it. Keys are in order.
type (
	jsonFile struct {
		Bytes      int64              `json:"bytes"`
		Counts     map[string]int     `json:"counts"` // findings by rule, including those not listed
		Coverage   *coverage.Coverage `json:"coverage,omitempty"`
		CPU        string             `json:"cpu,omitempty"`
		DebugID    string             `json:"debug_id,omitempty"`
		Error      string             `json:"error,omitempty"` // why the file was not read, or not read to its end
		File       string             `json:"file"`
		Findings   []jsonFinding      `json:"findings"`
		InBaseline int                `json:"in_baseline"`
		Lines      int                `json:"lines"`
		Module     string             `json:"module,omitempty"`
		OS         string             `json:"os,omitempty"`
		Severities jsonSeverities     `json:"severities"`
		Suppressed int                `json:"suppressed"`
	}
	jsonFinding struct {
		Address     string `json:"address,omitempty"` // RVA, 0x...
		Column      int    `json:"column,omitempty"`  // in bytes, from 1
		Fingerprint string `json:"fingerprint"`
		Function    string `json:"function,omitempty"`
		Line        int    `json:"line,omitempty"` // from 1
		Message     string `json:"message"`
		Rule        string `json:"rule"`
		Severity    string `json:"severity"`
	}
	jsonSeverities struct {
		Error   int `json:"error"`
		Note    int `json:"note"`
		Warning int `json:"warning"`
	}
	jsonRule struct {
		Family   string `json:"family"`
		ID       string `json:"id"`
		Severity string `json:"severity"` // severity of the rule without a configuration
		Title    string `json:"title"`
	}
	jsonSuppression struct {
		Findings int    `json:"findings"`
		Line     int    `json:"line,omitempty"`
		Reason   string `json:"reason"`
		Rule     string `json:"rule"`
	}
)

// WriteJSON writes the results as one JSON document with an entry for each file. Unprintable text
// is written with Go's escapes.
func WriteJSON(w io.Writer, r *Results) error {
	e := jsonEncoder{w: bufio.NewWriter(w)}
	all := r.all()
	e.raw("{\n\"files\": [")
	for i, rep := range all {
		e.item(i, newJSONFile(rep))
	}
	e.raw("\n],\n\"rules\": [")
	s := summarize(all)
	n := 0
	for _, rule := range r.known() {
		if s.rules[rule.ID] > 0 {
			e.item(n, jsonRule{rule.Family().Name, rule.ID, rule.Severity.String(), rule.Title})
			n++
		}
	}
	e.raw("\n],\n\"severities\": ")
	e.value(severitiesOf(s.totals))
	e.raw(",\n\"suppressions\": [")
	if r.Filter != nil {
		for i, a := range r.Filter.Applied() {
			e.item(i, jsonSuppression{a.Findings, a.Line, text.Printable(a.Reason), a.Rule})
		}
	}
	e.raw("\n],\n\"symtool\": ")
	e.value(struct {
		Schema  int    `json:"schema"`
		Version string `json:"version"`
	}{documentVersion, r.Version})
	e.raw("\n}\n")
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}

// jsonEncoder writes a document in pieces and keeps the first error.
type jsonEncoder struct {
	w   *bufio.Writer
	err error
}

func (e *jsonEncoder) raw(s string) { e.w.WriteString(s) }

func (e *jsonEncoder) value(v any) {
	data, err := marshal(v)
	if e.err == nil {
		e.err = err
	}
	e.w.Write(data)
}

func (e *jsonEncoder) item(i int, v any) {
	if i > 0 {
		e.raw(",")
	}
	e.raw("\n")
	e.value(v)
}

// marshal is json.Marshal without HTML escapes.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func severitiesOf(totals [finding.Error + 1]int) jsonSeverities {
	return jsonSeverities{totals[finding.Error], totals[finding.Note], totals[finding.Warning]}
}

func newJSONFile(rep *finding.Report) jsonFile {
	f := jsonFile{
		Bytes: rep.Bytes, Counts: rep.Counts, Error: rep.UnreadText(), File: text.Printable(rep.File), Findings: []jsonFinding{},
		InBaseline: rep.Known, Lines: rep.Lines, Severities: severitiesOf(rep.Totals), Suppressed: rep.Suppressed,
	}
	if x := rep.Module; x != nil {
		f.CPU, f.DebugID, f.Module, f.OS = text.Printable(x.CPU), text.Printable(x.ID), text.Printable(x.Name), text.Printable(x.OS)
	}
	if rep.Coverage != nil {
		f.Coverage = printableCoverage(rep.Coverage)
	}
	for i := range rep.Findings {
		x := &rep.Findings[i]
		j := jsonFinding{
			Column: x.Col, Fingerprint: filter.Fingerprint(x), Function: text.Printable(x.Function), Line: x.Line,
			Message: text.Printable(x.Message), Rule: x.Rule.ID, Severity: x.Severity.String(),
		}
		if x.HasRVA {
			j.Address = fmt.Sprintf("0x%x", uint64(x.RVA))
		}
		f.Findings = append(f.Findings, j)
	}
	return f
}

// printableCoverage returns a copy of c in which all names are printable.
func printableCoverage(c *coverage.Coverage) *coverage.Coverage {
	out := *c
	for _, list := range []*[]coverage.Gap{&out.Worst, &out.WorstLines} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Name = text.Printable((*list)[i].Name)
		}
	}
	return &out
}
