package symdiff

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"io"

	"github.com/symtool/symtool/internal/page"
)

// The page's parts.
var (
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string
)

// maxPage is how many bytes of changes a page has, about: browsers show a few
// megabytes without delay. What is beyond is counted.
const maxPage = 4 << 20

// htmlWriter keeps what the page shows, of which there is a limit, and writes it at
// the end: one page, which needs nothing else, no file and no network. Names in it
// come from symbol files, and are text there, never markup or script.
type htmlWriter struct {
	w       io.Writer
	o       OutputOptions
	folders *Folders
	left    int // bytes
	page    htmlPage
	totals  totals
}

func newHTMLWriter(w io.Writer, folders *Folders, o OutputOptions) Writer {
	return &htmlWriter{w: w, o: o, folders: folders, left: maxPage, totals: totals{}}
}

type htmlPage struct {
	Generator string
	Policy    string
	Style     page.Markup
	Script    page.Markup
	Title     string
	Folders   *Folders
	Totals    string
	Modules   []*htmlModule
	Kinds     []string // of changes on the page
	Aspects   []htmlAspect
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
	Fields   []Field
	Paths    []PathMove
	More     int // folders that are left out
	Problems []htmlProblem
	Reasons  []string
	Worse    []htmlChange
	Lists    []htmlList
	Left     htmlLeft
}

// htmlProblem is damage of a file.
type htmlProblem struct{ File, Text string }

// htmlList are the changes of a kind that make nothing worse.
type htmlList struct {
	Title   string
	Changes []htmlChange
}

// htmlLeft is what the page had no room for.
type htmlLeft struct {
	Changes, Worse int // without any mention
	Details        int // without their lines
}

// Any tells whether something was left out.
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
	p.Generator = "symtool " + t.o.Version
	p.Style, p.Script, p.Policy = page.Markup(pageStyle), page.Markup(pageScript), policy(pageScript)
	p.Folders, p.Totals = t.folders, t.totals.String()
	switch {
	case t.folders != nil:
		p.Title = t.folders.Old + " and " + t.folders.New
	case len(p.Modules) > 0:
		p.Title = p.Modules[0].Old.File + " and " + p.Modules[0].New.File
	}
	t.choices()
	out := pageWriter{page.NewWriter(t.w)}
	out.page(p)
	return out.Flush()
}

// policy is the page's content security policy: this script runs, and no other.
func policy(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// choices are the kinds and aspects of the changes on the page.
func (t *htmlWriter) choices() {
	kinds, what := map[string]bool{}, Aspect(0)
	for _, m := range t.page.Modules {
		for _, list := range append([]htmlList{{Changes: m.Worse}}, m.Lists...) {
			for i := range list.Changes {
				kinds[list.Changes[i].Kind] = true
				what |= list.Changes[i].what
			}
		}
	}
	for k := Functions; k <= Wins; k++ {
		if kinds[k.String()] {
			t.page.Kinds = append(t.page.Kinds, k.String())
		}
	}
	for _, w := range aspectWords {
		if what&w.what != 0 {
			t.page.Aspects = append(t.page.Aspects, htmlAspect{w.name, w.one})
		}
	}
}
