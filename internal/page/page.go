// Package page writes HTML pages with values in them. A value is text, wherever it
// stands: between tags, or in an attribute in quotes. It must not stand elsewhere:
// in a script, in a style, in an attribute without quotes or as a whole URL.
//
// It is in place of html/template, which calls methods by name: Go's linker keeps
// every exported method of every type of a program that does so. What it writes is
// the same byte by byte.
package page

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Markup is HTML. Constants become it by themselves; of a variable a conversion
// says that it is trusted.
type Markup string

// Writer writes a page.
type Writer struct{ w *bufio.Writer }

// NewWriter returns a Writer, which keeps what it writes until Flush.
func NewWriter(w io.Writer) *Writer { return &Writer{bufio.NewWriter(w)} }

// Flush ends the page, and returns the first error of writing it.
func (p *Writer) Flush() error { return p.w.Flush() }

// Put writes markup, with a value as text for each {} in it.
func (p *Writer) Put(markup Markup, values ...any) {
	rest := string(markup)
	for _, v := range values {
		before, after, ok := strings.Cut(rest, "{}")
		if !ok {
			panic("page: more values than places in " + rest)
		}
		p.w.WriteString(before)
		escaper.WriteString(p.w, text(v))
		rest = after
	}
	if strings.Contains(rest, "{}") {
		panic("page: a place without a value in " + rest)
	}
	p.w.WriteString(rest)
}

// Raw writes markup as it is: a style, or a script.
func (p *Writer) Raw(markup Markup) { p.w.WriteString(string(markup)) }

// If puts markup where it holds.
func (p *Writer) If(holds bool, markup Markup, values ...any) {
	if holds {
		p.Put(markup, values...)
	}
}

func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return fmt.Sprint(v)
}

// escaper has the references of html/template: + may end an attribute of UTF-7.
var escaper = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;")
