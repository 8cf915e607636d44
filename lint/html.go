package lint

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/symtool/symtool/internal/page"
)

// The page's parts. The script is one text; the files are about one thing each.
var (
	//go:embed page.css
	pageStyle string
	//go:embed pagedata.js
	pageDataScript string
	//go:embed pagemap.js
	pageMapScript string
	//go:embed pageview.js
	pageViewScript string
	//go:embed pagetables.js
	pageTablesScript string
)

// WriteHTML writes the results as one page, which needs nothing else: no other file,
// and no network. Files with a map have it drawn. Names in the page come from
// symbol files, and are text there, never markup or script.
func WriteHTML(w io.Writer, r *Results, maps map[*Report]*Map) error {
	script := "\"use strict\";\n" + pageDataScript + pageMapScript + pageViewScript + pageTablesScript
	all := r.all()
	p := htmlPage{
		Generator: "symtool " + r.Version, Total: summarize(all),
		Style: page.Markup(pageStyle), Script: page.Markup(script), Policy: policy(script),
	}
	for i, rep := range all {
		f := newHTMLFile(rep, maps[rep], limitsFor(len(maps)))
		f.ID = fmt.Sprintf("file%d", i)
		p.Files = append(p.Files, f)
	}
	if r.Filter != nil {
		p.Suppressions = r.Filter.Applied()
	}
	out := htmlWriter{page.NewWriter(w)}
	out.page(&p)
	return out.Flush()
}

// policy is the page's content security policy: this script runs, and no other.
func policy(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

type htmlPage struct {
	Generator    string
	Policy       string
	Style        page.Markup
	Script       page.Markup
	Files        []*htmlFile
	Total        *summary
	Suppressions []Applied
}

// Severities are the numbers of findings in all files.
func (p *htmlPage) Severities() string { return p.Total.severities() }

type htmlFile struct {
	*Report
	ID      string
	Module  string
	Holds   string // what there is in the file
	Verdict string
	Reasons []string
	Figures []htmlFigure
	Chart   *chart // nil without a map
}

// htmlFigure is a share of something.
type htmlFigure struct {
	Name string
	Share
}

// Errors is the number of findings of severity error; the others are like it.
func (f *htmlFile) Errors() int   { return f.Totals[Error] }
func (f *htmlFile) Warnings() int { return f.Totals[Warning] }
func (f *htmlFile) Notes() int    { return f.Totals[Note] }

// Unkept is the number of findings that were counted only.
func (f *htmlFile) Unkept() int { return f.Found() - len(f.Findings) }

// Tone is the class of the verdict.
func (f *htmlFile) Tone() string {
	switch Verdict(f.Verdict) {
	case GoodForUnwinding:
		return "good"
	case NotMeasured, SymbolicationOnly:
		return "warning"
	}
	return "error"
}

func newHTMLFile(r *Report, m *Map, limits pageLimits) *htmlFile {
	f := &htmlFile{Report: r}
	if r.Facts != nil && r.Facts.HasModule {
		f.Module = strings.Join([]string{r.Facts.Name, r.Facts.DebugID, r.Facts.OS, r.Facts.CPU}, " ")
	}
	if m != nil {
		f.Chart = newChart(m, limits)
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

// holds says what there is in a file.
func holds(r *Report) string {
	c := r.Coverage
	list := []string{plural(int(r.Bytes), "byte"), plural(r.Lines, "line"), plural(c.Functions, "FUNC record"), plural(c.Publics, "PUBLIC record")}
	list = append(list, plural(c.Blocks, "STACK CFI block"))
	if c.WinBlocks > 0 {
		list = append(list, plural(c.WinBlocks, "STACK WIN record"))
	}
	if r.Suppressed > 0 {
		list = append(list, plural(r.Suppressed, "finding")+" suppressed")
	}
	if r.Known > 0 {
		list = append(list, plural(r.Known, "finding")+" in the baseline")
	}
	return strings.Join(list, ", ")
}

// figures are the shares of the coverage, of those that are of something.
func figures(c *Coverage) (list []htmlFigure) {
	add := func(name string, s Share) {
		if s.Total > 0 {
			list = append(list, htmlFigure{name, s})
		}
	}
	add(c.codeOf()+" with call frame information", c.All.Share)
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
