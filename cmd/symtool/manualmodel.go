package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// The model from which help, manual pages, the reference and the completions are written. It is
// made of the command definitions alone.

// manualCommand is a command.
type manualCommand struct {
	Name     string
	Title    string   // one line
	Synopsis []string // how it is called, a line each, "symtool" first
	Text     string   // the description, laid out for 80 columns
	Flags    []manualFlag
	Operands manualOperands
}

// manualFlag is a flag of a command.
type manualFlag struct {
	Name   string // without --
	Short  string // without -, "" for none
	Value  string // what the help calls its value, "" for none
	Text   string // lines of the help, without the quotes around Value
	Repeat bool

	Takes  valueKind
	Values []string // for takesValues
	List   bool     // of which several may be given, with commas
}

// head is the flag as the help writes it.
func (f *manualFlag) head() string {
	head := "--" + f.Name
	if f.Value != "" {
		head += " " + f.Value
	}
	if f.Short != "" {
		head = "-" + f.Short + ", " + head
	}
	return head
}

// valueKind is the kind of a value or an operand.
type valueKind uint8

const (
	takesNothing valueKind = iota // the flag has no value
	takesAnything
	takesFile
	takesFolder
	takesValues
)

// manualOperands are the operands of a command.
type manualOperands struct {
	Kind  valueKind // takesFile also if there are folders among them
	First []string  // words for the first operand, as well
}

// placeKinds maps a word of the help to the kind of value that it stands for. A test fails for a
// word that is missing: a new one is to be put here.
var placeKinds = map[string]valueKind{
	"FILE": takesFile, "PATH": takesFile, "BINARY": takesFile, "DEBUGFILE": takesFile, "DUMP": takesFile,
	"IN": takesFile, "OUT": takesFile, "OLD": takesFile, "NEW": takesFile, "A.json": takesFile, "B.json": takesFile,
	"DIR": takesFolder,

	"ADDR": takesAnything, "HEX": takesAnything, "ID": takesAnything, "LIST": takesAnything, "N": takesAnything,
	"NAME": takesAnything, "OLD=NEW": takesAnything, "PATTERN": takesAnything, "PERCENT": takesAnything,
	"POINTS": takesAnything, "SYSTEM": takesAnything, "URL": takesAnything,
	"REGEX=TEMPLATE": takesAnything, "VAR=VALUE": takesAnything, "FILE,DIR": takesAnything, "TARGET": takesAnything,
	"AGE": takesAnything, "SIZE": takesAnything, "LEVEL": takesAnything, "PREFIX": takesAnything, "ORIGIN": takesAnything, "TIME": takesAnything,
	"NAME=VALUE": takesAnything, "REGION": takesAnything,
}

// manualCommands are the commands of the program, in the order of its help.
func manualCommands(app *cli.App) (all []manualCommand) {
	for _, c := range app.Commands {
		all = append(all, newManualCommand(app, c))
	}
	return all
}

func newManualCommand(app *cli.App, c *cli.Command) manualCommand {
	m := manualCommand{
		Name: c.Name, Title: c.Usage,
		Synopsis: strings.Split(strings.TrimSpace(c.UsageText), "\n"),
		Text:     strings.TrimSpace(c.Description),
	}
	for _, f := range c.Flags {
		m.Flags = append(m.Flags, newManualFlag(f))
	}
	m.Operands = operandsOf(app, m.Synopsis)
	if len(m.Flags) > 0 {
		m.Flags = append(m.Flags, manualFlag{Name: "help", Short: "h", Text: "print this"})
	}
	return m
}

func newManualFlag(f cli.Flag) manualFlag {
	words, _ := f.(*wordFlag)
	if words != nil {
		f = words.DocGenerationFlag
	}
	doc := f.(cli.DocGenerationFlag)
	value, text := valueName(doc.GetUsage())
	m := manualFlag{Name: f.Names()[0], Value: value, Text: text}
	if names := f.Names(); len(names) > 1 {
		m.Short = names[1]
	}
	if slice, ok := f.(cli.DocGenerationSliceFlag); ok {
		m.Repeat = slice.IsSliceFlag()
	}
	if !doc.TakesValue() {
		return m
	}
	if words != nil {
		m.Takes, m.Values, m.List = takesValues, words.values, words.list
	} else {
		m.Takes = placeKinds[value]
	}
	return m
}

// valueName extracts the word in backquotes, which names the value, from a usage.
func valueName(usage string) (value, text string) {
	before, after, ok := strings.Cut(usage, "`")
	if !ok {
		return "", usage
	}
	value, rest, _ := strings.Cut(after, "`")
	return value, before + value + rest
}

// operandsOf reads the operands from the synopsis of a command.
func operandsOf(app *cli.App, synopsis []string) (o manualOperands) {
	for _, line := range synopsis {
		words := strings.Fields(line)
		for i, word := range words[min(2, len(words)):] {
			o.take(app, word, words[i+1])
		}
	}
	return o
}

// take interprets a word of a line; the word before it may be a flag with this value.
func (o *manualOperands) take(app *cli.App, word, before string) {
	if flag := strings.Trim(before, "[]"); strings.HasPrefix(word, "-") || strings.HasPrefix(word, "[-") || word == "[flags]" ||
		strings.HasPrefix(flag, "-") && before != "--compare" {
		return
	}
	word = strings.TrimSuffix(strings.Trim(word, "[]"), "...")
	switch kind := placeKinds[word]; {
	case word == "COMMAND":
		for _, c := range app.Commands {
			o.First = append(o.First, c.Name)
		}
	case word == strings.ToLower(word):
		for _, w := range strings.Split(word, "|") {
			if !slices.Contains(o.First, w) {
				o.First = append(o.First, w)
			}
		}
	case kind == takesFile, kind == takesFolder && o.Kind == takesNothing:
		o.Kind = kind
	}
}
