package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/symtool/symtool/internal/closest"
)

// DidYouMean returns the end of a message about an unknown word. It consists of a question with the known word that is
// most similar, if one is similar enough, and the hint, if any.
func DidYouMean(word string, known []string, hint string) string {
	end := ""
	if best := closest.Word(word, known); best != "" {
		end = "did you mean " + best + "?"
	}
	if end = Spaced(end, hint); end != "" {
		end = ": " + end
	}
	return end
}

// Meant is like DidYouMean, for the end of a message that already lists the words.
func Meant(word string, known []string) string { return closest.Meant(word, known) }

// unknownCommand returns the error for a word that is not a command.
func unknownCommand(app *cli.App, word string) error {
	if instead := peerCommand(word); instead != "" {
		return Usagef("", "unknown command %q: %s", word, instead)
	}
	return Usagef("", "unknown command %q%s", word, DidYouMean(word, commandNames(app), ""))
}

// commandNames returns the names of the program's commands.
func commandNames(app *cli.App) (names []string) {
	for _, c := range app.Commands {
		names = append(names, c.Name)
	}
	return names
}

// flagMeant is like DidYouMean, for the name of a flag, without dashes.
func flagMeant(name string, flags []cli.Flag) string {
	names := []string{"help"}
	for _, f := range flags {
		names = append(names, f.Names()[0])
	}
	if best := closest.Word(name, names); best != "" {
		return ": did you mean --" + best + "?"
	}
	return ""
}

// rootFlag returns the error for arg, a flag where a command was expected. It names the commands that have the flag.
// For a flag of a program that symtool replaces, it names the commands that have something instead.
func rootFlag(app *cli.App, arg string) error {
	arg, _, _ = strings.Cut(arg, "=")
	name := strings.TrimLeft(arg, "-")
	if name == "help" || name == "h" || slices.ContainsFunc(app.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) }) {
		return Usagef("", "flag %s takes no value", arg)
	}
	var answers []string
	commands := map[string][]string{} // by answer
	flags := slices.Clone(app.Flags)
	for _, c := range app.Commands {
		flags = append(flags, c.Flags...)
		answer := peerFlag(c, name)
		if hasFlag(c, name) {
			answer = "use " + arg
		}
		if answer == "" {
			continue
		}
		if commands[answer] == nil {
			answers = append(answers, answer)
		}
		commands[answer] = append(commands[answer], c.Name)
	}
	if programs := optionOf("", name); len(answers) == 0 && programs != "" {
		return Usagef("", "unknown flag %s: %s", arg, programs)
	}
	if len(answers) == 0 {
		return Usagef("", "unknown flag %s%s", arg, flagMeant(name, flags))
	}
	for i, answer := range answers {
		answers[i] = firstFew(commands[answer]) + ": " + answer
	}
	return Usagef("", "unknown flag %s: a command comes first; %s", arg, strings.Join(answers, "; "))
}

// firstFew lists the first of names, and the number of the others.
func firstFew(names []string) string {
	if few := 3; len(names) > few {
		return fmt.Sprintf("%s and %d others", strings.Join(names[:few], ", "), len(names)-few)
	}
	return strings.Join(names, ", ")
}

// unknownFlag returns the error for arg, a flag that command does not have. For a flag of a program that symtool
// replaces, it says what to use instead.
func unknownFlag(command *cli.Command, arg string) error {
	arg, _, _ = strings.Cut(arg, "=")
	name := strings.TrimLeft(arg, "-")
	if name == "help" || name == "h" {
		return Usagef(command.Name, "flag %s takes no value", arg)
	}
	instead := peerFlag(command, name)
	if instead == "" {
		instead = optionOf(command.Name, name)
	}
	if instead != "" {
		return Usagef(command.Name, "unknown flag %s: %s", arg, instead)
	}
	return Usagef(command.Name, "unknown flag %s%s", arg, flagMeant(name, command.Flags))
}
