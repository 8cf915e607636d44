package symdiff

import (
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/page"
)

// pageWriter writes the page. Whitespace between the parts is as it is, for the bytes
// of a page are those of earlier versions.
type pageWriter struct{ *page.Writer }

func (w pageWriter) page(p *htmlPage) {
	w.Put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{}">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="{}">
<title>symtool diff: {}</title>
<style>`, p.Policy, p.Generator, bin.Printable(p.Title))
	w.Raw(p.Style)
	w.Put("</style>\n</head>\n<body>\n<h1>symtool diff</h1>\n")
	if p.Folders != nil {
		w.folders(p)
		w.controls(p)
	}
	for _, m := range p.Modules {
		w.module(p, m)
	}
	w.Put("<script>")
	w.Raw(p.Script)
	w.Put("</script>\n</body>\n</html>\n")
}

// folders has a row for each module.
func (w pageWriter) folders(p *htmlPage) {
	w.Put(`<p><b class="gone">&minus;</b> <code>{}</code><br><b class="new">+</b> <code>{}</code></p>
<p class="totals">{}</p>
<div class="wide"><table class="counts modules"><thead><tr><th scope="col">module</th><th scope="col">CPU</th><th scope="col">status</th><th scope="col">functions</th><th scope="col">now</th><th scope="col">added</th><th scope="col">removed</th><th scope="col">differ</th><th scope="col">worse</th><th scope="col">lines</th><th scope="col">now</th><th scope="col">CFI</th><th scope="col">now</th></tr></thead><tbody>`,
		bin.Printable(p.Folders.Old), bin.Printable(p.Folders.New), p.Totals)
	for _, m := range p.Modules {
		t := &m.Tally
		w.Put(`<tr class="{}"><th scope="row"><a href="#{}">{}</a></th><td>{}</td><td class="status">{}</td>`,
			t.Status, m.ID, bin.Printable(t.Module), bin.Printable(t.CPU), t.Status)
		if m.Compared {
			for _, cell := range []any{t.Functions[0], t.Functions[1], t.Added, t.Removed, t.Differ, t.Regressions, t.Lines[0], t.Lines[1], t.CFI[0], t.CFI[1]} {
				w.Put("<td>{}</td>", cell)
			}
		} else {
			w.Put(`<td colspan="10">{}</td>`, bin.Printable(t.Failed))
		}
		w.Put("</tr>\n")
	}
	w.Put("</tbody></table></div>\n")
}

// controls choose changes.
func (w pageWriter) controls(p *htmlPage) {
	if len(p.Aspects) == 0 {
		return
	}
	w.Put(`<div class="controls scripted" role="search"><label>kind <select id="kind"><option value="">all</option>`)
	for _, kind := range p.Kinds {
		w.Put("<option>{}</option>", kind)
	}
	w.Put(`</select></label>
<label>what <select id="what"><option value="">anything</option>`)
	for _, a := range p.Aspects {
		w.Put(`<option value="{}">{}</option>`, a.Name, a.Words)
	}
	w.Put(`</select></label>
<label>name has <input id="text" type="search" autocomplete="off"></label>
<label><input id="worse" type="checkbox"> worse only</label>
<button id="open" type="button">open all</button> <button id="close" type="button">close all</button> <span id="shown" class="dim" aria-live="polite"></span></div>
`)
}

func (w pageWriter) module(p *htmlPage, m *htmlModule) {
	w.Put("<section class=\"module\" id=\"{}\">\n", m.ID)
	w.If(p.Folders != nil, "<h2>{}</h2>\n", bin.Printable(m.Tally.Module))
	w.Put(`<p class="sides">`)
	if m.Old != nil {
		w.Put(`<b class="gone">&minus;</b>`)
		w.head(m.Old)
	}
	w.If(m.Old != nil && m.New != nil, "<br>")
	if m.New != nil {
		w.Put(`<b class="new">+</b>`)
		w.head(m.New)
	}
	w.Put("</p>\n")
	if !m.Compared {
		w.Put(`<p class="panel status {}">{}`, m.Tally.Status, m.Tally.Status)
		w.If(m.Tally.Failed != "", ": {}", bin.Printable(m.Tally.Failed))
		w.Put("</p>\n")
	} else {
		w.compared(p, m)
	}
	w.Put("</section>\n")
}

func (w pageWriter) head(h *Head) {
	w.Put(` <code>{}</code> <span class="dim"><code>{} {} {} {}</code></span>`,
		bin.Printable(h.File), bin.Printable(h.OS), bin.Printable(h.CPU), bin.Printable(h.ID), bin.Printable(h.Name))
}

// compared is what two files of a module have.
func (w pageWriter) compared(p *htmlPage, m *htmlModule) {
	w.If(m.Same, "<p class=\"panel good\">No difference.</p>\n")
	w.reasons(m.Reasons)
	w.problems(m.Problems)
	if p.Folders == nil || !m.Same {
		w.table(m.Counts)
		w.table(m.Coverage)
	}
	w.fields(m.Fields)
	w.paths(m)
	w.left(m.Left)
	if p.Folders == nil {
		w.controls(p)
	}
	if len(m.Worse) > 0 {
		w.list("Worse than before", m.Worse)
	}
	for _, list := range m.Lists {
		w.list(list.Title, list.Changes)
	}
}

func (w pageWriter) reasons(list []string) {
	if len(list) == 0 {
		return
	}
	w.Put(`<div class="panel bad"><strong>Worse than before</strong><ul>`)
	for _, reason := range list {
		w.Put("<li>{}</li>", bin.Printable(reason))
	}
	w.Put("</ul></div>\n")
}

func (w pageWriter) problems(list []htmlProblem) {
	if len(list) == 0 {
		return
	}
	w.Put(`<div class="panel warn"><strong>Damaged: what is lost is not compared</strong><ul>`)
	for _, problem := range list {
		w.Put("<li><code>{}</code>: {}</li>", bin.Printable(problem.File), bin.Printable(problem.Text))
	}
	w.Put("</ul></div>\n")
}

// table has headings in the first row, and in the first column of the others. One
// that is empty is left out.
func (w pageWriter) table(rows [][]string) {
	if len(rows) < 2 {
		return
	}
	w.Put(`<div class="wide"><table class="counts"><thead><tr>`)
	for _, cell := range rows[0] {
		w.Put(`<th scope="col">{}</th>`, cell)
	}
	w.Put("</tr></thead><tbody>")
	for _, row := range rows[1:] {
		w.Put("<tr>")
		for i, cell := range row {
			w.If(i == 0, `<th scope="row">{}</th>`, cell)
			w.If(i > 0, "<td>{}</td>", cell)
		}
		w.Put("</tr>")
	}
	w.Put("</tbody></table></div>\n")
}

func (w pageWriter) fields(list []Field) {
	if len(list) == 0 {
		return
	}
	w.Put(`<div class="wide"><table class="counts fields"><thead><tr><th scope="col">record</th><th scope="col">before</th><th scope="col">now</th></tr></thead><tbody>`)
	for _, f := range list {
		w.Put("<tr")
		w.If(f.Regression, ` class="bad"`)
		w.Put(`><th scope="row">{}</th><td><code>{}</code></td><td><code>{}</code></td></tr>`, bin.Printable(f.Name), bin.Printable(f.Old), bin.Printable(f.New))
	}
	w.Put("</tbody></table></div>\n")
}

func (w pageWriter) paths(m *htmlModule) {
	if len(m.Paths) == 0 {
		return
	}
	w.Put(`<div class="wide"><table class="counts fields"><thead><tr><th scope="col">source files</th><th scope="col">folder before</th><th scope="col">now</th></tr></thead><tbody>`)
	for _, p := range m.Paths {
		w.Put(`<tr><th scope="row">{}</th><td><code>{}</code></td><td><code>{}</code></td></tr>`, p.Files, bin.Printable(p.Old), bin.Printable(p.New))
	}
	w.If(m.More != 0, `<tr><td colspan="3">and {} more</td></tr>`, m.More)
	w.Put("</tbody></table></div>\n")
}

func (w pageWriter) left(l htmlLeft) {
	if !l.Any() {
		return
	}
	w.Put(`<p class="panel warn left">The page has no room for everything:`)
	if l.Changes != 0 {
		w.Put(" {} changes are left out", l.Changes)
		w.If(l.Worse != 0, ", {} of them worse", l.Worse)
		w.Put(";")
	}
	w.If(l.Details != 0, " {} are without their lines;", l.Details)
	w.Put(" <code>symtool diff --detail</code> lists all.</p>\n")
}

func (w pageWriter) list(title string, changes []htmlChange) {
	w.Put("<div class=\"list\"><h3>{}</h3>\n", title)
	for i := range changes {
		w.change(&changes[i])
	}
	w.Put("</div>\n")
}
