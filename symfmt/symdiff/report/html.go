package report

import (
	"cmp"
	_ "embed"
	"html/template"
	"io"
	"slices"

	"github.com/symtool/symtool/internal/page"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt/symdiff"
)

//go:embed page.tmpl
var pageText string

// maxPage is the approximate number of bytes of changes on a page: browsers
// show a few megabytes without delay. Changes beyond that are only counted.
const maxPage = 4 << 20

// Limits in bytes of the names of changes that are left out: of all on the page, and of one.
const (
	maxUnlisted     = 2 << 20
	maxUnlistedName = 200
)

// htmlWriter collects the contents of the page, which are limited, and writes them
// at the end.
type htmlWriter struct {
	w       io.Writer
	o       Options
	folders *Folders
	left    int // bytes of room left
	names   int // bytes of room left for names of changes that are left out
	page    htmlPage
	totals  totals
}

func newHTMLWriter(w io.Writer, folders *Folders, o Options) Writer {
	return &htmlWriter{w: w, o: o, folders: folders, left: maxPage, names: maxUnlisted, totals: totals{}}
}

type htmlPage struct {
	Folders *Folders
	Equal   int // modules without a difference
	Totals  string
	Modules []*htmlModule
	Kinds   []string // kinds of the changes on the page
	Aspects []htmlAspect
}

// htmlAspect is an aspect that the reader can select.
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
	More     int // number of folders left out
	Problems []htmlProblem
	Reasons  []string
	Lists    []htmlList
	Left     htmlLeft
	Unlisted []string // names of the changes that are left out, as far as there is room
}

// Folded reports whether the module is shown among those without a difference.
func (m *htmlModule) Folded() bool { return m.Tally.Status == StatusSame }

// htmlProblem is damage of a file.
type htmlProblem struct{ File, Text string }

// htmlList is a list of changes of the same kind that make nothing worse or, first, of those that
// do.
type htmlList struct {
	Title   string
	Changes []htmlChange
}

// htmlLeft counts what did not fit on the page.
type htmlLeft struct {
	Changes, Worse int // not mentioned at all
	Details        int // mentioned without their lines
}

// Any reports whether something was left out.
func (l htmlLeft) Any() bool { return l.Changes > 0 || l.Details > 0 }

func (t *htmlWriter) Add(m *Module) error {
	t.totals[m.Status()]++
	room := t.left
	if t.folders != nil {
		room = t.left / max(1, t.folders.Modules-len(t.page.Modules))
	}
	x, used, err := newHTMLModule(m, len(t.page.Modules), room, t.names)
	if err != nil {
		return err
	}
	t.left = max(0, t.left-used)
	for _, name := range x.Unlisted {
		t.names -= len(name)
	}
	t.page.Modules = append(t.page.Modules, x)
	return nil
}

func (t *htmlWriter) End() error {
	p := &t.page
	slices.SortStableFunc(p.Modules, func(a, b *htmlModule) int { return cmp.Compare(a.rank(), b.rank()) })
	for _, m := range p.Modules {
		if m.Folded() {
			p.Equal++
		}
	}
	p.Folders, p.Totals = t.folders, t.totals.String()
	head := page.Head{Heading: "symtool diff", Generator: "symtool " + t.o.Version}
	switch {
	case t.folders != nil:
		head.Title = text.Printable(t.folders.Old + " and " + t.folders.New)
	case len(p.Modules) > 0:
		head.Title = text.Printable(p.Modules[0].Old.File + " and " + p.Modules[0].New.File)
	}
	t.choices()
	return page.New(pageText, template.FuncMap{"printable": text.Printable, "section": newHTMLPart}, "changes.js").Write(t.w, head, p)
}

// htmlPart is a module with the page that it is on.
type htmlPart struct {
	Page   *htmlPage
	Module *htmlModule
}

func newHTMLPart(p *htmlPage, m *htmlModule) htmlPart { return htmlPart{p, m} }

// rank returns the place of a module on the page: the worst come first.
func (m *htmlModule) rank() int {
	return slices.Index([]Status{StatusFailed, StatusWorse, StatusRemoved, StatusChanged, StatusAdded, StatusSame}, m.Tally.Status)
}

// choices sets the kinds and aspects of the changes on the page.
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
	for k := symdiff.Functions; k <= symdiff.Types; k++ {
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
