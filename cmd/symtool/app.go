package main

import (
	"context"
	"errors"
	"io"

	"github.com/urfave/cli/v2"
)

// newApp returns the program with its commands. msgs is the error stream.
func newApp(stdin io.Reader, stdout io.Writer, msgs *messages) *cli.App {
	app := &cli.App{
		Name:      "symtool",
		Usage:     "symbol files for crash reports",
		Reader:    stdin,
		Writer:    stdout,
		ErrWriter: msgs,
		Commands: []*cli.Command{
			dumpCommand(msgs),
			convertCommand(msgs),
			sframeCommand(msgs),
			inspectCommand(msgs),
			resolveCommand(msgs),
			walkCommand(msgs),
			lintCommand(msgs),
			diffCommand(msgs),
			storeCommand(stdin, msgs),
			serveCommand(msgs),
			uploadCommand(msgs),
			integrationCommand(),
			doctorCommand(msgs),
			completionCommand(),
			versionCommand(),
			helpCommand(),
		},
		Action: rootAction,
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "version", Usage: "print the version"}},
	}
	for _, c := range app.Commands {
		if hasLogLevel(c) {
			addLogLevel(c, msgs)
		}
	}
	return app
}

// rootAction runs if no command has the name.
func rootAction(c *cli.Context) error {
	switch {
	case c.Bool("version"):
		return printVersion(c)
	case c.Args().Present():
		return usagef("", "unknown command %q", c.Args().First())
	}
	return usagef("", "no command")
}

// exitStatus prints the error, once, and returns its status.
func exitStatus(ctx context.Context, app *cli.App, err error) int {
	var ended *endedError
	if errors.As(err, &ended) {
		return ended.status
	}
	if ctx.Err() != nil {
		return signalStatus(ctx)
	}
	var (
		help   *helpRequest
		usage  *usageError
		status *statusError
		msgs   = app.ErrWriter.(*messages)
	)
	switch {
	case err == nil:
		return statusOK
	case errors.As(err, &help):
		return report(msgs, writeText(app.Writer, help.text))
	case errors.As(err, &usage):
		name := app.Name
		if usage.command != "" {
			name += " " + usage.command
		}
		msgs.printf("%s: %s (%s --help tells how it is called)", name, usage.msg, name)
		return statusUsage
	case errors.As(err, &status):
		return report(msgs, err)
	}
	return report(msgs, &statusError{statusInput, err})
}

func report(msgs *messages, err error) int {
	var status *statusError
	if !errors.As(err, &status) {
		return statusOK
	}
	if status.err != nil {
		msgs.printf("symtool: %v", status.err)
	}
	return status.status
}
