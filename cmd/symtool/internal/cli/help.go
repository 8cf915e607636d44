package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// HelpCommand is symtool help.
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
				return Usagef("help", "unknown command %q", c.Args().First())
			}
			return Usagef("help", "%d operands, want at most one", c.NArg())
		},
	}
}

// ExitStatusHelp lists the exit statuses.
const ExitStatusHelp = `Exit status:
  0  done and clean
  1  done, with findings of lint, doctor, store verify, --check-cfi, --check,
     --compare-cfi or --verify, differences, modules that a store lacks
     (--missing), more than --max-size, what convert loses of dumps and SFrame or
     would lose with --strict, or addresses without symbols
  2  wrong usage
  3  an input was unreadable, damaged or without the information asked for;
     what could be kept was written
  4  the output could not be written
  128 and the signal's number after SIGINT, SIGTERM or SIGHUP
With several inputs the highest counts.
`

// appHelp is the text of `symtool help`.
func appHelp(app *cli.App) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\nUsage:\n  %s COMMAND [flags] [operands]\n\nCommands:\n", app.Name, app.Usage, app.Name)
	for _, c := range app.Commands {
		fmt.Fprintf(&b, "  %-11s %s\n", c.Name, c.Usage)
	}
	fmt.Fprintf(&b, "\n%s COMMAND --help prints the flags of a command, %s --version the version.\n\n%s",
		app.Name, app.Name, ExitStatusHelp)
	return b.String()
}

// commandHelp is the text of `symtool COMMAND --help`.
func commandHelp(app *cli.App, command *cli.Command) string {
	c := NewModel(app, command)
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s\n\nUsage:\n", app.Name, c.Name, c.Title)
	for _, line := range c.Synopsis {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	if c.Text != "" {
		fmt.Fprintf(&b, "\n%s\n", c.Text)
	}
	if len(c.Flags) == 0 {
		return b.String()
	}
	b.WriteString("\nFlags:\n")
	for i := range c.Flags {
		writeFlag(&b, &c.Flags[i])
	}
	fmt.Fprintf(&b, "\n%s", ExitStatusHelp)
	return b.String()
}

// helpColumn is where a flag's text begins.
const helpColumn = 27

// writeFlag prints one flag.
func writeFlag(b *strings.Builder, f *FlagModel) {
	head := "  " + f.Head()
	if f.Short == "" {
		head = "      " + f.Head()
	}
	if len(head) > helpColumn-2 {
		fmt.Fprintln(b, head)
		head = ""
	}
	for line := range strings.Lines(f.Text) {
		fmt.Fprintf(b, "%-*s%s", helpColumn, head, line)
		head = ""
	}
	b.WriteString("\n")
}
