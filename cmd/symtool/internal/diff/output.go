package diff

import (
	"bufio"
	"io"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
)

// diffFormat is an output format of diff: a key of diffreport.Forms.
type diffFormat struct {
	name   string
	flag   bool // asked for by a flag of its own, not --format
	detail bool // it has more with --detail
}

var diffFormats = []diffFormat{
	{name: cli.FormatText, detail: true},
	{name: cli.FormatJSON, detail: true},
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
func newColored(w io.Writer) *cli.Stdout {
	return &cli.Stdout{Writer: bufio.NewWriterSize(cli.GoneWriter{W: w}, cli.OutputBuffer)}
}
