package report

import (
	_ "embed"
	"html/template"
	"io"

	"github.com/symtool/symtool/internal/page"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt/symdiff"
)

//go:embed page.tmpl
var pageText string

// maxPage is how many bytes of changes a page has, about: browsers show a few
// megabytes without delay. What is beyond is counted.
const maxPage = 4 << 20

// htmlWriter keeps what the page shows, of which there is a limit, and writes it at
// the end.
type htmlWriter struct {
	w       io.Writer
	o       Options
	folders *Folders
	left    int // bytes
	page    htmlPage
	totals  totals
}

func newHTMLWriter(w io.Writer, folders *Folders, o Options) Writer {
	return &htmlWriter{w: w, o: o, folders: folders, left: maxPage, totals: totals{}}
}

type htmlPage struct {
	Folders *Folders
	Totals  string
	Modules []*htmlModule
	Kinds   []string // of changes on the page
	Aspects []htmlAspect
}

// htmlAspect is an aspect to choose.
type htmlAspect struct{ Name, Words string }

// htmlModule is a comparison on the page.
type htmlModule struct {
	ID       string
	Tally    tally
	Old, New *Head
	Same     bool
	Compared bool
	Counts   [][]string
	Coverage [][]string
	Fields   []symdiff.Field
	Paths    []symdiff.PathMove
	More     int // folders that are left out
	Problems []htmlProblem
	Reasons  []string
	Lists    []htmlList
	Left     htmlLeft
}

// htmlProblem is damage of a file.
type htmlProblem struct{ File, Text string }

// htmlList are the changes of a kind that make nothing worse, or first those that do.
type htmlList struct {
	Title   string
	Changes []htmlChange
}

// htmlLeft is what the page had no room for.
type htmlLeft struct {
	Changes, Worse int // without any mention
	Details        int // without their lines
}

// Any reports whether something was left out.
func (l htmlLeft) Any() bool { return l.Changes > 0 || l.Details > 0 }

func (t *htmlWriter) Add(m *Module) error {
	t.totals[m.Status()]++
	room := t.left
	if t.folders != nil {
		room = t.left / max(1, t.folders.Modules-len(t.page.Modules))
	}
	x, used, err := newHTMLModule(m, len(t.page.Modules), room)
	if err != nil {
		return err
	}
	t.left = max(0, t.left-used)
	t.page.Modules = append(t.page.Modules, x)
	return nil
}

func (t *htmlWriter) End() error {
	p := &t.page
	p.Folders, p.Totals = t.folders, t.totals.String()
	head := page.Head{Heading: "symtool diff", Generator: "symtool " + t.o.Version}
	switch {
	case t.folders != nil:
		head.Title = text.Printable(t.folders.Old + " and " + t.folders.New)
	case len(p.Modules) > 0:
		head.Title = text.Printable(p.Modules[0].Old.File + " and " + p.Modules[0].New.File)
	}
	t.choices()
	return page.New(pageText, template.FuncMap{"printable": text.Printable}, "changes.js").Write(t.w, head, p)
}

// choices are the kinds and aspects of the changes on the page.
func (t *htmlWriter) choices() {
	kinds, what := map[string]bool{}, symdiff.Aspect(0)
	for _, m := range t.page.Modules {
		for _, list := range m.Lists {
			for i := range list.Changes {
				kinds[list.Changes[i].Kind] = true
				what |= list.Changes[i].what
			}
		}
	}
	for k := symdiff.Functions; k <= symdiff.Wins; k++ {
		if kinds[k.String()] {
			t.page.Kinds = append(t.page.Kinds, k.String())
		}
	}
	for _, w := range aspectWords {
		if what&w.what != 0 {
			t.page.Aspects = append(t.page.Aspects, htmlAspect{w.what.String(), w.one})
		}
	}
}
