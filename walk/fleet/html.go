package fleet

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"io"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/internal/page"
	"github.com/symtool/symtool/internal/text"
)

//go:embed page.tmpl
var pageText string

// HTMLOptions describe a page.
type HTMLOptions struct {
	Generator string // the program and its version
	// Root is the path from the page's folder to the one that the dumps' names are relative to.
	Root string
	Text TextOptions // for browsers without scripts
}

// maxPageRows is the maximum number of rows of each table of a page.
const maxPageRows = 10_000

// WriteHTML writes tables as one page, which needs no other files except the dumps that it links
// to: the JSON document, and a script that shows it.
func (t *Tables) WriteHTML(w io.Writer, o HTMLOptions) error {
	var b strings.Builder
	if err := t.WriteText(&b, o.Text); err != nil {
		return err
	}
	doc, left := *t.Document(o.Generator), 0
	doc.Signatures = firstRows(doc.Signatures, &left)
	doc.Modules = firstRows(doc.Modules, &left)
	document, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	head := page.Head{Heading: "symtool walk: summary", Title: text.Count(t.Totals.Dumps, "dump"), Generator: o.Generator}
	return page.New(pageText, nil, "dom.js", "summary.js").Write(w, head, &struct {
		Document
		JSON                  template.JS
		Text, Root, Separator string
		Left                  int
	}{doc, template.JS(text.EscapeJSON(document)), b.String(), o.Root, string(filepath.Separator), left})
}

// firstRows returns the rows that a page has room for, and adds the number of others to left.
func firstRows[T any](rows []T, left *int) []T {
	n := min(len(rows), maxPageRows)
	*left += len(rows) - n
	return rows[:n]
}
