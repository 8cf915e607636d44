package house

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/testenv"
)

// pictured lists the commands of the README's picture, each with the document that shows it.
var pictured = []struct{ document, command string }{
	{"docs/crash-pipeline.md", "symtool walk --brief --symbols symbols walk-sources.core.gz"},
	{"docs/build-engineer.md", "symtool lint --binary app app.sym"},
	{"docs/build-engineer.md", "symtool diff --stat --fail-on regression app.sym old.sym"},
}

// TestPicture checks that the README's picture agrees with the documents, whose commands TestDocs
// runs. GOLDIE_UPDATE=1 draws it again.
func TestPicture(t *testing.T) {
	var lines []string
	for _, p := range pictured {
		c := commandOf(t, readDocument(t, p.document), p.command)
		lines = append(append(append(lines, "$ "+p.command), c.output...), "")
	}
	want := terminalSVG(lines[:len(lines)-1])
	if len(want) > 100_000 {
		t.Errorf("the picture has %d bytes", len(want))
	}
	path := filepath.Join(testenv.Root(t), "docs", "terminal.svg")
	if testenv.Updating() {
		if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("docs/terminal.svg differs from the documents (%v): GOLDIE_UPDATE=1 go test ./cmd/symtool/internal/house -run TestPicture draws it", err)
	}
}

// commandOf returns a command in the blocks of a document that are run.
func commandOf(t *testing.T, d *document, command string) *docCommand {
	t.Helper()
	for _, b := range d.blocks {
		for _, c := range b.commands {
			if b.norun == "" && strings.Join(c.script, "\n") == command {
				return c
			}
		}
	}
	t.Fatalf("%s does not show %s", d.name, command)
	return nil
}

const (
	terminalColumns = 100
	terminalLine    = 18 // pixels
	terminalCell    = 8  // pixels
	terminalMargin  = 14 // pixels
)

// terminalSVG draws lines in a terminal of 100 columns, one after the other, or all at once if
// the viewer has no animation or its user does not want it.
func terminalSVG(lines []string) string {
	var text strings.Builder
	row, delay := 0, 0.0
	for _, line := range lines {
		class := "o"
		if strings.HasPrefix(line, "$ ") {
			class = "c"
			delay += 0.8
		}
		for _, part := range wrapped(line, terminalColumns) {
			row++
			if part != "" {
				fmt.Fprintf(&text, "<text class=\"%s\" x=\"%d\" y=\"%d\" style=\"animation-delay:%.2fs\">%s</text>\n",
					class, terminalMargin, terminalMargin+row*terminalLine-4, delay, html.EscapeString(part))
			}
		}
		delay += 0.08
	}
	width, height := terminalColumns*terminalCell+2*terminalMargin, row*terminalLine+2*terminalMargin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d">
<style>
rect { fill: #16181d }
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #c9d1d9; white-space: pre; animation: hide 0.01s backwards }
.c { fill: #7ee787 }
@keyframes hide { from { opacity: 0 } }
@media (prefers-reduced-motion: reduce) { text { animation: none } }
</style>
<rect width="100%%" height="100%%" rx="8"/>
%[3]s</svg>
`, width, height, text.String())
}

// wrapped splits a line like a terminal with the given number of columns.
func wrapped(line string, columns int) (parts []string) {
	runes := []rune(line)
	for len(runes) > columns {
		parts, runes = append(parts, string(runes[:columns])), runes[columns:]
	}
	return append(parts, string(runes))
}

// TestTerminalSVG checks that the picture escapes what SVG reads as markup, and wraps long lines.
func TestTerminalSVG(t *testing.T) {
	svg := terminalSVG([]string{"$ a <b>", strings.Repeat("é", terminalColumns) + "tail"})
	for _, want := range []string{`class="c"`, "$ a &lt;b&gt;", ">tail</text>"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture lacks %s:\n%s", want, svg)
		}
	}
	if !utf8.ValidString(svg) || strings.Count(svg, "<text ") != 3 {
		t.Errorf("want 3 lines in the picture:\n%s", svg)
	}
}
