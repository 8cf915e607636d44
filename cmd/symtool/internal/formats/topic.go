package formats

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
)

// Topic returns the help topic about the formats that convert reads and writes.
func Topic() cli.Topic {
	return cli.Topic{Name: "formats", Title: "which formats are read and written", Text: topic}
}

// topic returns the table of formats as text.
func topic() string {
	var b strings.Builder
	b.WriteString("Formats of symtool convert: names for --from and --to, and extensions\n\n")
	for _, f := range All() {
		fmt.Fprintf(&b, "  %s\n", strings.TrimRight(fmt.Sprintf("%-10s %-5s %-6s %-28s %s",
			f.Name, word(f.Reads(), "read"), word(f.Writes(), "write"), f.Title, strings.Join(f.Exts, " ")), " "))
	}
	b.WriteString(`
A format is detected from a file's content, or else from its name, unless --from
names it. dump, diff and doctor read binaries, too; walk and inspect read dumps.
What a format cannot hold is reported, and refused with --strict.
`)
	return b.String()
}

// word returns w if is is true, or else a dash.
func word(is bool, w string) string {
	if is {
		return w
	}
	return "-"
}
