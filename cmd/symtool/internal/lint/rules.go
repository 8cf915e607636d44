package lint

import (
	"fmt"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/finding"
)

// rulePage holds the values of the flags that print documentation of rules.
type rulePage struct {
	explain    string
	list, docs bool
}

// flags returns these flags. Each must be used alone.
func (p *rulePage) flags(rules []string) []cli.Flag {
	return []cli.Flag{
		cli.Hints(cli.Text("explain", "print the explanation of the rule `ID`, or the rules of a family or\nof a prefix of IDs", &p.explain, alone), rules...),
		cli.Switch("list", "print all rules", &p.list, alone),
		cli.Switch("docs", "print the page about all rules in Markdown", &p.docs, alone),
	}
}

// alone is the condition of a flag that allows no other flags and no operands.
func alone(c *cli.Context, flag string) error {
	if c.Args().Present() {
		return fmt.Errorf("--%s takes no FILE", flag)
	}
	for _, other := range cli.Given(c) {
		if other != flag {
			return fmt.Errorf("--%s and --%s exclude each other", flag, other)
		}
	}
	return nil
}

func (p *rulePage) asked() bool { return p.list || p.docs || p.explain != "" }

func (p *rulePage) print(c *cli.Context) error {
	text := lint.Page()
	switch {
	case p.list:
		text = lint.List()
	case p.explain != "":
		var ok bool
		if text, ok = lint.ExplainAll(p.explain); !ok {
			return cli.Usagef("lint", "%v", unknownRule(p.explain))
		}
	}
	return cli.WriteText(c.App.Writer, text)
}

// unknownRule returns the error for a word that does not stand for any rules.
func unknownRule(word string) error {
	known := []string{"all"}
	for _, f := range finding.Families {
		known = append(known, f.Name)
	}
	return fmt.Errorf("unknown rule %q%s", word, cli.DidYouMean(word, known, "--list prints all rules"))
}
