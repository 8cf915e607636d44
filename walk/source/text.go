package source

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/symtool/symtool/internal/text"
)

// Check says how a file was verified to be the one that was compiled.
type Check uint8

// The checks.
const (
	Unchecked Check = iota // the debug information says nothing about its contents
	BySize                 // only the size is known, and agrees
	ByBuildID              // a server returned it for the build-id of the module
	ByDigest
)

var checkNames = [...]string{"unchecked", "size", "build-id", "digest"}

// String returns the name for machine-readable output.
func (c Check) String() string { return checkNames[c] }

// Text is a source file.
type Text struct {
	Path  string // of the file that was read
	Check Check

	data []byte
}

// Line is a line of a Text.
type Line struct {
	Number uint32 // the first one is 1
	Text   string // without its end; long ones are cut
}

// maxLine is the length in bytes to which a line is cut: generated files have lines of megabytes.
const maxLine = 400

// Around returns a line, with up to n lines before and after it. It returns an error if the text has
// fewer lines.
func (t *Text) Around(line uint32, n int) ([]Line, error) {
	all := bytes.Count(t.data, []byte{'\n'})
	if len(t.data) > 0 && t.data[len(t.data)-1] != '\n' {
		all++
	}
	if line == 0 || uint64(line) > uint64(all) {
		return nil, fmt.Errorf("%s: not the file that was compiled: it has %s, the frame is in line %d", text.Printable(t.Path), text.Count(all, "line"), line)
	}
	first, last := max(1, int(line)-n), min(all, int(line)+n)
	rest := t.data
	for range first - 1 {
		rest = rest[bytes.IndexByte(rest, '\n')+1:]
	}
	lines := make([]Line, 0, last-first+1)
	for number := first; number <= last; number++ {
		var one []byte
		one, rest, _ = bytes.Cut(rest, []byte{'\n'})
		lines = append(lines, Line{uint32(number), cut(string(bytes.TrimSuffix(one, []byte{'\r'})))})
	}
	return lines, nil
}

func cut(line string) string {
	if len(line) <= maxLine {
		return line
	}
	return strings.ToValidUTF8(line[:maxLine], "") + "..."
}

// tabWidth is the distance between tab stops, as on terminals.
const tabWidth = 8

// Expanded returns the line with spaces instead of tabs.
func (l *Line) Expanded() string {
	if !strings.Contains(l.Text, "\t") {
		return l.Text
	}
	var b strings.Builder
	column := 0
	for _, r := range l.Text {
		if r != '\t' {
			b.WriteRune(r)
			column++
			continue
		}
		n := tabWidth - column%tabWidth
		b.WriteString(strings.Repeat(" ", n))
		column += n
	}
	return b.String()
}
