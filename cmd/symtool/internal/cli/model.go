package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// This file has the model from which help, manual pages, the reference and completions are
// generated. It is derived from the command definitions alone.

// CommandModel describes a command.
type CommandModel struct {
	App      string // "symtool"
	Name     string
	Title    string   // one line
	Synopsis []string // ways to call it, one per line, starting with "symtool"
	Text     string   // description, laid out for 80 columns
	Examples string   // command lines, indented
	Flags    []FlagModel
	Operands OperandsModel
}

// FlagModel describes a flag of a command.
type FlagModel struct {
	Name   string // without leading --
	Short  string // without -, or ""
	Value  string // the word for its value in the help, or ""
	Text   string // lines of the help, without the quotes around Value
	Repeat bool

	Takes  valueKind
	Values []string // if Kind is TakesValues
	List   bool     // the value is a comma-separated list of Values
}

// Head returns the flag as the help shows it.
func (f *FlagModel) Head() string {
	head := "--" + f.Name
	if f.Value != "" {
		head += " " + f.Value
	}
	if f.Short != "" {
		head = "-" + f.Short + ", " + head
	}
	return head
}

// valueKind is the kind of value that a flag or an operand has.
type valueKind uint8

const (
	TakesNothing valueKind = iota // the flag has no value
	TakesAnything
	TakesFile
	TakesFolder
	TakesValues
)

// OperandsModel describes the operands of a command.
type OperandsModel struct {
	Kind  valueKind // TakesFile includes folders
	First []string  // words that may also be the first operand
}

// placeKinds maps a word of the help to the kind of value that it stands for. A test fails for a
// missing word: add new words here.
var placeKinds = map[string]valueKind{
	"FILE": TakesFile, "PATH": TakesFile, "BINARY": TakesFile, "DEBUGFILE": TakesFile, "DUMP": TakesFile,
	"IN": TakesFile, "OUT": TakesFile, "OLD": TakesFile, "NEW": TakesFile, "A.json": TakesFile, "B.json": TakesFile,
	"DIR": TakesFolder,

	"ADDR": TakesAnything, "HEX": TakesAnything, "ID": TakesAnything, "LIST": TakesAnything, "N": TakesAnything,
	"NAME": TakesAnything, "OLD=NEW": TakesAnything, "PATTERN": TakesAnything, "PERCENT": TakesAnything,
	"POINTS": TakesAnything, "SYSTEM": TakesAnything, "URL": TakesAnything,
	"REGEX=TEMPLATE": TakesAnything, "VAR=VALUE": TakesAnything, "FILE,DIR": TakesAnything, "TARGET": TakesAnything,
	"AGE": TakesAnything, "CPU": TakesAnything, "SIZE": TakesAnything, "LEVEL": TakesAnything, "PREFIX": TakesAnything, "ORIGIN": TakesAnything, "TIME": TakesAnything,
	"NAME=VALUE": TakesAnything, "REGION": TakesAnything, "TEXT": TakesAnything, "ARGUMENT": TakesAnything,
}

// examplesTitle begins the last part of a command's description, which has an example on each
// line. NewModel makes Examples of it.
const examplesTitle = "\n\nExamples:\n"

// Models returns the commands of the program in the order of its help.
func Models(app *cli.App) (all []CommandModel) {
	for _, c := range app.Commands {
		all = append(all, NewModel(app, c))
	}
	return all
}

// NewModel returns the model of a command.
func NewModel(app *cli.App, c *cli.Command) CommandModel {
	m := CommandModel{
		App: app.Name, Name: c.Name, Title: c.Usage,
		Synopsis: strings.Split(strings.TrimSpace(c.UsageText), "\n"),
	}
	text, examples, _ := strings.Cut(c.Description, examplesTitle)
	m.Text, m.Examples = strings.TrimSpace(text), strings.TrimRight(examples, "\n")
	for _, f := range c.Flags {
		m.Flags = append(m.Flags, newManualFlag(f))
	}
	m.Operands = operandsOf(app, m.Synopsis)
	if len(m.Flags) > 0 {
		m.Flags = append(m.Flags, FlagModel{Name: "help", Short: "h", Text: "print this help"})
	}
	return m
}

func newManualFlag(f cli.Flag) FlagModel {
	doc, words := bare(f)
	value, text := valueName(doc.GetUsage())
	m := FlagModel{Name: f.Names()[0], Value: value, Text: text}
	if names := f.Names(); len(names) > 1 {
		m.Short = names[1]
	}
	if slice, ok := doc.(cli.DocGenerationSliceFlag); ok {
		m.Repeat = slice.IsSliceFlag()
	}
	if !doc.TakesValue() {
		return m
	}
	if words != nil {
		m.Takes, m.Values, m.List = TakesValues, words.values, words.list
	} else {
		m.Takes = placeKinds[value]
	}
	return m
}

// valueName extracts the name of the value, the word in backquotes, from a usage.
func valueName(usage string) (value, text string) {
	before, after, ok := strings.Cut(usage, "`")
	if !ok {
		return "", usage
	}
	value, rest, _ := strings.Cut(after, "`")
	return value, before + value + rest
}

// operandsOf reads a command's operands from its synopsis.
func operandsOf(app *cli.App, synopsis []string) (o OperandsModel) {
	for _, line := range synopsis {
		words := strings.Fields(line)
		for i, word := range words[min(2, len(words)):] {
			o.take(app, word, words[i+1])
		}
	}
	return o
}

// take interprets a word of a synopsis line. before is the preceding word, which may be a flag
// that takes word as its value.
func (o *OperandsModel) take(app *cli.App, word, before string) {
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
	case kind == TakesFile, kind == TakesFolder && o.Kind == TakesNothing:
		o.Kind = kind
	}
}

// Environment lists the variables that the program reads. A variable with a Flag is read only by
// the commands that have this flag, any other variable by all commands.
var Environment = []struct{ Name, Flag, Text string }{
	{"DEBUGINFOD_URLS", "debuginfod", "The debuginfod servers, separated by blanks. Of elfutils' other variables DEBUGINFOD_CACHE_PATH, DEBUGINFOD_TIMEOUT, DEBUGINFOD_MAXTIME, DEBUGINFOD_MAXSIZE and DEBUGINFOD_PROGRESS are honoured."},
	{"XDG_CACHE_HOME", "symbol-cache", "The folder of caches. Files from symbol servers are kept in its subfolder symtool/symbols."},
	{"NO_COLOR", "color", "If it is set and not empty, or if TERM is dumb, --color auto means never."},
	{"TMPDIR", "", "The folder for temporary files, which large inputs need."},
}
