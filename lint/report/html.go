package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/page"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
)

//go:embed page.tmpl
var pageText string

// WriteHTML writes the results as one page, with drawings of the maps in maps.
func WriteHTML(w io.Writer, r *Results, maps map[*finding.Report]*lint.Map) error {
	all := r.all()
	p := htmlPage{Generator: "symtool " + r.Version, Total: summarize(all)}
	for i, rep := range all {
		p.Files = append(p.Files, newHTMLFile(fmt.Sprintf("file%d", i), rep, maps[rep], limitsFor(len(maps))))
	}
	slices.SortStableFunc(p.Files, worstFirst)
	if r.Filter != nil {
		p.Suppressions = r.Filter.Applied()
	}
	head := page.Head{Heading: "symtool lint", Generator: p.Generator}
	switch len(p.Files) {
	case 0:
	case 1:
		head.Title = text.Printable(p.Files[0].File)
	default:
		head.Title = text.Count(len(p.Files), "file") + ", " + p.Severities()
	}
	scripts := []string{"dom.js", "mapdata.js", "map.js", "mapview.js", "findings.js"}
	return page.New(pageText, template.FuncMap{"printable": text.Printable}, scripts...).Write(w, head, &p)
}

type htmlPage struct {
	Generator    string
	Files        []*htmlFile
	Total        *summary
	Suppressions []filter.Applied
}

// Severities describes the numbers of findings in all files.
func (p *htmlPage) Severities() string { return p.Total.severities() }

type htmlFile struct {
	*finding.Report
	ID      string
	Module  string
	Holds   string // what the file contains
	Verdict string
	Reasons []string
	Figures []htmlFigure
	Chart   *chart // nil without a map
}

// worstFirst compares files: those that could not be read come first, then those with the worst
// verdict, then those with the most findings.
func worstFirst(a, b *htmlFile) int {
	rank := func(f *htmlFile) int {
		if f.Err != nil {
			return 0
		}
		return 1 + slices.Index([]string{"error", "warning", "good"}, f.Tone())
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Errors(), a.Errors()), cmp.Compare(b.Warnings(), a.Warnings()), cmp.Compare(b.Notes(), a.Notes()))
}

// CFIShare returns the share of the code with call frame information, or "" if it was not measured.
func (f *htmlFile) CFIShare() string {
	if c := f.Coverage; c != nil && c.All.Total > 0 {
		return c.All.Share.String()
	}
	return ""
}

// LineShare returns the share of the functions' bytes with lines, or "" if it was not measured.
func (f *htmlFile) LineShare() string {
	if c := f.Coverage; c != nil && c.Lines.Total > 0 {
		return c.Lines.String()
	}
	return ""
}

// htmlFigure is a share shown on the page.
type htmlFigure struct {
	Name string
	coverage.Share
}

// Errors returns the number of findings of severity error; Warnings and Notes are similar.
func (f *htmlFile) Errors() int   { return f.Totals[finding.Error] }
func (f *htmlFile) Warnings() int { return f.Totals[finding.Warning] }
func (f *htmlFile) Notes() int    { return f.Totals[finding.Note] }

// Unkept returns the number of findings that were only counted.
func (f *htmlFile) Unkept() int { return f.Found() - len(f.Findings) }

// Tone returns the CSS class of the verdict.
func (f *htmlFile) Tone() string {
	switch coverage.Verdict(f.Verdict) {
	case coverage.GoodForUnwinding, coverage.VariablesOnly:
		return "good"
	case coverage.NotMeasured, coverage.SymbolicationOnly:
		return "warning"
	}
	return "error"
}

// Row returns the row of a finding. It does not use a template like the rest of the page, because
// 18,000 rows of eleven values took three times as long as everything else.
func (f *htmlFile) Row(x *finding.Finding) template.HTML {
	place, address := "", ""
	if x.Line != 0 {
		place = strconv.FormatUint(uint64(x.Line), 10)
		if x.Col != 0 {
			place += ":" + strconv.FormatUint(uint64(x.Col), 10)
		}
	}
	if x.HasRVA {
		address = hexAddr(uint64(x.RVA))
		if f.Chart != nil {
			address = `<a href="#` + f.ID + ":" + address + `">` + address + "</a>"
		}
	}
	text := func(s string) string { return template.HTMLEscapeString(text.Printable(s)) }
	rule, severity := text(x.Rule.ID), x.Severity.String()
	return template.HTML(`<tr data-rule="` + rule + `" data-severity="` + severity + `"><td class="n">` + place +
		`</td><td title="` + text(x.Rule.Title) + `">` + rule + `</td><td class="` + severity + `">` + severity +
		"</td><td>" + text(x.Message) + `</td><td class="n">` + address + "</td><td>" + text(x.Function) + "</td></tr>")
}

func newHTMLFile(id string, r *finding.Report, m *lint.Map, limits pageLimits) *htmlFile {
	f := &htmlFile{Report: r, ID: id}
	if m := r.Module; m != nil {
		f.Module = strings.Join([]string{m.Name, m.ID, m.OS, m.CPU}, " ")
	}
	if m != nil {
		f.Chart = newChart(m, limits)
		f.Chart.File = id
	}
	if c := r.Coverage; c != nil {
		if m != nil {
			f.Chart.addCode(c, m)
		}
		f.Verdict, f.Reasons = string(c.Verdict), c.Reasons
		f.Figures, f.Holds = figures(c), holds(r)
	}
	return f
}

// holds describes the contents of a file.
func holds(r *finding.Report) string {
	c := r.Coverage
	list := []string{text.Count(int(r.Bytes), "byte"), text.Count(r.Lines, "line"), text.Count(c.Functions, "FUNC record"), text.Count(c.Publics, "PUBLIC record")}
	list = append(list, text.Count(c.Blocks, "STACK CFI block"))
	if c.WinBlocks > 0 {
		list = append(list, text.Count(c.WinBlocks, "STACK WIN record"))
	}
	if r.Suppressed > 0 {
		list = append(list, text.Count(r.Suppressed, "finding")+" suppressed")
	}
	if r.Known > 0 {
		list = append(list, text.Count(r.Known, "finding")+" in the baseline")
	}
	return strings.Join(list, ", ")
}

// figures returns the shares of the coverage, except those whose whole is empty.
func figures(c *coverage.Coverage) (list []htmlFigure) {
	add := func(name string, s coverage.Share) {
		if s.Total > 0 {
			list = append(list, htmlFigure{name, s})
		}
	}
	add(c.CodeOf()+" with call frame information", c.All.Share)
	add("bytes of functions with call frame information", c.Code)
	add("functions that have it at their first byte", c.Entries)
	if c.Calls != nil {
		add("return addresses that have it", *c.Calls)
	}
	add("line records whose code has it", c.LineEnds.Share)
	add("public symbols that have it", c.Public)
	add("bytes of functions with lines", c.Lines)
	add("functions with lines", c.WithLines)
	return list
}
