package cli

import (
	"bufio"
	"io"
	"os"

	"golang.org/x/term"
)

// ColorFlag returns the --color flag, for commands that print coloured text.
func ColorFlag(to *ColorWhen) Flag {
	return OneOf("color", "use colours `WHEN`: auto (default: on a terminal, unless NO_COLOR is\nset), always or never", to, []Word[ColorWhen]{{"auto", colorAuto}, {"always", colorAlways}, {"never", colorNever}})
}

// ColorWhen says when text is coloured.
type ColorWhen uint8

const (
	colorAuto ColorWhen = iota
	colorAlways
	colorNever
)

// Colored reports whether text written to output is coloured.
func (when ColorWhen) Colored(output string, stdout io.Writer) bool {
	if when != colorAuto {
		return when == colorAlways
	}
	return output == "-" && IsTerminal(stdout) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// CreateColored is like CreateOutput, but lets escape sequences through: the text must be safe already.
func CreateColored(path string, stdout io.Writer) (Output, error) {
	if path == "-" {
		return &Stdout{Writer: bufio.NewWriterSize(GoneWriter{W: stdout}, OutputBuffer)}, nil
	}
	return CreateOutput(path, stdout)
}

// Width returns the number of columns if w is a terminal, or else 0.
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
