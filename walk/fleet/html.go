package fleet

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/symtool/symtool/internal/page"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/walk/verify"
)

//go:embed page.tmpl
var pageText string

// HTMLOptions describe a page.
type HTMLOptions struct {
	Generator string // the program and its version
	// Link returns the path of the dump with a given name, relative to the page.
	Link func(dump string) string
}

// maxPageRows is the maximum number of rows of each table of a page.
const maxPageRows = 2000

// htmlPage is the data of the template.
type htmlPage struct {
	*Tables
	Generator string
	Tone      string // class of the verdict
	Trusts    []trustShare
	Crashes   []CrashRow
	Modules   []htmlRow
	MoreCrash int // rows that are left out
	MoreMod   int
	Findings  []verify.TallyRow
}

// trustShare is the share of frames with a trust.
type trustShare struct {
	Name    string
	N       int64
	Percent string // with its sign
}

// htmlRow is a module on a page.
type htmlRow struct {
	ModuleRow
	Name, Tone string
}

// Good reports whether the module's cost is 0.
func (r htmlRow) Good() bool { return r.Cost == 0 }

// WriteHTML writes tables as one page, which needs no other files except the dumps that it links
// to.
func (t *Tables) WriteHTML(w io.Writer, o HTMLOptions) error {
	p := htmlPage{Tables: t, Generator: o.Generator, Tone: "bad", Trusts: t.Totals.shares()}
	if t.Holds() {
		p.Tone = "good"
	}
	p.Crashes = t.Crashes[:min(len(t.Crashes), maxPageRows)]
	p.MoreCrash = len(t.Crashes) - len(p.Crashes)
	for i := range t.Modules[:min(len(t.Modules), maxPageRows)] {
		m := &t.Modules[i]
		p.Modules = append(p.Modules, htmlRow{*m, m.name(), tones[m.Symbols]})
	}
	p.MoreMod = len(t.Modules) - len(p.Modules)
	if t.Verify != nil {
		p.Findings = t.Verify.Findings[:min(len(t.Verify.Findings), maxPageRows)]
	}
	funcs := template.FuncMap{
		"printable": text.Printable,
		"link":      o.Link,
		"share":     func(x float64) string { return fmt.Sprintf("%.1f%%", 100*x) },
	}
	head := page.Head{Heading: "symtool walk: summary", Title: text.Count(t.Totals.Dumps, "dump"), Generator: o.Generator}
	return page.New(pageText, funcs, "tables.js").Write(w, head, &p)
}

// tones are the classes of the states of symbols.
var tones = map[SymbolState]string{
	StateCorrupt: "error", StateOtherID: "error", StateMissing: "error", StateNoCFI: "warning", StateFound: "good",
}

// shares returns the share of frames with each trust, the most reliable first.
func (t *Totals) shares() (all []trustShare) {
	f := t.Frames
	for _, x := range []trustShare{{Name: "context", N: f.Context}, {Name: "cfi", N: f.CFI}, {Name: "cfi_scan", N: f.CFIScan}, {Name: "frame_pointer", N: f.FramePointer}, {Name: "scan", N: f.Scan}} {
		x.Percent = percent(x.N, f.all())
		all = append(all, x)
	}
	return all
}
