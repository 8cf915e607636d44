// Package completion implements symtool completion.
package completion

import (
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
)

const completionDescription = `
The script goes to standard output. It completes commands, flags, the words that
flags take, and the names of files where a file is expected. It does not run
symtool.

  bash    symtool completion bash >~/.local/share/bash-completion/completions/symtool
  zsh     symtool completion zsh >DIR/_symtool, where DIR is in $fpath
  fish    symtool completion fish >~/.config/fish/completions/symtool.fish

To complete in the current shell only, use . <(symtool completion bash), in zsh the
same after compinit, or symtool completion fish | source.
`

// shells lists the shells, each with the function that returns its script.
var shells = []struct {
	name  string
	write func(app string, commands []cli.CommandModel) string
}{
	{"bash", bashCompletion}, {"zsh", zshCompletion}, {"fish", fishCompletion},
}

// Command returns the command symtool completion.
func Command() *cli.Command {
	return &cli.Command{
		Name:        "completion",
		Usage:       "print a script that completes command lines in a shell",
		UsageText:   "symtool completion bash|zsh|fish",
		Description: completionDescription,
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return cli.Usagef("completion", "%d operands, want one: bash, zsh or fish", c.NArg())
			}
			for _, s := range shells {
				if s.name == c.Args().First() {
					return cli.WriteText(c.App.Writer, s.write(c.App.Name, cli.Models(c.App)))
				}
			}
			word := c.Args().First()
			return cli.Usagef("completion", "unknown shell %q, want bash, zsh or fish%s", word, cli.Meant(word, []string{"bash", "zsh", "fish"}))
		},
	}
}

// generatedScript begins each script.
const generatedScript = "made by symtool completion; do not edit"

// oneLine returns the text of a flag up to the first semicolon, for a list of choices.
func oneLine(f *cli.FlagModel) string {
	text := strings.Join(strings.Fields(f.Text), " ")
	text, _, _ = strings.Cut(text, "; ")
	return text
}
