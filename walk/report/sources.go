package report

import (
	"context"
	"fmt"
	"strings"

	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/source"
)

// Sources finds the source lines of a walk's frames. It must not be used concurrently.
type Sources struct {
	ctx    context.Context
	of     *walk.Result
	finder *source.Finder
	around int // number of lines before and after a frame's line
	left   int // bytes of lines that may still be written

	files    map[askedPlace]source.File
	reported map[string]bool // reasons for missing files that the text already has
}

// askedPlace identifies a function in the names of a frame, in a module. The frames of a recursion share it.
type askedPlace struct {
	module int
	inst   uint64
	name   int
}

// maxSources limits the source lines that are written for a dump, in bytes: a recursion may have a million frames.
const maxSources = 4 << 20

// NewSources returns the sources of a walk, with around lines before and after each frame's line.
func NewSources(ctx context.Context, of *walk.Result, finder *source.Finder, around int) *Sources {
	return &Sources{ctx: ctx, of: of, finder: finder, around: around, left: maxSources, files: map[askedPlace]source.File{}, reported: map[string]bool{}}
}

// excerpt is the source around a frame, or the reason why there is none.
type excerpt struct {
	path  string
	check source.Check
	line  uint32 // the frame's line
	lines []source.Line
	err   error
}

// at returns the source of f.Names[k], or nil if it has no file or no line.
func (s *Sources) at(f *walk.Frame, k int) *excerpt {
	if s == nil || k >= len(f.Names) || f.Names[k].File == "" || f.Names[k].Line == 0 {
		return nil
	}
	e := &excerpt{line: f.Names[k].Line}
	if s.left <= 0 {
		e.err = fmt.Errorf("not shown: the frames before it have %d bytes of lines", maxSources)
		return e
	}
	place := askedPlace{f.Module, f.Inst, k}
	file, ok := s.files[place]
	if !ok {
		file = s.of.SourceFile(s.ctx, f, k)
		s.files[place] = file
	}
	t, err := s.finder.Find(s.ctx, file)
	if err == nil {
		e.path, e.check = t.Path, t.Check
		e.lines, err = t.Around(e.line, s.around)
	}
	e.err = err
	for i := range e.lines {
		s.left -= len(e.lines[i].Text) + lineOverhead
	}
	return e
}

// lineOverhead is the size of a source line in addition to its text.
const lineOverhead = 16

// caution says how a file was found that was not compared by its digest; otherwise it returns "".
func (e *excerpt) caution() string {
	switch e.check {
	case source.Unchecked:
		return "not verified: the symbols have no checksum of it"
	case source.BySize:
		return "only its size was compared: the symbols have no checksum of it"
	case source.ByBuildID:
		return "not verified: from debuginfod, by the build-id"
	}
	return ""
}

// numbered returns the lines with their numbers, and a mark at the frame's.
func (e *excerpt) numbered() (lines []string) {
	width := len(fmt.Sprint(e.lines[len(e.lines)-1].Number))
	for i := range e.lines {
		mark := ' '
		if e.lines[i].Number == e.line {
			mark = '>'
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%c %*d  %s", mark, width, e.lines[i].Number, safe(e.lines[i].Expanded())), " "))
	}
	return lines
}

// source writes the source of f.Names[k]. The reason why a file is missing is written only once.
func (p *textWriter) source(f *walk.Frame, k int) {
	e := p.o.Sources.at(f, k)
	switch {
	case e == nil:
	case e.err == nil:
		if text := e.caution(); text != "" {
			p.put("    Source: %s: %s\n", safe(e.path), text)
		}
		for _, line := range e.numbered() {
			if line[0] == '>' {
				line = p.paint(colorBold, line)
			}
			p.put("    %s\n", line)
		}
	case !p.o.Sources.reported[e.err.Error()]:
		p.o.Sources.reported[e.err.Error()] = true
		p.put("    No source: %s\n", safe(e.err.Error()))
	}
}

// docSource is the source around a frame. Why is set if there is none.
type docSource struct {
	Check string   `json:"check,omitempty"` // a name of source.Check
	File  string   `json:"file,omitempty"`  // file that was read
	First uint32   `json:"first,omitempty"` // number of the first of Lines
	Lines []string `json:"lines,omitempty"`
	Why   string   `json:"why,omitempty"`
}

// source returns the source of f.Names[k], or nil.
func (m *documentMaker) source(f *walk.Frame, k int) *docSource {
	e := m.o.Sources.at(f, k)
	if e == nil {
		return nil
	}
	if e.err != nil {
		return &docSource{Why: e.err.Error()}
	}
	doc := &docSource{Check: e.check.String(), File: e.path, First: e.lines[0].Number}
	for i := range e.lines {
		doc.Lines = append(doc.Lines, e.lines[i].Text)
	}
	return doc
}

// maxPageSources limits the source on a page, in bytes.
const maxPageSources = 2 << 20

// source returns the index of the source of f.Names[k] in pageData.Sources, or 0 if there is none.
func (p *pageMaker) source(f *walk.Frame, k int) int {
	e := p.sources.at(f, k)
	if e == nil || p.left.sources <= 0 {
		return 0
	}
	var text string
	if e.err != nil {
		text = "not shown: " + safe(e.err.Error())
	} else {
		lines := e.numbered()
		if caution := e.caution(); caution != "" {
			lines = append([]string{safe(e.path) + ": " + caution}, lines...)
		}
		text = strings.Join(lines, "\n")
	}
	i, ok := p.excerpts[text]
	if !ok {
		i = len(p.data.Sources)
		p.excerpts[text] = i
		p.data.Sources = append(p.data.Sources, text)
		p.left.sources -= sizeInJSON(text)
	}
	return i
}
