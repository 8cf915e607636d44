package main

import (
	"bufio"
	"io"

	"github.com/symtool/symtool/symfmt/symdiff"
)

// diffFormat is a form in which diff writes.
type diffFormat struct {
	name  string
	flag  bool // asked for by a flag of its own, not --format
	write func(w io.Writer, r *symdiff.Result, o symdiff.TextOptions) error
}

var diffFormats = []diffFormat{
	{name: formatText, write: symdiff.WriteText},
	{name: formatJSON, write: func(w io.Writer, r *symdiff.Result, _ symdiff.TextOptions) error { return symdiff.WriteJSON(w, r) }},
	{name: "html", write: func(w io.Writer, r *symdiff.Result, _ symdiff.TextOptions) error { return symdiff.WriteHTML(w, r) }},
	{name: "raw", flag: true, write: symdiff.WriteRaw},
	{name: "stat", flag: true, write: symdiff.WriteStat},
}

// diffFormatNames are the values of --format.
func diffFormatNames() (names []string) {
	for _, f := range diffFormats {
		if !f.flag {
			names = append(names, f.name)
		}
	}
	return names
}

// newColored is standard output for text with colours, which is safe by itself.
func newColored(w io.Writer) *stdout {
	return &stdout{Writer: bufio.NewWriterSize(goneWriter{w}, outputBuffer)}
}
