// Package dropin lets symtool take the place of other programs: started under the name of one, or
// as symtool as NAME, it takes that program's command line, does what it asks for, and ends with the
// exit status that the program would have.
package dropin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/suppliers"
	"github.com/symtool/symtool/cmd/symtool/internal/symbolizer"
	"github.com/symtool/symtool/resolve/supplier"
)

const description = `
Takes the command line of another program, so that a script need not change: a
link to symtool with the program's name does the same. symtool as NAME --help
lists the program's options, and what each does here. An option that symtool has
nothing for is refused by its name, or reported if the result is the same
without it. Messages are symtool's, the exit status is the program's. What maps
to what is in docs/switching.md, with a page for each program.
`

// Command returns the command symtool as.
func Command(msgs *cli.Messages) *cli.Command {
	cli.Programs = known()
	var text strings.Builder
	text.WriteString(description + "\nPrograms:\n")
	for _, p := range programs {
		fmt.Fprintf(&text, "  %-19s %s\n", p.name, p.title)
	}
	return &cli.Command{
		Name:            "as",
		Usage:           "do what another program's command line asks for",
		UsageText:       "symtool as " + strings.Join(Names(), "|") + " [ARGUMENT...]",
		Description:     text.String(),
		SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			p := named(c.Args().First())
			if p == nil {
				return cli.Usagef("as", "%s", unknownProgram(c.Args().First()))
			}
			return p.run(c, msgs, c.Args().Tail())
		},
	}
}

// known returns the programs, for messages about options that a command does not have.
func known() (all []cli.Program) {
	for _, p := range programs {
		known := cli.Program{Name: p.name}
		for _, o := range p.options {
			known.Options = append(known.Options, o.long, o.short)
		}
		all = append(all, known)
	}
	return all
}

// Args returns symtool's command line for a program's command line: args begins with the name under which the
// program was started.
func Args(args []string) []string {
	if len(args) == 0 {
		return args
	}
	if p := named(plainName(filepath.Base(args[0]))); p != nil {
		return append([]string{"symtool", "as", p.name}, args[1:]...)
	}
	return args
}

// decorated matches the names that systems give to one of several versions of a program: llvm-symbolizer-22,
// aarch64-linux-gnu-addr2line.
var decorated = regexp.MustCompile(`^(llvm-symbolizer|llvm-addr2line)-[0-9.]+$|^[a-z0-9_]+-[a-z0-9_-]+-(addr2line)$`)

// plainName returns the name of a program without what systems add to it for a version or a target.
func plainName(name string) string {
	name = strings.TrimSuffix(name, ".exe")
	if m := decorated.FindStringSubmatch(name); m != nil {
		return m[1] + m[2]
	}
	return name
}

// program is a program whose place symtool can take.
type program struct {
	name, title string
	usage       []string // forms of its command line, without the program's name
	options     []option
	// plan returns what a command line asks symtool to do.
	plan func(*commandLine) (*plan, error)

	noOperands      bool // it works without operands
	attached        bool // what follows a letter is its value, even if the value is optional
	abbreviated     bool // a unique prefix of a long name stands for it, as in getopt_long
	failed, misused int  // exit statuses: when the program fails, and for a wrong command line
}

// programs lists the programs in the order of the help.
var programs = []*program{&dumpSyms, &breakpadStackwalk, &rustStackwalk, &llvmSymbolizer, &llvmAddr2line, &addr2line, &euAddr2line, &euStack, &euUnstrip}

func named(name string) *program {
	for _, p := range programs {
		if p.name == name {
			return p
		}
	}
	return nil
}

// Names returns the names of the programs.
func Names() (all []string) {
	for _, p := range programs {
		all = append(all, p.name)
	}
	return all
}

func unknownProgram(name string) string {
	if name == "" {
		return "no program, want " + cli.Choice(Names())
	}
	return fmt.Sprintf("unknown program %q%s", name, cli.DidYouMean(name, Names(), "want "+cli.Choice(Names())))
}

// plan is what a command line asks symtool to do: make calls one after the other, as long as they succeed,
// symbolize operands, or print stacks.
type plan struct {
	calls     [][]string // each a command with its flags and operands
	symbolize *symbolizer.Options
	operands  []string
	stacks    *symbolizer.StackOptions // non-nil to print stacks
	local     bool                     // do not ask servers for debug files
	answer    string                   // what to print if there are no calls
	notes     []string                 // messages about options without effect
	log       string                   // file for messages; "" for standard error
	// strict means that findings of symtool, which the other programs do not have, make the program fail.
	strict bool
}

// run runs a command line.
func (p *program) run(c *cli.Context, msgs *cli.Messages, args []string) error {
	line, err := p.parse(args)
	switch {
	case err != nil:
		return p.misuse(msgs, err)
	case line.has("help"):
		return cli.WriteText(c.App.Writer, p.help())
	case line.has("version"):
		return cli.WriteText(c.App.Writer, cli.VersionLine())
	}
	plan, err := p.planOf(line)
	if err != nil {
		return p.misuse(msgs, err)
	}
	if plan.symbolize != nil {
		return p.symbolize(c, msgs, plan)
	}
	if plan.stacks != nil {
		plan.stacks.Program = p.name
		if plan.stacks.Fetcher, err = p.fetcher(plan, msgs); err != nil {
			return p.misuse(msgs, err)
		}
		return ended(symbolizer.Stacks(c.Context, *plan.stacks, msgs, c.App.Writer))
	}
	if plan.calls == nil {
		return cli.WriteText(c.App.Writer, plan.answer)
	}
	return p.follow(c, msgs, plan)
}

// symbolize answers addresses. Notes are printed first: the program may run for hours and answer other programs.
func (p *program) symbolize(c *cli.Context, msgs *cli.Messages, plan *plan) error {
	for _, note := range plan.notes {
		msgs.Warnf("%s: %s", p.name, note)
	}
	plan.symbolize.Program = p.name
	var err error
	if plan.symbolize.Fetcher, err = p.fetcher(plan, msgs); err != nil {
		return p.misuse(msgs, err)
	}
	status, err := symbolizer.Run(c.Context, *plan.symbolize, msgs, c.App.Reader, c.App.Writer, plan.operands)
	if err == nil && status == cli.StatusOK {
		return nil
	}
	return &cli.StatusError{Status: max(status, p.failed), Err: err}
}

// fetcher returns the debuginfod servers that the environment names, since the program also asks them, or nil.
func (p *program) fetcher(plan *plan, msgs *cli.Messages) (supplier.Fetcher, error) {
	if plan.local {
		return nil, nil
	}
	hush := "without this variable, no server is asked"
	if slices.ContainsFunc(p.options, func(o option) bool { return o.long == "no-debuginfod" }) {
		hush = "--no-debuginfod does not ask"
	}
	return suppliers.NewFetcher(&cli.Debuginfod{}, msgs, false, hush)
}

// ended returns the error that ends a program with a status.
func ended(status int, err error) error {
	if err == nil && status == cli.StatusOK {
		return nil
	}
	return &cli.StatusError{Status: status, Err: err}
}

// planOf returns the plan for a command line, unless one of its options is refused.
func (p *program) planOf(line *commandLine) (*plan, error) {
	if err := line.refusal(); err != nil {
		return nil, err
	}
	if len(line.operands) == 0 && !p.noOperands {
		return nil, errNoOperand
	}
	plan, err := p.plan(line)
	if err == nil {
		plan.notes = append(plan.notes, line.ignored()...)
	}
	return plan, err
}

// errNoOperand means that a command line names no file.
var errNoOperand = errors.New("no file is named")

// follow makes the calls of a plan. Notes are printed after them, because the calls set which messages are
// printed.
func (p *program) follow(c *cli.Context, msgs *cli.Messages, plan *plan) error {
	if plan.log != "" {
		log, err := os.Create(plan.log)
		if err != nil {
			return &cli.StatusError{Status: p.failed, Err: err}
		}
		defer log.Close()
		msgs.W = log
	}
	status := cli.StatusOK
	for _, call := range plan.calls {
		if status = p.status(c, call, plan.strict); status != cli.StatusOK {
			break
		}
	}
	for _, note := range plan.notes {
		msgs.Warnf("%s: %s", p.name, note)
	}
	if status != cli.StatusOK {
		return &cli.StatusError{Status: status}
	}
	return nil
}

// status makes a call and returns the program's exit status.
func (p *program) status(c *cli.Context, call []string, strict bool) int {
	status, written := cli.Call(c.Context, c.App, call)
	switch {
	case status == cli.StatusOK || c.Context.Err() != nil:
		return status
	case written && !strict:
		return cli.StatusOK
	case status == cli.StatusUsage:
		return p.misused
	}
	return p.failed
}

// misuse reports a wrong command line, and returns an error with the program's status for one.
func (p *program) misuse(msgs *cli.Messages, err error) error {
	msgs.Printf("%s: %v (see symtool as %s --help)", p.name, err, p.name)
	return &cli.StatusError{Status: p.misused}
}
