// Package report writes differences of symbol files: as text for people, with a line for
// each change or a summary for a release note, as a unified diff, as JSON, and as an HTML
// page that needs no network.
package report

import (
	"fmt"
	"io"

	"github.com/symtool/symtool/symfmt/symdiff"
)

// Options control how differences are written.
type Options struct {
	Detail   bool            // include every change in text, and the lines of each in JSON
	Color    bool            // use colours for a terminal
	Version  string          // version of the program, for documents
	Compared symdiff.Options // what was compared, for documents
}

// Folders are two folders of symbol files.
type Folders struct {
	Old, New string
	Modules  int // number that will be added to the Writer
}

// Module is a module to write about: a file on each side, or on one side only.
type Module struct {
	Old, New *Head
	Result   *symdiff.Result // nil unless there are two readable files
	Failed   string          // why there is no Result for two files
}

// Head identifies a file.
type Head struct {
	File              string
	OS, CPU, ID, Name string // from MODULE
}

// twoFiles returns the Module for two files.
func twoFiles(r *symdiff.Result) *Module {
	return &Module{Old: headOf(r.Old), New: headOf(r.New), Result: r}
}

func headOf(o *symdiff.Outline) *Head {
	return &Head{File: o.Source.Name, OS: o.OS, CPU: o.CPU, ID: o.ID, Name: o.Name}
}

// Status is the outcome for a module, in a word.
type Status string

// The statuses.
const (
	StatusSame    Status = "same"
	StatusChanged Status = "changed"
	StatusWorse   Status = "worse" // changed, with regressions
	StatusAdded   Status = "added"
	StatusRemoved Status = "removed" // also a regression
	StatusFailed  Status = "failed"  // one of the two files could not be read
)

var statuses = [...]Status{StatusSame, StatusChanged, StatusWorse, StatusAdded, StatusRemoved, StatusFailed}

// Status returns the outcome for the module.
func (m *Module) Status() Status {
	switch {
	case m.Failed != "":
		return StatusFailed
	case m.Old == nil:
		return StatusAdded
	case m.New == nil:
		return StatusRemoved
	case m.Result == nil:
		return StatusFailed
	case m.Result.Regressions() > 0:
		return StatusWorse
	case m.Result.Same():
		return StatusSame
	}
	return StatusChanged
}

// name returns the module's name, from the new file if there is one.
func (m *Module) name() string {
	for _, h := range []*Head{m.New, m.Old} {
		if h != nil && h.Name != "" {
			return h.Name
		}
	}
	for _, h := range []*Head{m.New, m.Old} {
		if h != nil {
			return h.File
		}
	}
	return ""
}

// cpu returns the module's architecture.
func (m *Module) cpu() string {
	for _, h := range []*Head{m.New, m.Old} {
		if h != nil && h.CPU != "" {
			return h.CPU
		}
	}
	return ""
}

// Writer writes differences in some format. Where the format allows it, modules are
// written as they are added: a Result may be closed once Add returns.
type Writer interface {
	Add(m *Module) error
	End() error
}

// Forms maps the name of each format to a function that returns its Writer; folders is nil for two
// files.
var Forms = map[string]func(w io.Writer, folders *Folders, o Options) Writer{
	"text": newTextWriter,
	"json": newJSONWriter,
	"html": newHTMLWriter,
	"raw":  newRawWriter,
	"stat": newStatWriter,
}

// Write writes the difference of two files in the named format.
func Write(w io.Writer, form string, r *symdiff.Result, o Options) error {
	make, ok := Forms[form]
	if !ok {
		return fmt.Errorf("unknown format %q", form)
	}
	o.Compared = r.Options
	out := make(w, nil, o)
	if err := out.Add(twoFiles(r)); err != nil {
		return err
	}
	return out.End()
}
