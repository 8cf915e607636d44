package house

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
)

// reference returns docs/reference.md, which describes all commands and flags.
func reference(app *cli.App, commands []cli.CommandModel) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: reference\n\nMade from the flags of the program: do not edit. `%s help COMMAND` prints the same.\n\n| command | |\n|---|---|\n", app.Name, app.Name)
	for i := range commands {
		c := &commands[i]
		fmt.Fprintf(&b, "| [`%s %s`](#%s-%s) | %s |\n", app.Name, c.Name, app.Name, c.Name, markdown(c.Title))
	}
	for i := range commands {
		commandMarkdown(&b, app.Name, &commands[i])
	}
	b.WriteString("\n## Exit status\n\n| status | |\n|---|---|\n")
	for _, s := range exitStatuses() {
		if s.status != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", s.status, markdown(s.text))
		} else {
			fmt.Fprintf(&b, "\n%s\n", markdown(s.text))
		}
	}
	return b.String()
}

// commandMarkdown writes the chapter of a command.
func commandMarkdown(b *strings.Builder, app string, c *cli.CommandModel) {
	fmt.Fprintf(b, "\n## %s %s\n\n%s.\n\n```text\n%s\n```\n", app, c.Name, sentence(c.Title), strings.Join(c.Synopsis, "\n"))
	if c.Text != "" {
		fmt.Fprintf(b, "\n```text\n%s\n```\n", c.Text)
	}
	if c.Examples != "" {
		fmt.Fprintf(b, "\n```text\n%s\n```\n", c.Examples)
	}
	if len(c.Flags) == 0 {
		return
	}
	b.WriteString("\n| flag | |\n|---|---|\n")
	for i := range c.Flags {
		f := &c.Flags[i]
		fmt.Fprintf(b, "| `%s` | %s |\n", strings.ReplaceAll(f.Head(), "|", `\|`), markdown(f.Text))
	}
}

// sentence returns text with a capital first letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// markdown returns text on one line, with everything escaped that would be
// markup.
func markdown(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "[", `\[`, "$", `\$`).Replace(text)
}
