package lint

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"clean": validText}).Parse(pageText))

// validText is a text from a file, as UTF-8.
func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// WriteHTML writes the results as one page, which needs nothing else: no other file,
// and no network. Files with a map have it drawn. Names in the page come from
// symbol files, and are text there, never markup or script.
func WriteHTML(w io.Writer, r *Results, maps map[*Report]*Map) error {
	p := htmlPage{Generator: "symtool " + r.Version}
	for i, rep := range r.all() {
		f, err := newHTMLFile(i, rep, maps[rep])
		if err != nil {
			return err
		}
		p.Files = append(p.Files, f)
	}
	return pageTemplate.Execute(w, &p)
}

type htmlPage struct {
	Generator string
	Files     []*htmlFile
}

type htmlFile struct {
	*Report
	ID      string
	Module  string
	Verdict string // of several lines
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

func newHTMLFile(i int, r *Report, m *Map) (*htmlFile, error) {
	f := &htmlFile{Report: r, ID: fmt.Sprintf("file%d", i)}
	if r.Facts != nil && r.Facts.HasModule {
		f.Module = strings.Join([]string{r.Facts.Name, r.Facts.DebugID, r.Facts.OS, r.Facts.CPU}, " ")
	}
	if m != nil {
		f.Chart = newChart(m)
	}
	if r.Coverage == nil {
		return f, nil
	}
	f.Figures = figures(r.Coverage)
	var verdict strings.Builder
	for _, reason := range r.Coverage.Reasons {
		fmt.Fprintf(&verdict, "\n%s", reason)
	}
	f.Verdict = string(r.Coverage.Verdict) + verdict.String()
	return f, nil
}

// figures are the shares of the coverage, of those that are of something.
func figures(c *Coverage) (list []htmlFigure) {
	add := func(name string, s Share) {
		if s.Total > 0 {
			list = append(list, htmlFigure{name, s})
		}
	}
	add("bytes of functions with call frame information", c.Code)
	add("functions that have it at their first byte", c.Entries)
	if c.Calls != nil {
		add("return addresses that have it", *c.Calls)
	}
	add("public symbols that have it", c.Public)
	add("bytes of functions with lines", c.Lines)
	add("functions with lines", c.WithLines)
	return list
}
