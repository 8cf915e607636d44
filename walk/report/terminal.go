package report

import (
	"strings"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/walk"
)

// Colours of text: SGR sequences.
const (
	colorEnd    = "\x1b[m"
	colorBold   = "\x1b[1m"
	colorDim    = "\x1b[2m"
	colorRed    = "\x1b[31m"
	colorGreen  = "\x1b[32m"
	colorYellow = "\x1b[33m"
)

// paint returns a text in a colour, if there are colours.
func (p *textWriter) paint(color, text string) string {
	if !p.o.Color || text == "" {
		return text
	}
	return color + text + colorEnd
}

// trustColor returns the colour of a frame by how reliably it was found.
func trustColor(t walk.Trust) string {
	switch t {
	case walk.TrustContext, walk.TrustCFI, walk.TrustPrewalked:
		return colorGreen
	case walk.TrustFramePtr, walk.TrustCFIScan:
		return colorYellow
	}
	return colorRed
}

// leastName is the number of columns that a name has at least, however narrow the terminal is.
const leastName = 24

// foldAlways is the length in bytes from which names are folded before anything else: those of hostile symbol files have
// megabytes.
const foldAlways = 4 << 10

// name returns the name of a function in a line that has other columns beside it: with TextOptions.ShortNames without the
// arguments of templates and, if it is still too long, without its own, and cut.
func (p *textWriter) name(name string, beside int) string {
	if !p.o.ShortNames {
		return name
	}
	if len(name) > foldAlways {
		name = strings.ToValidUTF8(name[:foldAlways], "")
	}
	short := text.Fold(name, "<...>", true)
	room := max(p.o.Width-beside, leastName)
	if p.o.Width == 0 || utf8.RuneCountInString(short) <= room {
		return short
	}
	if bare := strings.TrimRight(text.Fold(name, "<...>", false), " "); bare != "" && bare != short {
		short = bare + "(...)"
	}
	if runes := []rune(short); len(runes) > room {
		short = string(runes[:room-3]) + "..."
	}
	return short
}
