package cli

import (
	"bufio"
	"io"
	"os"

	"golang.org/x/term"
)

// ColorFlag returns the flag of the commands whose text has colours.
func ColorFlag() Flag {
	return Words(&StringFlag{Name: "color", Usage: "use colours `WHEN`: auto (default: on a terminal, unless NO_COLOR is\nset), always or never", Value: "auto"}, "auto", "always", "never")
}

// Colored reports whether text for an output has colours, by --color.
func Colored(c *Context, output string, stdout io.Writer) bool {
	if when := c.String("color"); when != "auto" {
		return when == "always"
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
