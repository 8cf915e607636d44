package house

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// TestMisspelt checks that the message about a misspelt word suggests the right one, for names of commands and
// flags, values of flags, and first operands. The words are those that the commands declare.
func TestMisspelt(t *testing.T) {
	program := cli.NewApp(nil, nil, cli.NewMessages(nil), app.Commands)
	asked := 0
	ask := func(word string, known []string, args ...string) {
		t.Helper()
		wrong := word[:1] + word[2:3] + word[1:2] + word[3:] // two letters exchanged
		if wrong == word || slices.Contains(known, wrong) {
			return
		}
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "WORD", wrong)
		}
		var stdout, stderr bytes.Buffer
		status := app.Run(t.Context(), append([]string{"symtool"}, args...), strings.NewReader(""), &stdout, &stderr)
		asked++
		if said := stderr.String(); status != cli.StatusUsage || !strings.Contains(said, "did you mean ") {
			t.Errorf("symtool %q: status %d, %q: want a question", args, status, said)
		}
	}
	for _, c := range cli.Models(program) {
		if len(c.Name) > 4 {
			ask(c.Name, nil, "WORD")
			ask(c.Name, nil, "help", "WORD")
		}
		operands := 2
		if c.Operands.Kind != cli.TakesNothing {
			operands = 3
		}
		for _, word := range c.Operands.First {
			if len(word) > 3 {
				ask(word, c.Operands.First, []string{c.Name, "WORD", "x"}[:operands]...)
			}
		}
		for _, f := range c.Flags {
			if len(f.Name) > 4 {
				ask(f.Name, nil, c.Name, "--WORD", "x")
			}
			if f.Takes != cli.TakesValues {
				continue
			}
			for _, word := range f.Values {
				if len(word) > 4 && !strings.HasPrefix(word, "SYM") {
					ask(word, f.Values, misspeltValue(t, &c, &f)...)
				}
			}
		}
	}
	if asked < 300 {
		t.Errorf("%d words, want 300", asked)
	}
}

// misspeltValue returns a command line with WORD as the value of a flag, and everything else that the command
// needs.
func misspeltValue(t *testing.T, c *cli.CommandModel, f *cli.FlagModel) []string {
	args := []string{c.Name, "--" + f.Name, "WORD", "a", "b"}
	switch c.Name + " " + f.Name {
	case "convert layout":
		return append(args, "--to-store", "s")
	case "dump vars-types":
		return append(args, "--vars", "all")
	case "lint explain", "version format":
		return args[:3]
	case "walk techniques", "resolve format":
		return append(args[:4], "--symbols", testenv.Input(t))
	}
	switch c.Name {
	case "store":
		return append([]string{c.Name, "add"}, args[1:]...)
	case "upload":
		return append([]string{c.Name, "--protocol", "put"}, append(args[1:3], "http://127.0.0.1:1/", "a")...)
	}
	return args
}
