package main

import (
	"bufio"
	"io"
)

// diffFormat is an output format of diff: a key of diffreport.Forms.
type diffFormat struct {
	name   string
	flag   bool // asked for by a flag of its own, not --format
	detail bool // it has more with --detail
}

var diffFormats = []diffFormat{
	{name: formatText, detail: true},
	{name: formatJSON, detail: true},
	{name: "html"},
	{name: "raw", flag: true},
	{name: "stat", flag: true},
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
