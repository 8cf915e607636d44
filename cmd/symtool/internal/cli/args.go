package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// CheckDumps checks the operands of a command that reads dumps. At most one operand may be standard input. name is
// what the command's help calls the operands.
func CheckDumps(name string, files []string) error {
	stdin := 0
	for _, file := range files {
		switch file {
		case "":
			return fmt.Errorf(`%s is "": want a file, or - for standard input`, name)
		case "-":
			stdin++
		}
	}
	if stdin > 1 {
		return fmt.Errorf("%s is - %d times: standard input can be read once", name, stdin)
	}
	return nil
}

// CheckFiles checks the operands of a command that reads files. At most one operand may be standard input.
func CheckFiles(files []string) error {
	stdin := 0
	for _, file := range files {
		switch file {
		case "":
			return errors.New("the name of a file is empty")
		case "-":
			stdin++
		}
	}
	if stdin > 1 {
		return errors.New("standard input is given twice, but can be read only once")
	}
	return nil
}

// permute moves a command's flags before its operands, as the flag package requires, so that users may mix both;
// "--" ends the flags. It accepts a value attached to a short name (-j4) and finds --help anywhere.
func permute(app *cli.App, args []string) ([]string, error) {
	if len(args) < 2 {
		return args, nil
	}
	command := app.Command(args[1])
	if command == nil {
		return args, checkRootFlags(app, args[1:])
	}
	if command.SkipFlagParsing && (len(args) < 3 || !isHelp(args[2])) {
		return slices.Concat(args[:2], []string{"--"}, args[2:]), nil
	}
	p := permuter{app: app, command: command, values: map[string]bool{}}
	for _, f := range command.Flags {
		takes := f.(cli.DocGenerationFlag).TakesValue()
		for _, name := range f.Names() {
			p.values[name] = takes
		}
	}
	if err := p.scan(args[2:]); err != nil {
		return nil, err
	}
	return slices.Concat(args[:2], p.flags, []string{"--"}, p.operands), nil
}

// checkRootFlags checks arguments that do not begin with a command: the flags of the program itself, up to the first
// argument that is not a flag.
func checkRootFlags(app *cli.App, args []string) error {
	for _, arg := range args {
		switch {
		case isHelp(arg):
			return &helpRequest{appHelp(app)}
		case !strings.HasPrefix(arg, "-"):
			return nil
		case !slices.ContainsFunc(app.Flags, func(f cli.Flag) bool {
			return slices.Contains(f.Names(), strings.TrimLeft(arg, "-"))
		}):
			return rootFlag(app, arg)
		}
	}
	return nil
}

// helpRequest ends the parsing of arguments because help was requested.
type helpRequest struct{ text string }

func (*helpRequest) Error() string { return "help requested" }

func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

type permuter struct {
	app      *cli.App
	command  *cli.Command
	values   map[string]bool // name of each flag -> takes a value
	flags    []string
	operands []string
}

func (p *permuter) scan(args []string) error {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			p.operands = append(p.operands, args...)
			return nil
		case isHelp(arg):
			m := NewModel(p.app, p.command)
			return &helpRequest{briefHelp(&m, commandHelp(&m))}
		case len(arg) < 2 || arg[0] != '-':
			p.operands = append(p.operands, arg)
		default:
			rest, err := p.flag(arg, args)
			if err != nil {
				return err
			}
			args = rest
		}
	}
	return nil
}

// flag parses one flag with its value and returns the remaining arguments.
func (p *permuter) flag(arg string, rest []string) ([]string, error) {
	name, _, hasValue := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
	takes, known := p.values[name]
	if !known && p.values[arg[1:2]] {
		p.flags = append(p.flags, arg[:2], arg[2:])
		return rest, nil
	}
	if !known {
		return nil, unknownFlag(p.command, arg)
	}
	p.flags = append(p.flags, arg)
	if !takes || hasValue {
		return rest, nil
	}
	if len(rest) == 0 {
		return nil, Usagef(p.command.Name, "flag %s needs a value", arg)
	}
	p.flags = append(p.flags, rest[0])
	return rest[1:], nil
}

// Spaced joins the non-empty texts with spaces.
func Spaced(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// Quoted returns text quoted as one word for a shell.
func Quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// ShellWord returns a name as a word of a command line, quoted if necessary.
func ShellWord(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:@%,=", r)
	}) {
		return Quoted(name)
	}
	return name
}
