package lint

import (
	"fmt"

	"github.com/symtool/symtool/internal/page"
)

// htmlWriter writes the page. Whitespace between the parts is as it is, for the
// bytes of a page are those of earlier versions.
type htmlWriter struct{ *page.Writer }

func (w htmlWriter) page(p *htmlPage) {
	w.Put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{}">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="{}">
<title>symtool lint`, p.Policy, p.Generator)
	if len(p.Files) > 0 {
		w.Put(": {}", printable(p.Files[0].File))
	}
	w.Put("</title>\n<style>")
	w.Raw(p.Style)
	w.Put("</style>\n</head>\n<body>\n<h1>symtool lint</h1>\n")
	if len(p.Files) > 1 {
		w.list(p)
	}
	w.Put("\n")
	for _, f := range p.Files {
		w.file(f)
	}
	w.Put("\n")
	if len(p.Suppressions) > 0 {
		w.suppressions(p.Suppressions)
	}
	w.Put("\n<p class=\"dim\">{}</p>\n<script>", p.Generator)
	w.Raw(p.Script)
	w.Put("</script>\n</body>\n</html>\n")
}

// list has a row for each file.
func (w htmlWriter) list(p *htmlPage) {
	w.Put(`<p class="total">{}</p>
<div class="scroll"><table class="files">
<thead><tr><th scope="col">file</th><th scope="col">verdict</th><th scope="col" class="n">errors</th><th scope="col" class="n">warnings</th><th scope="col" class="n">notes</th></tr></thead>
<tbody>`, p.Severities())
	for _, f := range p.Files {
		w.Put(`<tr><td><a href="#{}">{}</a>`, f.ID, printable(f.File))
		w.If(f.UnreadText() != "", ` <span class="error">{}</span>`, f.UnreadText())
		w.Put(`</td><td>{}</td><td class="n">{}</td><td class="n">{}</td><td class="n">{}</td></tr>
`, f.Verdict, f.Errors(), f.Warnings(), f.Notes())
	}
	w.Put("</tbody></table></div>")
}

func (w htmlWriter) file(f *htmlFile) {
	w.Put(`<section class="file" id="{}">
<h2>{}</h2>
<p class="dim mono module">{}</p>
`, f.ID, printable(f.File), printable(f.Module))
	w.If(f.UnreadText() != "", "<p class=\"error unread\">{}</p>\n", f.UnreadText())
	w.If(f.Holds != "", `<p class="dim holds">{}</p>`, f.Holds)
	w.Put("\n")
	w.verdict(f)
	w.Put("\n")
	w.figures(f.Figures)
	w.Put("\n")
	if f.Chart != nil {
		w.chart(f)
	}
	w.Put("\n")
	w.If(f.Err == nil, "<h3>Findings</h3>")
	w.Put("\n")
	switch {
	case len(f.Findings) > 0:
		w.findings(f)
	case f.Err == nil:
		w.Put("<p>None.</p>")
	}
	w.Put("\n</section>\n")
}

func (w htmlWriter) verdict(f *htmlFile) {
	if f.Verdict == "" {
		return
	}
	w.Put(`<div class="panel verdict"><strong class="{}">{}</strong>`, f.Tone(), f.Verdict)
	for _, reason := range f.Reasons {
		w.Put("<br>{}", printable(reason))
	}
	w.Put("</div>")
}

func (w htmlWriter) figures(list []htmlFigure) {
	if len(list) == 0 {
		return
	}
	w.Put("<h3>Coverage</h3>\n<div class=\"figures\">")
	for _, g := range list {
		w.Put(`<div class="figure"><span>{}</span><span class="bar"><i style="width:{}%"></i></span><span class="mono">{} <span class="dim">({} of {})</span></span></div>
`, g.Name, fmt.Sprintf("%.2f", g.Percent()), g.Share, g.Covered, g.Total)
	}
	w.Put("</div>")
}

func (w htmlWriter) findings(f *htmlFile) {
	w.Put(`<div class="controls scripted"><label>Rule <select class="rule"><option value="">all</option>`)
	for _, c := range f.ByRule() {
		w.Put(`<option value="{}">{} {} ({})</option>`, c.Rule.ID, c.Rule.ID, c.Rule.Title, c.Count)
	}
	w.Put(`</select></label>
<label>Severity <select class="severity"><option value="">all</option><option value="error">error ({})</option><option value="warning">warning ({})</option><option value="note">note ({})</option></select></label>
<label>Text <input class="search" type="search"></label> <span class="shown dim" aria-live="polite"></span></div>
<div class="scroll"><table class="findings"><thead><tr><th scope="col" class="n">line</th><th scope="col">rule</th><th scope="col">severity</th><th scope="col">what was found</th><th scope="col" class="n">address</th><th scope="col">function</th></tr></thead><tbody>
`, f.Errors(), f.Warnings(), f.Notes())
	for i := range f.Findings {
		w.finding(f, &f.Findings[i])
	}
	w.Put("</tbody></table></div>\n")
	w.If(f.Unkept() != 0, `<p class="dim">{} more were counted and are not listed.</p>`, f.Unkept())
	w.Put("\n<h3>Rules</h3>\n")
	for _, c := range f.ByRule() {
		w.Put(`<details data-rule="{}"><summary>{} {} <span class="dim">({})</span></summary><p>{}</p></details>`,
			c.Rule.ID, c.Rule.ID, c.Rule.Title, c.Count, c.Rule.Doc)
	}
	w.Put("\n")
}

func (w htmlWriter) finding(file *htmlFile, f *Finding) {
	w.Put(`<tr data-rule="{}" data-severity="{}"><td class="n">`, f.Rule.ID, f.Severity)
	if f.Line != 0 {
		w.Put("{}", f.Line)
		w.If(f.Col != 0, ":{}", f.Col)
	}
	w.Put(`</td><td title="{}">{}</td><td class="{}">{}</td><td>{}</td><td class="n">`,
		f.Rule.Title, f.Rule.ID, f.Severity, f.Severity, printable(f.Message))
	at := hexAddr(uint64(f.RVA))
	switch {
	case f.HasRVA && file.Chart != nil:
		w.Put(`<a href="#{}:{}">{}</a>`, file.ID, at, at)
	case f.HasRVA:
		w.Put("{}", at)
	}
	w.Put("</td><td>{}</td></tr>\n", printable(f.Function))
}

func (w htmlWriter) suppressions(list []Applied) {
	w.Put(`<h2>Suppressions</h2>
<div class="scroll"><table class="suppressions"><thead><tr><th scope="col">rule</th><th scope="col" class="n">findings</th><th scope="col">reason</th></tr></thead><tbody>
`)
	for _, s := range list {
		w.Put(`<tr><td>{}</td><td class="n">{}</td><td>{}</td></tr>
`, s.Rule, s.Findings, printable(s.Reason))
	}
	w.Put("</tbody></table></div>")
}
