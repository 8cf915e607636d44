package lint

import (
	"fmt"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/finding"
)

// lintPages prints documentation of rules; done is false if none was requested.
func lintPages(c *cli.Context) (done bool, err error) {
	asked := ""
	for _, name := range []string{"explain", "list", "docs"} {
		if !c.IsSet(name) {
			continue
		}
		if asked != "" {
			return false, cli.Usagef("lint", "--%s and --%s exclude each other", asked, name)
		}
		asked = name
	}
	if asked == "" {
		return false, nil
	}
	if err := aloneIn(c, asked); err != nil {
		return false, cli.Usagef("lint", "%v", err)
	}
	text, err := lintPage(c, asked)
	if err != nil {
		return false, cli.Usagef("lint", "%v", err)
	}
	return true, cli.WriteText(c.App.Writer, text)
}

// aloneIn checks that a flag that needs no files is used alone.
func aloneIn(c *cli.Context, asked string) error {
	if c.Args().Present() {
		return fmt.Errorf("--%s takes no FILE", asked)
	}
	for _, name := range c.LocalFlagNames() {
		if name != asked && c.IsSet(name) {
			return fmt.Errorf("--%s and --%s exclude each other", asked, name)
		}
	}
	return nil
}

func lintPage(c *cli.Context, asked string) (string, error) {
	if asked == "explain" {
		text, ok := lint.ExplainAll(c.String("explain"))
		if !ok {
			return "", unknownRule(c.String("explain"))
		}
		return text, nil
	}
	if !c.Bool(asked) {
		return "", fmt.Errorf("--%s=false has no effect: leave it out", asked)
	}
	if asked == "list" {
		return lint.List(), nil
	}
	return lint.Page(), nil
}

// unknownRule returns the error for a word that stands for no rules.
func unknownRule(word string) error {
	known := []string{"all"}
	for _, f := range finding.Families {
		known = append(known, f.Name)
	}
	return fmt.Errorf("unknown rule %q%s", word, cli.DidYouMean(word, known, "--list prints all rules"))
}
