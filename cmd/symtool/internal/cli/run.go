// Package cli holds what the commands of symtool share: flags, help, messages, outputs, progress
// and exit statuses. A command is a value of type Command; Run runs the one that the arguments
// name.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/symtool/symtool/internal/version"
)

// Run runs the command that args name until it is done or a signal ends it, and returns its exit
// status.
func Run(ctx context.Context, commands Commands, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	putOffCollector()
	ctx, stop := withSignals(ctx)
	defer stop()
	done := make(chan int, 1)
	go func() { done <- execute(ctx, commands, args, stdin, stdout, stderr) }()
	select {
	case status := <-done:
		return status
	case <-ctx.Done():
	}
	select {
	case status := <-done:
		return status
	case <-time.After(time.Duration(Grace.Load())):
		Temporaries.removeAll()
	}
	return signalStatus(ctx)
}

// execute parses args and runs the command.
func execute(ctx context.Context, commands Commands, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	msgs := NewMessages(stderr)
	app := NewApp(stdin, stdout, msgs, commands)
	args, err := expandArgs(args)
	if err == nil {
		err = call(ctx, app, args)
	}
	status := exitStatus(ctx, app, err)
	msgs.endDebug(status)
	return status
}

// call parses a command line and runs its command.
func call(ctx context.Context, app *cli.App, args []string) error {
	args, err := permute(app, args)
	if err != nil {
		return err
	}
	return runApp(ctx, app, args)
}

// Call runs another command on behalf of a command. args is its command line without the name of
// the program. Call prints the error, and returns the exit status and whether the whole output was
// written. Commands store the values of their flags, so each call has commands of its own.
func Call(ctx context.Context, app *cli.App, args []string) (status int, written bool) {
	app = NewApp(app.Reader, app.Writer, app.ErrWriter.(*Messages), app.Metadata[commandsKey].(Commands))
	err := call(ctx, app, append([]string{app.Name}, args...))
	var known *StatusError
	return exitStatus(ctx, app, err), err == nil || errors.As(err, &known) && known.Written
}

// Commands returns the commands of the program. msgs is the error stream.
type Commands func(msgs *Messages) []*cli.Command

// commandsKey is the key of an App's Commands in its metadata.
const commandsKey = "commands"

// NewApp returns the program symtool with the given commands. msgs is the error stream.
func NewApp(stdin io.Reader, stdout io.Writer, msgs *Messages, commands Commands) *cli.App {
	app := &cli.App{
		Name:      "symtool",
		Usage:     "symbol files for crash reports",
		Reader:    stdin,
		Writer:    stdout,
		ErrWriter: msgs,
		Commands:  commands(msgs),
		Metadata:  map[string]any{commandsKey: commands},
		Action:    rootAction,
		Flags:     []cli.Flag{&cli.BoolFlag{Name: "version", Aliases: []string{"V"}, Usage: "print the version"}},
	}
	for _, c := range app.Commands {
		if hasLogLevel(c) {
			addLogLevel(c, msgs)
		}
	}
	return app
}

// rootAction runs if no command matches.
func rootAction(c *cli.Context) error {
	switch {
	case c.Bool("version"):
		return WriteText(c.App.Writer, VersionLine())
	case c.Args().Present():
		return unknownCommand(c.App, c.Args().First())
	}
	return Usagef("", "no command")
}

// runApp runs the command named by args, or the program's own action. It replaces the Run method of
// cli.App, which prints help and usage errors in a form of its own.
func runApp(ctx context.Context, app *cli.App, args []string) error {
	root := cli.NewContext(app, nil, nil)
	root.Context = ctx
	c, err := parseFlags(root, app.Flags, args[min(1, len(args)):])
	if err != nil {
		return Usagef("", "%v", err)
	}
	command := app.Command(c.Args().First())
	if command == nil {
		return app.Action(c)
	}
	c, err = parseFlags(c, command.Flags, c.Args().Tail())
	if err != nil {
		return Usagef(command.Name, "%v", err)
	}
	c.Command = command
	if err := checkConditions(c, command.Flags); err != nil {
		return Usagef(command.Name, "%v", err)
	}
	if command.Before != nil {
		if err := command.Before(c); err != nil {
			return err
		}
	}
	return command.Action(c)
}

// parseFlags parses args and returns a context in which the flags have their values, and the
// remaining arguments are operands.
func parseFlags(parent *cli.Context, flags []cli.Flag, args []string) (*cli.Context, error) {
	values := flag.NewFlagSet("", flag.ContinueOnError)
	parser := flag.NewFlagSet("", flag.ContinueOnError)
	parser.SetOutput(io.Discard)
	var all []*flagSetting
	for _, f := range flags {
		if err := f.Apply(values); err != nil {
			return nil, err
		}
		setting := &flagSetting{flag: f, set: values, value: values.Lookup(f.Names()[0]).Value}
		all = append(all, setting)
		for _, name := range f.Names() {
			parser.Var(setting, name, "")
		}
	}
	if err := parser.Parse(args); err != nil {
		return nil, err
	}
	for _, setting := range all {
		if err := setting.apply(); err != nil {
			return nil, err
		}
	}
	err := values.Parse(slices.Concat([]string{"--"}, parser.Args()))
	return cli.NewContext(parent.App, values, parent), err
}

// flagSetting collects the values that a flag has on the command line, under any of its names. It
// implements flag.Value. No flag is set before all arguments are parsed.
type flagSetting struct {
	flag  cli.Flag
	set   *flag.FlagSet
	value flag.Value
	given []string // in order
}

func (s *flagSetting) String() string { return "" }

// IsBoolFlag reports to package flag whether the flag takes no value.
func (s *flagSetting) IsBoolFlag() bool {
	b, ok := s.value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

func (s *flagSetting) Set(value string) error {
	s.given = append(s.given, value)
	return nil
}

// apply sets the flag to all values if it may be repeated, or else to the last one. A repeated flag
// is set in one step, since StringSlice would split each value at commas, which folder names may
// contain.
func (s *flagSetting) apply() error {
	if len(s.given) == 0 {
		return nil
	}
	value := s.given[len(s.given)-1]
	if _, ok := s.value.(*cli.StringSlice); ok {
		value = cli.NewStringSlice(s.given...).Serialize()
	}
	names := s.flag.Names()
	for _, name := range names {
		if err := s.set.Set(name, value); err != nil {
			var want wanted
			if !errors.As(err, &want) {
				want = wantedValue(s.flag)
			}
			return fmt.Errorf("--%s is %q%w", names[0], value, want)
		}
	}
	if c, ok := s.flag.(*conditionedFlag); ok && c.all != nil {
		return c.all(s.given)
	}
	return nil
}

// wantedValue describes what a flag's value must be, for flags whose value is not text.
func wantedValue(f cli.Flag) wanted {
	f, words := bare(f)
	switch f.(type) {
	case *cli.BoolFlag:
		return "true or false"
	case *cli.DurationFlag:
		return "a time, such as 90s or 2h"
	case *cli.Float64Flag:
		return "a number"
	}
	if words != nil {
		return wanted(Choice(words.values))
	}
	return "a whole number of at most 18 digits"
}

// VersionLine returns what symtool --version prints: the program, Go and the platform.
func VersionLine() string {
	return fmt.Sprintf("%s (%s %s/%s)\n", version.Generator, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
