package completion

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
)

// bashCompletion returns the script for bash 4 and later. It does not need bash-completion.
//
// Bash divides words at "=": --format=js becomes --format, = and js. The script
// leaves names of files and folders to bash, which completes them because of -o
// in complete; compopt turns this off where names are not wanted.
func bashCompletion(app string, commands []cli.CommandModel) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# bash completion for %s, %s\n\n", app, generatedScript)
	fmt.Fprintf(&b, `# _%[1]s_words WORD...: those that begin as what is typed
_%[1]s_words() {
    local IFS=$'\n'
    compopt +o default
    COMPREPLY=($(compgen -W "$*" -- "$cur"))
}

# _%[1]s_list WORD...: the same behind the last comma of a list
_%[1]s_list() {
    local before=
    [[ $cur == *,* ]] && before=${cur%%,*},
    local IFS=$'\n'
    compopt +o default -o nospace
    COMPREPLY=($(compgen -P "$before" -W "$*" -- "${cur##*,}"))
}

_%[1]s_folders() { compopt +o default -o dirnames; }
_%[1]s_nothing() { compopt +o default; }

`, app)
	fmt.Fprintf(&b, `_%[1]s() {
    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} word i
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _%[1]s_words %[2]s --help --version
        return
    fi
    if [[ $cur == = ]]; then
        cur=
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == -- ]]; then
            return
        fi
    done
    case ${COMP_WORDS[1]} in
`, app, strings.Join(commandNames(commands), " "))
	for i := range commands {
		bashCommand(&b, app, &commands[i])
	}
	fmt.Fprintf(&b, "    *)\n        _%[1]s_nothing ;;\n    esac\n}\n\ncomplete -o default -F _%[1]s %[1]s\n", app)
	return b.String()
}

func commandNames(commands []cli.CommandModel) (names []string) {
	for i := range commands {
		names = append(names, commands[i].Name)
	}
	return names
}

// bashCommand writes the case for a command.
func bashCommand(b *strings.Builder, app string, c *cli.CommandModel) {
	fmt.Fprintf(b, "    %s)\n", c.Name)
	var flags []string
	fmt.Fprintf(b, "        case $before in\n")
	for i := range c.Flags {
		f := &c.Flags[i]
		names := "--" + f.Name
		flags = append(flags, names)
		if f.Short != "" {
			names = "-" + f.Short + " | " + names
		}
		if do := bashValue(app, f); do != "" {
			fmt.Fprintf(b, "        %s)\n            %s\n            return ;;\n", names, do)
		}
	}
	fmt.Fprintf(b, "        esac\n        case $cur in\n")
	if len(flags) > 0 {
		fmt.Fprintf(b, "        -*)\n            _%s_words %s ;;\n", app, strings.Join(flags, " "))
	}
	fmt.Fprintf(b, "        *)\n")
	switch o := c.Operands; {
	case len(o.First) > 0:
		// Words are only for the first operand; any files follow it.
		fmt.Fprintf(b, "            ((COMP_CWORD == 2)) && _%[1]s_words %[2]s && return\n", app, strings.Join(o.First, " "))
		if o.Kind == cli.TakesNothing {
			fmt.Fprintf(b, "            _%s_nothing ;;\n", app)
		} else {
			fmt.Fprintf(b, "            ;;\n")
		}
	case o.Kind == cli.TakesFolder:
		fmt.Fprintf(b, "            _%s_folders ;;\n", app)
	case o.Kind == cli.TakesNothing:
		fmt.Fprintf(b, "            _%s_nothing ;;\n", app)
	default:
		fmt.Fprintf(b, "            ;;\n")
	}
	fmt.Fprintf(b, "        esac ;;\n")
}

// bashValue returns the completion of a flag's value, or "" if it takes none.
func bashValue(app string, f *cli.FlagModel) string {
	switch f.Takes {
	case cli.TakesAnything:
		return "_" + app + "_nothing"
	case cli.TakesFile:
		return ":"
	case cli.TakesFolder:
		return "_" + app + "_folders"
	case cli.TakesValues:
		do := "_words "
		if f.List {
			do = "_list "
		}
		return "_" + app + do + strings.Join(f.Values, " ")
	}
	return ""
}
