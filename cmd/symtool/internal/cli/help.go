package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// HelpCommand returns the command symtool help.
func HelpCommand() *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "print the help of a command",
		UsageText: "symtool help [COMMAND]",
		Action: func(c *cli.Context) error {
			switch c.NArg() {
			case 0:
				return WriteText(c.App.Writer, appHelp(c.App))
			case 1:
				if command := c.App.Command(c.Args().First()); command != nil {
					return WriteText(c.App.Writer, commandHelp(c.App, command))
				}
				return unknownCommand(c.App, "help", c.Args().First())
			}
			return Usagef("help", "%d operands, want at most one", c.NArg())
		},
	}
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
{{.Name}} COMMAND --help prints the flags of a command, {{.Name}} --version the version.

` + ExitStatusHelp
	commandTemplate = `{{.App}} {{.Name}}: {{.Title}}

Usage:
{{range .Synopsis}}  {{.}}
{{end}}{{with .Text}}
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

// commandHelp returns the text of `symtool COMMAND --help`.
func commandHelp(app *cli.App, command *cli.Command) string {
	var b strings.Builder
	cli.HelpPrinterCustom(&b, commandTemplate, NewModel(app, command), map[string]any{"columns": columns})
	return b.String()
}

// helpColumn is where a flag's text begins.
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
