// Package report writes differences of symbol files: as text for people, with a line for
// each change or a summary for a release note, as a unified diff, as JSON, and as an HTML
// page that needs no network.
package report

import (
	"fmt"
	"io"

	"github.com/symtool/symtool/symfmt/symdiff"
)

// Options say how differences are written.
type Options struct {
	Detail   bool            // every change in text, the lines of each in JSON
	Color    bool            // text for a terminal
	Version  string          // of the program, for documents
	Compared symdiff.Options // what was compared, for documents
}

// Folders are two folders with symbol files.
type Folders struct {
	Old, New string
	Modules  int // that will be added to the Writer
}

// Module is what a Writer writes about: a file of each side, or of one side alone.
type Module struct {
	Old, New *Head
	Result   *symdiff.Result // nil unless there are two files that could be read
	Failed   string          // why there is no Result of two
}

// Head identifies a file.
type Head struct {
	File              string
	OS, CPU, ID, Name string // of MODULE
}

// Two returns the Module of two files.
func Two(r *symdiff.Result) *Module {
	return &Module{Old: headOf(r.Old), New: headOf(r.New), Result: r}
}

func headOf(o *symdiff.Outline) *Head {
	return &Head{File: o.Source.Name, OS: o.OS, CPU: o.CPU, ID: o.ID, Name: o.Name}
}

// Status is what became of a module, in a word.
type Status string

// The statuses.
const (
	StatusSame    Status = "same"
	StatusChanged Status = "changed"
	StatusWorse   Status = "worse" // changed, with regressions
	StatusAdded   Status = "added"
	StatusRemoved Status = "removed" // a regression, too
	StatusFailed  Status = "failed"  // one of the two could not be read
)

var statuses = [...]Status{StatusSame, StatusChanged, StatusWorse, StatusAdded, StatusRemoved, StatusFailed}

// Status returns what became of the module.
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

// name returns the module's name, of the new file if there is one.
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

// cpu returns its architecture.
func (m *Module) cpu() string {
	for _, h := range []*Head{m.New, m.Old} {
		if h != nil && h.CPU != "" {
			return h.CPU
		}
	}
	return ""
}

// Writer writes differences in a form. Modules are written as they are added, as far
// as the form allows it: a Result may be closed when Add returns.
type Writer interface {
	Add(m *Module) error
	End() error
}

// Forms make a Writer of a form; folders is nil for two files.
var Forms = map[string]func(w io.Writer, folders *Folders, o Options) Writer{
	"text": newTextWriter,
	"json": newJSONWriter,
	"html": newHTMLWriter,
	"raw":  newRawWriter,
	"stat": newStatWriter,
}

// Write writes the difference of two files in a form of Forms.
func Write(w io.Writer, form string, r *symdiff.Result, o Options) error {
	make, ok := Forms[form]
	if !ok {
		return fmt.Errorf("no form %q", form)
	}
	o.Compared = r.Options
	out := make(w, nil, o)
	if err := out.Add(Two(r)); err != nil {
		return err
	}
	return out.End()
}
