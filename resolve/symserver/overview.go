package symserver

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/page"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve/symserver/internal/catalog"
)

//go:embed overview.tmpl
var overviewText string

var overviewPage = sync.OnceValue(func() *page.Template {
	t := page.New(overviewText, template.FuncMap{
		"printable": text.Printable, "size": sizeText, "time": timeText, "date": dateText, "base": filepath.Base,
		"count": func(n any, noun string) string {
			v, _ := strconv.ParseInt(fmt.Sprint(n), 10, 64)
			return text.Count(v, noun)
		},
	})
	t.Forms = true
	return t
})

// Limits of an overview.
const (
	pageRows   = 100 // of modules, and of versions
	missedRows = 20
	// readingTime is how long a page waits for the stores to be read for the first time.
	readingTime = 2 * time.Second
)

// orders are the orders of modules that a page can have.
var orders = []struct {
	name, words string
	compare     func(a, b *catalog.Module) int
}{
	{"name", "by name", nil},
	{"newest", "newest first", func(a, b *catalog.Module) int { return b.Newest().Compare(a.Newest()) }},
	{"size", "largest first", func(a, b *catalog.Module) int { return cmp.Compare(b.Bytes, a.Bytes) }},
	{"versions", "most versions first", func(a, b *catalog.Module) int { return cmp.Compare(len(b.Versions), len(a.Versions)) }},
}

// overviewData is what the template shows.
type overviewData struct {
	s    *Server
	Home string // the address of the page
	ask  url.Values

	Query    string
	Narrow   bool // the query leaves something out
	Orders   []orderChoice
	State    catalog.State
	Problems []string

	Total          int // modules that match
	Rows           []*catalog.Module
	Page, Pages    int
	Previous, Next string

	Missed     []catalog.Miss
	AllMissed  int
	MoreMissed string

	Module       *catalog.Module // if the page is about one
	Versions     []*catalog.Version
	ID           string
	Measure      *catalog.Measure
	MeasureError string

	NotReady          string
	InFlight, Refused int64
	Began             time.Time
	Generator         string
}

// orderChoice is an order that the reader can select.
type orderChoice struct {
	Name, Words string
	On          bool
}

// Known reports whether the list was read before.
func (d *overviewData) Known() bool { return !d.State.Read.IsZero() }

// serveOverview answers with a page for people. It needs no script.
func (s *Server) serveOverview(w *recorder, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readingTime)
	defer cancel()
	modules, state := s.catalog.Modules(ctx)
	d := &overviewData{
		s: s, Home: s.cfg.Prefix + "/", ask: r.URL.Query(), State: state, Problems: state.Problems,
		InFlight: s.InFlight() - 1, // besides this one
		Refused:  s.metrics.refused.Load(), Began: s.began, Generator: strings.TrimSpace("symtool " + s.cfg.Version),
	}
	for _, o := range orders {
		d.Orders = append(d.Orders, orderChoice{o.name, o.words, o.name == d.ask.Get("sort")})
	}
	if err := s.ready(); err != nil {
		d.NotReady = err.Error()
	}
	status := http.StatusOK
	if name := d.ask.Get("module"); name != "" {
		d.Module = catalog.Find(modules, name)
		switch {
		case d.Module != nil:
			d.showModule(r.Context())
		case !d.Known():
			status = http.StatusServiceUnavailable
			w.Header().Set("Retry-After", "5")
		default:
			status = http.StatusNotFound
			d.Problems = append(slices.Clip(d.Problems), "no module "+clip(name)+" in the stores")
		}
	}
	if d.Module == nil {
		d.showModules(modules)
		d.showMissed(modules)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	if w.head {
		return
	}
	title := ""
	if d.Module != nil {
		title = text.Printable(d.Module.Name)
	}
	_ = overviewPage().Write(onlyWriter{w}, page.Head{Heading: "Symbols", Title: title, Generator: d.Generator}, d) // an error is the client's
}

// showModules selects a page of the modules that match the query.
func (d *overviewData) showModules(all []*catalog.Module) {
	d.Query = d.ask.Get("q")
	d.Narrow = d.Query != ""
	rows := all
	if d.Narrow {
		q := strings.ToLower(d.Query)
		rows = slices.DeleteFunc(slices.Clone(all), func(m *catalog.Module) bool { return !matches(m, q) })
	}
	for _, o := range orders {
		if o.name == d.ask.Get("sort") && o.compare != nil {
			rows = slices.Clone(rows)
			slices.SortStableFunc(rows, o.compare)
		}
	}
	d.Total = len(rows)
	d.Rows = pageOf(d, rows)
	newest := make([]*catalog.Version, len(d.Rows))
	for i, m := range d.Rows {
		newest[i] = m.Versions[0]
	}
	d.s.measureSoon(newest)
}

// matches reports whether a module's name contains q, which is in lower case, or one of its ids
// begins with q.
func matches(m *catalog.Module, q string) bool {
	if strings.Contains(strings.ToLower(m.Name), q) {
		return true
	}
	return slices.ContainsFunc(m.Versions, func(v *catalog.Version) bool { return len(q) >= 4 && strings.HasPrefix(strings.ToLower(v.ID), q) })
}

// pageOf returns the rows of the requested page.
func pageOf[T any](d *overviewData, rows []T) []T {
	d.Pages = max(1, (len(rows)+pageRows-1)/pageRows)
	n, _ := strconv.Atoi(d.ask.Get("page"))
	d.Page = min(max(n, 1), d.Pages)
	if d.Page > 1 {
		d.Previous = d.link("page", itoa(d.Page-1))
	}
	if d.Page < d.Pages {
		d.Next = d.link("page", itoa(d.Page+1))
	}
	begin := (d.Page - 1) * pageRows
	return rows[begin:min(begin+pageRows, len(rows))]
}

// link returns the address of the page with another value of a parameter.
func (d *overviewData) link(name, value string) string {
	q := url.Values{}
	for _, kept := range []string{"q", "sort", "module", "missed"} {
		if v := d.ask.Get(kept); v != "" {
			q.Set(kept, v)
		}
	}
	q.Set(name, value)
	return d.Home + "?" + q.Encode()
}

// showMissed lists the symbols that were requested but missing, and still are.
func (d *overviewData) showMissed(all []*catalog.Module) {
	q := strings.ToLower(d.Query)
	list := slices.DeleteFunc(d.s.missed.List(), func(miss catalog.Miss) bool {
		if d.Narrow && !strings.Contains(strings.ToLower(miss.Name), q) && !strings.HasPrefix(strings.ToLower(miss.ID), q) {
			return true
		}
		m := catalog.Find(all, miss.Name)
		return m != nil && m.Version(miss.ID) != nil
	})
	d.AllMissed = len(list)
	if d.ask.Get("missed") == "" && len(list) > missedRows {
		list = list[:missedRows]
		d.MoreMissed = d.link("missed", "all")
	}
	d.Missed = list
}

// showModule selects what the page about a module shows.
func (d *overviewData) showModule(ctx context.Context) {
	d.Versions = pageOf(d, d.Module.Versions)
	v := d.Module.Version(d.ask.Get("id"))
	if v == nil {
		return
	}
	d.ID = v.ID
	var err error
	if d.Measure, err = d.s.measure(ctx, v); err != nil {
		d.MeasureError = err.Error()
	}
}

// LinkModule returns the address of the page about a module.
func (d *overviewData) LinkModule(name string) string {
	return d.Home + "?" + url.Values{"module": {name}}.Encode()
}

// LinkVersion returns the address of the page about a module, with the contents of a version.
func (d *overviewData) LinkVersion(id string) string {
	return d.Home + "?" + url.Values{"module": {d.Module.Name}, "id": {id}}.Encode()
}

// LinkFile returns the address of a file.
func (d *overviewData) LinkFile(name string) string {
	parts := strings.Split(filepath.ToSlash(name), "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return d.s.cfg.Prefix + "/" + path.Join(parts...)
}

// Share returns the share of a version's code that has unwind rules, or "" if it is not known.
func (d *overviewData) Share(v *catalog.Version) string {
	m := d.s.measures.Get(v)
	if m == nil {
		return ""
	}
	share, known := m.CFI()
	if !known {
		return "no code"
	}
	return strconv.FormatFloat(100*share, 'f', 1, 64) + " %"
}

// dateText and timeText return a time as the page shows it.
func dateText(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func timeText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// sizeText returns a number of bytes in the unit that gives it three or four digits.
func sizeText(n int64) string {
	const units = "kMGTPE"
	if n < 1000 {
		return itoa64(n) + " B"
	}
	v, unit := float64(n)/1000, 0
	for v >= 999.5 && unit < len(units)-1 {
		v, unit = v/1000, unit+1
	}
	precision := 0
	if v < 9.95 {
		precision = 1
	}
	return strconv.FormatFloat(v, 'f', precision, 64) + " " + units[unit:unit+1] + "B"
}

// measure returns what a version's symbol file contains, or nil if there is none.
func (s *Server) measure(ctx context.Context, v *catalog.Version) (*catalog.Measure, error) {
	if m := s.measures.Get(v); m != nil {
		return m, nil
	}
	e := v.Symbols()
	if e == nil {
		return nil, nil
	}
	i := slices.IndexFunc(s.roots, func(r *root) bool { return r.dir == v.Dir })
	f, err := s.roots[i].openRegular(e.Path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.ToSlash(e.Path), err)
	}
	defer f.Close()
	if !take(ctx, s.answers) {
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.answers }()
	m, err := catalog.MeasureFile(bin.ContextReader(ctx, f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.ToSlash(e.Path), err)
	}
	s.measures.Add(v, m)
	return m, nil
}

// measureSoon measures versions one after the other, so that the page has their figures when it is
// requested again. It does nothing while it still works for another page.
func (s *Server) measureSoon(versions []*catalog.Version) {
	if !s.measuring.CompareAndSwap(false, true) {
		return
	}
	s.background.Go(func() {
		defer s.measuring.Store(false)
		for _, v := range versions {
			if _, err := s.measure(s.ending, v); err != nil && s.ending.Err() == nil {
				s.warnf("%s: %v", v.Dir, err)
			}
		}
	})
}
