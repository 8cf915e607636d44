package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"

	"github.com/symtool/symtool/internal/text"
)

// lineWriter writes lines of text, in colour if the terminal supports it. It
// escapes control characters, and keeps the first error.
type lineWriter struct {
	w     *bufio.Writer
	color bool
	err   error
}

func newLineWriter(w io.Writer, o Options) *lineWriter {
	return &lineWriter{w: bufio.NewWriter(w), color: o.Color}
}

// Colours.
const (
	noColor = ""
	bold    = "\x1b[1m"
	red     = "\x1b[31m"
	green   = "\x1b[32m"
	yellow  = "\x1b[33m"
	cyan    = "\x1b[36m"
	redBold = "\x1b[1;31m"
	dim     = "\x1b[2m"
)

func (t *lineWriter) linef(color, format string, args ...any) {
	t.line(color, fmt.Sprintf(format, args...))
}

func (t *lineWriter) line(color, line string) {
	line = text.Printable(line)
	if color != "" && t.color {
		line = color + line + "\x1b[m"
	}
	t.w.WriteString(line)
	t.w.WriteByte('\n')
}

// fail records an error, and reports whether there is one.
func (t *lineWriter) fail(err error) bool {
	t.err = cmp.Or(t.err, err)
	return t.err != nil
}

// flush writes what is buffered, and returns the first error.
func (t *lineWriter) flush() error {
	if t.err == nil {
		t.err = t.w.Flush()
	}
	return t.err
}

// signColor returns the colour of a line of a listing.
func signColor(sign byte) string {
	switch sign {
	case '-':
		return red
	case '+':
		return green
	}
	return noColor
}
