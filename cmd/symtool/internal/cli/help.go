package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// Topic is a help text that belongs to no single command.
type Topic struct {
	Name  string
	Title string // one line
	Text  func() string
}

// ExitTopic returns the topic of the exit statuses.
func ExitTopic() Topic {
	return Topic{"exit", "what the exit statuses mean", func() string { return ExitStatusHelp }}
}

// HelpCommand returns the command symtool help, which also prints the topics.
func HelpCommand(topics ...Topic) *cli.Command {
	var names []string
	description := "symtool COMMAND --help prints what fits on a screen, symtool help COMMAND all of it.\n\nTopics:\n"
	for _, t := range topics {
		names = append(names, t.Name)
		description += fmt.Sprintf("  %-11s %s\n", t.Name, t.Title)
	}
	return &cli.Command{
		Name:        "help",
		Usage:       "print the help of a command, or about a topic",
		UsageText:   "symtool help [COMMAND]\nsymtool help " + strings.Join(names, "|"),
		Description: description,
		Action: func(c *cli.Context) error {
			switch c.NArg() {
			case 0:
				return WriteText(c.App.Writer, appHelp(c.App))
			case 1:
				return printHelp(c.App, c.Args().First(), topics)
			}
			return Usagef("help", "%d operands, want at most one", c.NArg())
		},
	}
}

// printHelp prints the help of a command or a topic.
func printHelp(app *cli.App, name string, topics []Topic) error {
	if command := app.Command(name); command != nil {
		m := NewModel(app, command)
		return WriteText(app.Writer, commandHelp(&m))
	}
	known := commandNames(app)
	for _, t := range topics {
		if t.Name == name {
			return WriteText(app.Writer, t.Text())
		}
		known = append(known, t.Name)
	}
	return Usagef("help", "unknown command or topic %q%s", name, DidYouMean(name, known, ""))
}

// ExitStatusHelp lists the exit statuses.
const ExitStatusHelp = `Exit status:
  0  done and clean
  1  done, with findings (lint, doctor, store verify, --check-cfi, --check,
     --compare-cfi, --verify), differences, modules that a store lacks (--missing),
     a store over --max-size, losses of convert (dumps, SFrame, --strict), or
     addresses without symbols
  2  wrong usage
  3  an input was unreadable, damaged or without the information asked for;
     what could be kept was written
  4  the output could not be written
  128+n  ended by signal n: SIGINT, SIGTERM or SIGHUP
With several inputs, the highest status counts.
`

// The templates of the help, for the library's printer.
const (
	appTemplate = `{{.Name}}: {{.Usage}}

Usage:
  {{.Name}} COMMAND [flags] [operands]

Commands:
{{range .Commands}}  {{printf "%-11s %s" .Name .Usage}}
{{end}}
{{.Name}} COMMAND --help prints the flags of a command, {{.Name}} help COMMAND explains them,
{{.Name}} help help lists more topics, {{.Name}} --version prints the version.

` + ExitStatusHelp
	commandTemplate = `{{.App}} {{.Name}}: {{.Title}}

Usage:
{{range .Synopsis}}  {{.}}
{{end}}{{with .Text}}
{{.}}
{{end}}{{with .Examples}}
Examples:
{{.}}
{{end}}{{if .Flags}}
Flags:
{{range .Flags}}{{columns .}}
{{end}}
` + ExitStatusHelp + `{{end}}`
)

// appHelp returns the text of `symtool help`.
func appHelp(app *cli.App) string {
	var b strings.Builder
	cli.HelpPrinterCustom(&b, appTemplate, app, nil)
	return b.String()
}

// commandHelp returns the text of `symtool help COMMAND`.
func commandHelp(m *CommandModel) string {
	var b strings.Builder
	cli.HelpPrinterCustom(&b, commandTemplate, m, map[string]any{"columns": columns})
	return b.String()
}

// helpColumn is the column in which a flag's text begins.
const helpColumn = 27

// columns formats a flag with its text beside it, or below it if the flag is long.
func columns(f FlagModel) string {
	head := "  " + f.Head()
	if f.Short == "" {
		head = "      " + f.Head()
	}
	margin := "\n" + strings.Repeat(" ", helpColumn)
	if len(head) > helpColumn-2 {
		head += margin
	}
	return fmt.Sprintf("%-*s", helpColumn, head) + strings.ReplaceAll(f.Text, "\n", margin)
}
