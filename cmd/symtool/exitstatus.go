package main

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"
)

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
