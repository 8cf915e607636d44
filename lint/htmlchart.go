package lint

// chart writes the map of a file's module, and the tables about it.
func (w htmlWriter) chart(f *htmlFile) {
	c := f.Chart
	w.Put(`<h3>Map of the module</h3>
<div class="legend dim"><span><i class="func"></i>FUNC</span><span><i class="lines"></i>lines</span><span><i class="cfi"></i>STACK CFI, STACK WIN</span><span><i class="gap"></i>function without</span><span><i class="nofunc"></i>CFI without FUNC</span></div>
<div class="map">
<div class="overview" hidden><div class="window"></div></div>
<div class="rows dim" aria-hidden="true"><span>FUNC</span><span>lines</span><span>CFI</span></div>
<div class="plot">`)
	w.picture(c.Picture)
	w.Put(`<div class="names"></div><div class="chosen" hidden></div><div class="drag" hidden></div></div>
<div class="ticks dim">`)
	for _, t := range c.Picture.Ticks {
		w.Put(`<span style="left:{}%">{}</span>`, t.Percent, t.Address)
	}
	w.Put(`</div>
</div>
<div class="controls scripted"><button type="button" class="in" title="zoom in (+)" aria-label="zoom in">+</button> <button type="button" class="out" title="zoom out (&minus;)" aria-label="zoom out">&minus;</button> <button type="button" class="left" title="move left (&larr;)" aria-label="move left">&larr;</button> <button type="button" class="right" title="move right (&rarr;)" aria-label="move right">&rarr;</button> <button type="button" class="reset" title="the whole module (0)">whole module</button> <button type="button" class="previous" title="previous gap (p)">previous gap</button> <button type="button" class="next" title="next gap (n)">next gap</button> <span class="mono dim range"></span></div>
<div class="where mono scripted">&nbsp;</div>
<div class="panel detail scripted" aria-live="polite"><span class="dim">Click into the map, or at an address in a table: what is missing there is told here. The wheel zooms, dragging moves; with Shift it chooses a part. In the map, keys are &larr; &rarr; + &minus; 0 n p.</span></div>
`)
	if c.Data != nil {
		w.chartData(c.Data)
	}
	w.Put("\n<h3>Functions that lack most</h3>\n")
	w.worst(f.ID, c)
	w.Put("\n<h3>Largest gaps</h3>\n")
	w.gaps(f.ID, c)
	w.Put("\n")
}

func (w htmlWriter) picture(p *picture) {
	w.Put(`<svg viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="Coverage by address; the largest gaps are in the table below.">
`, p.Width, p.Height)
	for _, b := range p.Bands {
		w.Put(`<path class="{}" d="{}"/>
`, b.Class, b.Path)
	}
	w.Put(`<path class="cuts" d="{}"/></svg>`, p.Cuts)
}

// chartData is what the page's script draws from.
func (w htmlWriter) chartData(d *chartData) {
	w.If(d.LeastRun != 0, `<p class="dim">The map has too many pieces for a page: what is shorter than {} bytes is drawn as the piece before it. The tables are exact.</p>`, d.LeastRun)
	w.If(d.LeastFunc != 0, `<p class="dim">The map does not name functions of less than {} bytes.</p>`, d.LeastFunc)
	w.Put(`
<script type="text/plain" class="runs">{}</script>
<script type="text/plain" class="functions">{}</script>
<script type="text/plain" class="symbols">{}</script>`, d.Runs, d.Functions, d.Names)
}

func (w htmlWriter) worst(file string, c *chart) {
	if len(c.Worst) == 0 {
		w.Put("<p>No function lacks anything.</p>")
		return
	}
	w.Put(`<div class="scroll"><table class="worst sorted"><thead><tr>
<th scope="col">function</th><th scope="col" class="n">address</th><th scope="col" class="n">bytes</th><th scope="col" class="n" aria-sort="descending">without CFI</th><th scope="col" class="n">without lines</th><th scope="col" class="n">line of the file</th>
</tr></thead><tbody>
`)
	for _, f := range c.Worst {
		w.Put(`<tr><td>{}</td><td class="n"><a href="#{}:{}-{}">{}</a></td><td class="n">{}</td><td class="n">`,
			f.Name, file, f.From(), f.To(), f.From(), f.NoCFI.Total)
		w.lack(f.NoCFI)
		w.Put(`</td><td class="n">`)
		w.lack(f.NoLines)
		w.Put(`</td><td class="n">`)
		w.If(f.Line != 0, "{}", f.Line)
		w.Put("</td></tr>\n")
	}
	w.Put("</tbody></table></div>\n<p class=\"dim\">{} of {} functions that lack something.</p>", len(c.Worst), c.AllLack)
}

func (w htmlWriter) lack(s Share) {
	w.Put("{}", s.Covered)
	w.If(s.Covered != 0, ` <span class="dim">({})</span>`, s)
}

func (w htmlWriter) gaps(file string, c *chart) {
	if len(c.Gaps) == 0 {
		w.Put("<p>There are none.</p>")
		return
	}
	w.Put(`<div class="scroll"><table class="gaps sorted"><thead><tr>
<th scope="col" class="n">address</th><th scope="col" class="n">end</th><th scope="col" class="n" aria-sort="descending">bytes</th><th scope="col">what</th><th scope="col">function</th><th scope="col" class="n">line of the file</th>
</tr></thead><tbody>
`)
	for _, g := range c.Gaps {
		w.Put(`<tr><td class="n"><a href="#{}:{}-{}">{}</a></td><td class="n">{}</td><td class="n">{}</td><td>{}</td><td>{}</td><td class="n">`,
			file, g.From(), g.To(), g.From(), g.To(), g.Size(), g.What, g.Function)
		w.If(g.Line != 0, "{}", g.Line)
		w.Put("</td></tr>\n")
	}
	w.Put("</tbody></table></div>\n<p class=\"dim\">{} of {} gaps.</p>", len(c.Gaps), c.AllGaps)
}
