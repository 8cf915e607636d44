package dropin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
)

// option is an option of a program.
type option struct {
	long  string // without dashes, or ""
	short string // one letter, or ""
	value string // what the help calls its value; "" if it takes none
	// optional means that the value is optional: the option has one only if = follows.
	optional bool
	// oneDash means that the long name also accepts a value after a single dash, as in LLVM's programs:
	// -NAME=VALUE.
	oneDash bool
	text    string // what the option does here, or nothing if refused is set

	flag    string // symtool's flag that does the same; it takes the value if it ends in =
	ignored string // why the option has no effect, to be reported; "" to report nothing
	refused string // why a command line with the option is refused, or ""
}

// head returns the option as the help shows it.
func (o *option) head() string {
	var names []string
	if o.short != "" {
		names = append(names, "-"+o.short)
	}
	if o.long != "" {
		names = append(names, "--"+o.long)
	}
	if o.optional {
		return strings.Join(names, ", ") + "[=" + o.value + "]"
	}
	if o.value != "" {
		return strings.Join(names, ", ") + " " + o.value
	}
	return strings.Join(names, ", ")
}

// commandLine is a parsed command line of a program.
type commandLine struct {
	given    []givenOption
	operands []string
}

// givenOption is an option on a command line.
type givenOption struct {
	*option
	as    string // with dashes, as written
	value string
}

// values returns the values of all options with the name, in order.
func (l *commandLine) values(name string) (all []string) {
	for _, g := range l.given {
		if g.long == name || g.short == name {
			all = append(all, g.value)
		}
	}
	return all
}

func (l *commandLine) has(name string) bool { return len(l.values(name)) > 0 }

// last returns the value of the last option with the name, or "".
func (l *commandLine) last(name string) string {
	all := l.values(name)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// lastOf returns the long name and the value of the last option on the command line that has one of the names.
// name is "" if there is none.
func (l *commandLine) lastOf(names ...string) (name, value string) {
	for _, g := range slices.Backward(l.given) {
		if slices.Contains(names, g.long) {
			return g.long, g.value
		}
	}
	return "", ""
}

// refusal returns the error for the first refused option, or nil.
func (l *commandLine) refusal() error {
	for _, g := range l.given {
		if g.refused != "" {
			return fmt.Errorf("%s is not supported: %s", g.as, g.refused)
		}
	}
	return nil
}

// flags returns symtool's flags that do the same as the options.
func (l *commandLine) flags() (flags []string) {
	for _, g := range l.given {
		switch {
		case strings.HasSuffix(g.flag, "="):
			flags = append(flags, g.flag+g.value)
		case g.flag != "":
			flags = append(flags, g.flag)
		}
	}
	return flags
}

// ignored returns messages about the options that have no effect.
func (l *commandLine) ignored() (notes []string) {
	for _, g := range l.given {
		if g.ignored != "" {
			notes = append(notes, g.as+" has no effect: "+g.ignored)
		}
	}
	return notes
}

// parse parses a command line. Options may follow operands.
func (p *program) parse(args []string) (*commandLine, error) {
	r := parser{program: p, line: &commandLine{}, rest: args}
	for len(r.rest) > 0 {
		arg := r.rest[0]
		r.rest = r.rest[1:]
		if err := r.take(arg); err != nil {
			return nil, err
		}
	}
	return r.line, nil
}

type parser struct {
	*program
	line *commandLine
	rest []string // remaining arguments
}

func (r *parser) take(arg string) error {
	switch {
	case arg == "--":
		r.line.operands = append(r.line.operands, r.rest...)
		r.rest = nil
		return nil
	case strings.HasPrefix(arg, "--"):
		return r.long(arg)
	case r.oneDash(arg):
		return nil
	case len(arg) > 1 && arg[0] == '-':
		return r.letters(arg[1:])
	}
	r.line.operands = append(r.line.operands, arg)
	return nil
}

// long adds an option given by its long name.
func (r *parser) long(arg string) error {
	name, value, hasValue := strings.Cut(arg[2:], "=")
	o, err := r.longOption(name)
	switch {
	case err != nil:
		return err
	case o.value == "" && hasValue:
		return fmt.Errorf("--%s takes no value, not %q", o.long, value)
	}
	return r.add(o, "--"+o.long, value, hasValue)
}

// oneDash adds an option of the form -NAME=VALUE, and reports whether arg is one.
func (r *parser) oneDash(arg string) bool {
	name, value, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
	i := slices.IndexFunc(r.options, func(o option) bool { return o.oneDash && o.long == name })
	if i < 0 || arg[0] != '-' {
		return false
	}
	r.line.given = append(r.line.given, givenOption{&r.options[i], "-" + name, value})
	return true
}

// longOption returns the option with the long name.
func (r *parser) longOption(name string) (*option, error) {
	var known, begun []string
	var found *option
	for i := range r.options {
		o := &r.options[i]
		if o.long == name && name != "" {
			return o, nil
		}
		if o.long != "" {
			known = append(known, "--"+o.long)
		}
		if r.abbreviated && name != "" && strings.HasPrefix(o.long, name) {
			found, begun = o, append(begun, "--"+o.long)
		}
	}
	switch len(begun) {
	case 0:
	case 1:
		return found, nil
	default:
		return nil, fmt.Errorf("--%s is ambiguous: %s", name, cli.Choice(begun))
	}
	return nil, fmt.Errorf("unknown option --%s%s", name, cli.DidYouMean("--"+name, known, ""))
}

// letters adds the one-letter options in text. If one takes a value, the rest of text is its value.
func (r *parser) letters(text string) error {
	for text != "" {
		letter := text[:1]
		i := slices.IndexFunc(r.options, func(o option) bool { return o.short == letter })
		if i < 0 {
			return fmt.Errorf("unknown option -%s", letter)
		}
		o := &r.options[i]
		text = text[1:]
		if o.value != "" && text != "" && (!o.optional || r.attached || text[0] == '=') {
			if !r.attached {
				text = strings.TrimPrefix(text, "=")
			}
			return r.add(o, "-"+letter, text, true)
		}
		if err := r.add(o, "-"+letter, "", false); err != nil {
			return err
		}
	}
	return nil
}

// add adds an option. Its value may be the next argument.
func (r *parser) add(o *option, as, value string, hasValue bool) error {
	if o.value != "" && !hasValue && !o.optional {
		if len(r.rest) == 0 {
			return fmt.Errorf("%s needs a value: %s", as, o.value)
		}
		value, r.rest = r.rest[0], r.rest[1:]
	}
	r.line.given = append(r.line.given, givenOption{o, as, value})
	return nil
}

// helpIndent is the column where the text of an option begins in the help.
const helpIndent = 30

// help returns the text of `symtool as PROGRAM --help`.
func (p *program) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "symtool as %s: %s\n\nUsage:\n", p.name, p.title)
	for _, form := range p.usage {
		fmt.Fprintf(&b, "  symtool as %s %s\n", p.name, form)
	}
	b.WriteString("\nOptions:\n")
	indent := "\n" + strings.Repeat(" ", helpIndent)
	for i := range p.options {
		o := &p.options[i]
		text := o.text
		if o.refused != "" {
			text = "not supported: " + o.refused
		}
		head := "  " + o.head()
		if len(head) > helpIndent-2 {
			head, text = head+indent, strings.ReplaceAll(text, "\n", indent)
			fmt.Fprintf(&b, "%s%s\n", head, text)
			continue
		}
		fmt.Fprintf(&b, "%-*s%s\n", helpIndent, head, strings.ReplaceAll(text, "\n", indent))
	}
	fmt.Fprintf(&b, "\nExit status: 0, %d if it failed, %d for a wrong command line.\n", p.failed, p.misused)
	return b.String()
}
