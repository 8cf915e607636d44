package symdiff

func (w pageWriter) change(c *htmlChange) {
	tag := "div"
	if len(c.Sections) > 0 {
		tag = "details"
	}
	w.Put(`<{} class="change`, tag)
	w.If(c.Worse, " worse")
	w.Put(`" data-kind="{}" data-what="{}">`, c.Kind, c.Aspects)
	if len(c.Sections) > 0 {
		w.Put("<summary>")
		w.changeHead(c)
		w.Put("</summary>\n")
		w.sections(c.Sections)
	} else {
		w.changeHead(c)
	}
	w.Put("</{}>\n", tag)
}

func (w pageWriter) changeHead(c *htmlChange) {
	w.Put(`<b class="{}">{}</b> <code class="at">{}</code> <code class="size">{}</code> <span class="name">`, c.Class, c.Sign, c.Address, c.Size)
	w.If(c.Together != 0, "<em>{} moved {}</em> ", c.Together, c.Text)
	w.Put("<code>{}</code>", c.Name)
	w.If(c.Text != "" && c.Together == 0, ` <span class="text">{}</span>`, c.Text)
	w.If(c.Unlisted, ` <span class="dim">(lines left out)</span>`)
	w.Put("</span>")
}

// sections are the lines before and now, side by side.
func (w pageWriter) sections(list []htmlSection) {
	w.Put(`<table class="side"><thead><tr><th scope="col">before</th><th scope="col">now</th></tr></thead>`)
	for _, s := range list {
		w.Put("\n<tbody><tr class=\"part\"><th colspan=\"2\" scope=\"rowgroup\">{}</th></tr>", s.Name)
		for i := range s.Rows {
			w.Put("\n")
			w.row(&s.Rows[i])
		}
		w.If(s.Cut != 0, "\n<tr class=\"skipped\"><td colspan=\"2\">and {} more lines</td></tr>", s.Cut)
		w.Put("\n</tbody>")
	}
	w.Put("\n</table>")
}

func (w pageWriter) row(r *htmlRow) {
	if r.Skipped != 0 {
		w.Put(`<tr class="skipped"><td colspan="2">{} alike</td></tr>`, r.Skipped)
		return
	}
	w.Put(`<tr class="{}"><td>{}`, r.Class, r.Old.Head)
	w.If(r.Old.Mid != "", "<del>{}</del>", r.Old.Mid)
	w.Put("{}</td><td>{}", r.Old.Tail, r.New.Head)
	w.If(r.New.Mid != "", "<ins>{}</ins>", r.New.Mid)
	w.Put("{}</td></tr>", r.New.Tail)
}
