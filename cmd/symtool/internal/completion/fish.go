package completion

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
)

// fishCompletion returns the script for fish 3 and later.
func fishCompletion(app string, commands []cli.CommandModel) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# fish completion for %[1]s, %[2]s

# Is the first operand one of these commands?
function __%[1]s_command
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end

# Is there a command, and nothing behind it?
function __%[1]s_first
    set -l words (commandline -opc)
    test (count $words) -eq 2; and contains -- $words[2] $argv
end

function __%[1]s_no_command
    test (count (commandline -opc)) -eq 1
end

# The words behind the last comma of a list
function __%[1]s_list
    set -l before (string match -r '^(?:--[^=]*=)?(.*,)' -- (commandline -ct))[2]
    set -q before[1]; or set before ''
    printf '%%s\n' $before$argv
end

complete -c %[1]s -f
complete -c %[1]s -n __%[1]s_no_command -s h -l help -d 'print the help'
complete -c %[1]s -n __%[1]s_no_command -l version -d 'print the version'
`, app, generatedScript)
	for i := range commands {
		c := &commands[i]
		fmt.Fprintf(&b, "complete -c %[1]s -n __%[1]s_no_command -a %[2]s -d %[3]s\n", app, c.Name, fishQuoted(c.Title))
	}
	for i := range commands {
		fishCommand(&b, app, &commands[i])
	}
	return b.String()
}

// fishCommand writes the lines of a command.
func fishCommand(b *strings.Builder, app string, c *cli.CommandModel) {
	fmt.Fprintf(b, "\n")
	when := fmt.Sprintf("complete -c %[1]s -n '__%[1]s_command %[2]s'", app, c.Name)
	for i := range c.Flags {
		f := &c.Flags[i]
		line := when
		if f.Short != "" {
			line += " -s " + f.Short
		}
		line += " -l " + f.Name + fishValue(app, f)
		fmt.Fprintf(b, "%s -d %s\n", line, fishQuoted(oneLine(f)))
	}
	if len(c.Operands.First) > 0 {
		fmt.Fprintf(b, "complete -c %[1]s -n '__%[1]s_first %[2]s' -a %[3]s\n", app, c.Name, fishQuoted(strings.Join(c.Operands.First, " ")))
	}
	switch c.Operands.Kind {
	case cli.TakesFile:
		fmt.Fprintf(b, "%s -F\n", when)
	case cli.TakesFolder:
		fmt.Fprintf(b, "%s -a '(__fish_complete_directories)'\n", when)
	}
}

// fishValue returns the part of a fish script that describes a flag's value.
func fishValue(app string, f *cli.FlagModel) string {
	switch f.Takes {
	case cli.TakesAnything:
		return " -x"
	case cli.TakesFile:
		return " -r -F"
	case cli.TakesFolder:
		return " -x -a '(__fish_complete_directories)'"
	case cli.TakesValues:
		if f.List {
			return " -x -a " + fishQuoted("(__"+app+"_list "+strings.Join(f.Values, " ")+")")
		}
		return " -x -a " + fishQuoted(strings.Join(f.Values, " "))
	}
	return ""
}

// fishQuoted returns text as one word for fish.
func fishQuoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
