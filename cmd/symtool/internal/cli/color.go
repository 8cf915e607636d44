package cli

import (
	"bufio"
	"io"
	"os"

	"golang.org/x/term"
)

// ColorFlag returns the flag of the commands whose text has colours.
func ColorFlag(to *ColorWhen) Flag {
	return OneOf("color", "use colours `WHEN`: auto (default: on a terminal, unless NO_COLOR is\nset), always or never", to, []Word[ColorWhen]{{"auto", colorAuto}, {"always", colorAlways}, {"never", colorNever}})
}

// ColorWhen says when text has colours.
type ColorWhen uint8

const (
	colorAuto ColorWhen = iota
	colorAlways
	colorNever
)

// Colored reports whether text for an output has colours.
func (when ColorWhen) Colored(output string, stdout io.Writer) bool {
	if when != colorAuto {
		return when == colorAlways
	}
	return output == "-" && IsTerminal(stdout) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// CreateColored is CreateOutput for text with colours, whose escape sequences it lets through: the text is safe by
// itself.
func CreateColored(path string, stdout io.Writer) (Output, error) {
	if path == "-" {
		return &Stdout{Writer: bufio.NewWriterSize(GoneWriter{W: stdout}, OutputBuffer)}, nil
	}
	return CreateOutput(path, stdout)
}

// Width returns the number of columns of a terminal, or 0 if w is not one.
func Width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
