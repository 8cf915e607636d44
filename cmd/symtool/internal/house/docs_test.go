package house

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/lint"
)

// TestFlagsAreDocumented checks that the table in the README has every command, and that
// the reference has every flag in the chapter of its command.
func TestFlagsAreDocumented(t *testing.T) {
	commands, reference := chapter(t, readDocument(t, "README.md"), "Commands"), readDocument(t, "docs/reference.md")
	for _, c := range cli.NewApp(nil, nil, cli.NewMessages(nil), app.Commands).Commands {
		if !strings.Contains(commands, "| `symtool "+c.Name+"` |") {
			t.Errorf("the README's table of commands lacks symtool %s", c.Name)
		}
		flags := chapter(t, reference, "symtool "+c.Name)
		for _, f := range c.Flags {
			if !regexp.MustCompile("(?m)^\\| `(-\\w, )?--" + f.Names()[0] + "\\b").MatchString(flags) {
				t.Errorf("docs/reference.md does not document --%s of %s", f.Names()[0], c.Name)
			}
		}
	}
}

// TestDocRules checks that the documents have the number of lint's rules.
func TestDocRules(t *testing.T) {
	want := fmt.Sprintf("%d rules", len(lint.Rules()))
	for _, name := range []string{"README.md", "docs/checks.md", "CHANGELOG.md"} {
		if !strings.Contains(string(testenv.ReadFile(t, testenv.Root(t), name)), want) {
			t.Errorf("%s does not say that lint has %s", name, want)
		}
	}
}

// TestDocFigures checks that a figure in a document's output that depends on the version
// of another tool counts as a difference, unless the document omits it.
func TestDocFigures(t *testing.T) {
	const got = "symtool: /lib/x86_64-linux-gnu/libc.so.6: 3687 functions, 3930 inlines"
	for want, same := range map[string]bool{
		got: true,
		"symtool: /lib/x86_64-linux-gnu/libc.so.6: ... functions, ... inlines":   true,
		"symtool: /lib/x86_64-linux-gnu/libc.so.6: 3686 functions, 3930 inlines": false,
	} {
		if sameElsewhere(want, got) != same {
			t.Errorf("%q beside %q: %v", want, got, !same)
		}
	}
}
