package house

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
)

// TestHelpFitsAScreen checks that the output of --help fits on a screen of 40 lines of 80
// columns, names every flag, and has two examples unless it is all of the command's help.
func TestHelpFitsAScreen(t *testing.T) {
	program := cli.NewApp(nil, nil, cli.NewMessages(nil), app.Commands)
	brief := 0
	for _, c := range cli.Models(program) {
		text, whole := printed(t, c.Name, "--help"), printed(t, "help", c.Name)
		if n := strings.Count(text, "\n"); n > 40 {
			t.Errorf("%s --help has %d lines, want at most 40", c.Name, n)
		}
		for _, f := range c.Flags {
			if !strings.Contains(text, f.Head()) {
				t.Errorf("%s --help does not name %s: it belongs to a group in cmd/symtool/internal/cli/brief.go", c.Name, f.Head())
			}
			if !strings.Contains(whole, f.Head()) {
				t.Errorf("help %s does not name %s", c.Name, f.Head())
			}
		}
		if text == whole {
			continue
		}
		brief++
		for line := range strings.Lines(text) {
			if n := len(line) - 1; n > 80 && !strings.HasPrefix(line, "symtool ") {
				t.Errorf("%s --help: %d columns, want at most 80: %s", c.Name, n, line)
			}
		}
		checkExamples(t, program, &c)
	}
	if brief < 8 {
		t.Errorf("only %d commands have a short help, want 8 or more", brief)
	}
}

// checkExamples checks that a command has two examples, and that these use only flags that it
// has.
func checkExamples(t *testing.T, app *cli.App, c *cli.CommandModel) {
	t.Helper()
	examples := strings.Split(c.Examples, "\n")
	if len(examples) != 2 {
		t.Errorf("%s: %d examples, want 2: %q", c.Name, len(examples), c.Examples)
	}
	for _, line := range examples {
		if !strings.HasPrefix(line, "  symtool "+c.Name+" ") || len(line) > 80 {
			t.Errorf("%s: the example is %q, want at most 80 columns that begin with its name", c.Name, line)
		}
		for word := range strings.FieldsSeq(line) {
			if flag, is := strings.CutPrefix(word, "--"); is && !knownFlag(app, c.Name, flag) {
				t.Errorf("%s: the example %q has the unknown flag --%s", c.Name, line, flag)
			}
		}
	}
}

// TestHelpTopics checks that no topic has the name of a command, and that the text of each
// fits on a terminal.
func TestHelpTopics(t *testing.T) {
	program := cli.NewApp(nil, nil, cli.NewMessages(nil), app.Commands)
	_, topics, _ := strings.Cut(printed(t, "help", "help"), "\nTopics:\n")
	names := 0
	for line := range strings.Lines(topics) {
		names++
		name := strings.Fields(line)[0]
		if program.Command(name) != nil {
			t.Errorf("%s is a topic and a command", name)
		}
		for line := range strings.Lines(printed(t, "help", name)) {
			if n := len(line) - 1; n > 110 || strings.Contains(line, "`") {
				t.Errorf("help %s: %d columns, want at most 110 without markup: %s", name, n, line)
			}
		}
	}
	if names != 3 {
		t.Errorf("%d topics, want 3:\n%s", names, topics)
	}
}

// printed returns the output of the program for args, and fails if there is none.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var stdout bytes.Buffer
	if status := app.Run(t.Context(), append([]string{"symtool"}, args...), strings.NewReader(""), &stdout, io.Discard); status != cli.StatusOK || stdout.Len() == 0 {
		t.Fatalf("symtool %q: status %d, %d bytes; want 0 and some", args, status, stdout.Len())
	}
	return stdout.String()
}
