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

// paint returns a text in a colour if colours are enabled.
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

// leastName is the minimum number of columns for a name, however narrow the terminal is.
const leastName = 24

// foldAlways is the length in bytes above which names are folded before anything else: hostile symbol files have names
// of megabytes.
const foldAlways = 4 << 10

// name returns the name of a function for a line whose other columns take beside columns. With TextOptions.ShortNames
// it omits the arguments of templates and, if the name is still too long, the function's own arguments, and finally
// cuts the name.
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
