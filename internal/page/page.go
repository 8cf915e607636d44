// Package page implements what the program's HTML pages share: the document around the body, the
// style sheet and the scripts. A page needs no other file and no network. Its contents are data
// for html/template, never markup.
package page

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"
)

//go:embed shell.tmpl style.css script/*.js
var files embed.FS

// Template is the template of one kind of page.
type Template struct {
	html   *template.Template
	script string

	// Forms permits forms, which are sent to the server that the page came from.
	Forms bool
}

// Head describes a page.
type Head struct {
	Heading   string
	Title     string // title of the window
	Generator string // name and version of the program
}

// New returns the template of a kind of page. text defines the template "body" and those that it
// uses, which may call funcs. scripts are names of files in the folder script; they become one
// script in the page. It panics if a template cannot be parsed or a script does not exist.
func New(text string, funcs template.FuncMap, scripts ...string) *Template {
	t := &Template{html: template.New("shell").Funcs(funcs)}
	template.Must(t.html.Parse(read("shell.tmpl")))
	template.Must(t.html.Parse(text))
	var b strings.Builder
	b.WriteString("\"use strict\";\n")
	for _, name := range scripts {
		b.WriteString(read("script/" + name))
	}
	t.script = b.String()
	return t
}

func read(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // there is no such script
	}
	return string(text)
}

// Write writes a page whose body is the result of applying the template to data.
func (t *Template) Write(w io.Writer, head Head, data any) error {
	out := bufio.NewWriter(w)
	err := t.html.Execute(out, &struct {
		Head
		Policy string
		Style  template.CSS
		Script template.JS
		Body   any
	}{head, policy(t.script, t.Forms), template.CSS(read("style.css")), template.JS(t.script), data})
	if err != nil {
		return err
	}
	return out.Flush()
}

// policy returns the page's content security policy, which allows no script but this one.
func policy(script string, forms bool) string {
	sum := sha256.Sum256([]byte(script))
	action := "'none'"
	if forms {
		action = "'self'"
	}
	return "default-src 'none'; base-uri 'none'; form-action " + action + "; style-src 'unsafe-inline'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
