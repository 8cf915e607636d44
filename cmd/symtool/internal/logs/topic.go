package logs

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
)

// Topic returns the help topic about the places in logs that resolve --filter replaces.
func Topic() cli.Topic {
	return cli.Topic{Name: "filters", Title: "which places in logs resolve --filter replaces", Text: topic}
}

// topic returns the table of forms as text.
func topic() string {
	var b strings.Builder
	b.WriteString("Places in logs that symtool resolve --filter replaces with function, file and line.\n" +
		"NAME is a module's name or path, ADDR a hexadecimal number. In crash reports of\n" +
		"Apple's systems that are JSON (.ips), frames get members with these.\n")
	plain := strings.NewReplacer("`", "")
	from, counts := "", ""
	for _, f := range Forms() {
		// In the table of the documentation, a row may refer to the row above.
		from, counts = same(f.From, from), same(f.Counts, counts)
		fmt.Fprintf(&b, "\n  %s\n      from         %s\n      counts from  %s\n", plain.Replace(f.Text), plain.Replace(from), plain.Replace(counts))
	}
	return b.String()
}

// same returns the text of a table cell, in which "the same" at the start stands for the
// text of the cell above.
func same(text, above string) string {
	if rest, ok := strings.CutPrefix(text, "the same"); ok {
		return above + rest
	}
	return text
}
