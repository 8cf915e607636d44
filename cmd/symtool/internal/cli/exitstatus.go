package cli

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"
)

// exitStatus prints the error, once, and returns the exit status.
func exitStatus(ctx context.Context, app *cli.App, err error) int {
	var ended *EndedError
	if errors.As(err, &ended) {
		return ended.Status
	}
	if ctx.Err() != nil {
		return signalStatus(ctx)
	}
	var (
		help   *helpRequest
		usage  *UsageError
		status *StatusError
		msgs   = app.ErrWriter.(*Messages)
	)
	switch {
	case err == nil:
		return StatusOK
	case errors.As(err, &help):
		return report(msgs, WriteText(app.Writer, help.text))
	case errors.As(err, &usage):
		name := app.Name
		if usage.command != "" {
			name += " " + usage.command
		}
		msgs.Printf("%s: %s (see %s --help)", name, usage.msg, name)
		return StatusUsage
	case errors.As(err, &status):
		return report(msgs, err)
	}
	return report(msgs, &StatusError{Status: StatusInput, Err: err})
}

func report(msgs *Messages, err error) int {
	var status *StatusError
	if !errors.As(err, &status) {
		return StatusOK
	}
	if status.Err != nil {
		msgs.Printf("symtool: %v", status.Err)
	}
	return status.Status
}
