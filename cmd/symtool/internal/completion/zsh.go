package completion

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
)

// zshCompletion returns the script for zsh: a function _symtool that may be in
// $fpath, or be sourced after compinit.
func zshCompletion(app string, commands []cli.CommandModel) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#compdef %[1]s\n# zsh completion for %[1]s, %[2]s\n\n_%[1]s_commands() {\n    local -a commands=(\n", app, generatedScript)
	for i := range commands {
		fmt.Fprintf(&b, "        %s\n", cli.Quoted(commands[i].Name+":"+zshColons(commands[i].Title)))
	}
	fmt.Fprintf(&b, `    )
    _describe -t commands command commands
}

_%[1]s() {
    local curcontext=$curcontext state line ret=1
    typeset -A opt_args
    _arguments -C -S '(- : *)'{-h,--help}'[print the help]' '(- : *)--version[print the version]' \
        '1: :_%[1]s_commands' '*:: :->operands' && ret=0
    [[ $state == operands ]] || return ret
    curcontext=${curcontext%%:*:*}:%[1]s-$line[1]:
    case $line[1] in
`, app)
	for i := range commands {
		zshCommand(&b, app, &commands[i])
	}
	fmt.Fprintf(&b, "    esac\n    return ret\n}\n\nif [[ $funcstack[1] == _%[1]s ]]; then\n    _%[1]s \"$@\"\nelse\n    compdef _%[1]s %[1]s\nfi\n", app)
	return b.String()
}

// zshCommand writes the case for a command.
func zshCommand(b *strings.Builder, app string, c *cli.CommandModel) {
	fmt.Fprintf(b, "    %s)\n        _arguments -S \\\n", c.Name)
	for i := range c.Flags {
		fmt.Fprintf(b, "            %s \\\n", zshFlag(&c.Flags[i]))
	}
	switch o := c.Operands; {
	case len(o.First) > 0 && o.Kind == cli.TakesNothing:
		fmt.Fprintf(b, "            %s && ret=0 ;;\n", cli.Quoted("1: :("+strings.Join(o.First, " ")+")"))
	case len(o.First) > 0:
		fmt.Fprintf(b, "            %s '*: :_files' && ret=0 ;;\n", cli.Quoted("1: :("+strings.Join(o.First, " ")+")"))
	case o.Kind == cli.TakesFile:
		fmt.Fprintf(b, "            '*: :_files' && ret=0 ;;\n")
	case o.Kind == cli.TakesFolder:
		fmt.Fprintf(b, "            '*: :_files -/' && ret=0 ;;\n")
	default:
		fmt.Fprintf(b, "            && ret=0 ;;\n")
	}
}

// zshFlag returns the flag in the form that _arguments expects.
func zshFlag(f *cli.FlagModel) string {
	names, long := "--"+f.Name, "--"+f.Name
	if f.Takes != cli.TakesNothing {
		long += "="
	}
	var value string
	switch f.Takes {
	case cli.TakesAnything:
		value = ":" + zshColons(f.Value) + ": "
	case cli.TakesFile:
		value = ":" + zshColons(f.Value) + ":_files"
	case cli.TakesFolder:
		value = ":" + zshColons(f.Value) + ":_files -/"
	case cli.TakesValues:
		value = ":" + zshColons(f.Value) + ":(" + strings.Join(f.Values, " ") + ")"
		if f.List {
			value = ":" + zshColons(f.Value) + ":_sequence compadd - " + strings.Join(f.Values, " ")
		}
	}
	text := cli.Quoted("[" + strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`).Replace(oneLine(f)) + "]" + value)
	exclude := ""
	if f.Short != "" {
		names = "-" + f.Short + " " + names
	}
	if f.Repeat {
		exclude = "'*'"
	} else {
		exclude = cli.Quoted("(" + names + ")")
	}
	if f.Short == "" {
		return exclude + long + text
	}
	short := "-" + f.Short
	if f.Takes != cli.TakesNothing {
		short += "+"
	}
	return exclude + "{" + short + "," + long + "}" + text
}

// zshColons returns text with its colons escaped, because a colon ends a field.
func zshColons(text string) string { return strings.ReplaceAll(text, ":", `\:`) }
