package main

import (
	"fmt"
	"strings"
)

// zshCompletion is the script for zsh, a function _symtool that may be in $fpath, or
// sourced behind compinit.
func zshCompletion(app string, commands []manualCommand) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#compdef %[1]s\n# zsh completion for %[1]s, %[2]s\n\n_%[1]s_commands() {\n    local -a commands=(\n", app, generatedScript)
	for i := range commands {
		fmt.Fprintf(&b, "        %s\n", quoted(commands[i].Name+":"+zshColons(commands[i].Title)))
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

// zshCommand writes the case of a command.
func zshCommand(b *strings.Builder, app string, c *manualCommand) {
	fmt.Fprintf(b, "    %s)\n        _arguments -S \\\n", c.Name)
	for i := range c.Flags {
		fmt.Fprintf(b, "            %s \\\n", zshFlag(&c.Flags[i]))
	}
	switch o := c.Operands; {
	case len(o.First) > 0 && o.Kind == takesNothing:
		fmt.Fprintf(b, "            %s && ret=0 ;;\n", quoted("1: :("+strings.Join(o.First, " ")+")"))
	case len(o.First) > 0:
		fmt.Fprintf(b, "            %s '*: :_files' && ret=0 ;;\n", quoted("1: :("+strings.Join(o.First, " ")+")"))
	case o.Kind == takesFile:
		fmt.Fprintf(b, "            '*: :_files' && ret=0 ;;\n")
	case o.Kind == takesFolder:
		fmt.Fprintf(b, "            '*: :_files -/' && ret=0 ;;\n")
	default:
		fmt.Fprintf(b, "            && ret=0 ;;\n")
	}
}

// zshFlag is the flag as _arguments takes it.
func zshFlag(f *manualFlag) string {
	names, long := "--"+f.Name, "--"+f.Name
	if f.Takes != takesNothing {
		long += "="
	}
	var value string
	switch f.Takes {
	case takesAnything:
		value = ":" + zshColons(f.Value) + ": "
	case takesFile:
		value = ":" + zshColons(f.Value) + ":_files"
	case takesFolder:
		value = ":" + zshColons(f.Value) + ":_files -/"
	case takesValues:
		value = ":" + zshColons(f.Value) + ":(" + strings.Join(f.Values, " ") + ")"
		if f.List {
			value = ":" + zshColons(f.Value) + ":_sequence compadd - " + strings.Join(f.Values, " ")
		}
	}
	text := quoted("[" + strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`).Replace(oneLine(f)) + "]" + value)
	exclude := ""
	if f.Short != "" {
		names = "-" + f.Short + " " + names
	}
	if f.Repeat {
		exclude = "'*'"
	} else {
		exclude = quoted("(" + names + ")")
	}
	if f.Short == "" {
		return exclude + long + text
	}
	short := "-" + f.Short
	if f.Takes != takesNothing {
		short += "+"
	}
	return exclude + "{" + short + "," + long + "}" + text
}

// zshColons returns text with its colons escaped: a colon ends a field.
func zshColons(text string) string { return strings.ReplaceAll(text, ":", `\:`) }
