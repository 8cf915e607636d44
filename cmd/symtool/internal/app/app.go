// Package app is the program symtool: its commands, and what runs them. The tests of each command, which are beside it,
// use this package.
package app

import (
	"context"
	"io"

	"github.com/symtool/symtool/cmd/symtool/integration"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/completion"
	"github.com/symtool/symtool/cmd/symtool/internal/convert"
	"github.com/symtool/symtool/cmd/symtool/internal/diff"
	"github.com/symtool/symtool/cmd/symtool/internal/doctor"
	"github.com/symtool/symtool/cmd/symtool/internal/dropin"
	"github.com/symtool/symtool/cmd/symtool/internal/dump"
	"github.com/symtool/symtool/cmd/symtool/internal/formats"
	"github.com/symtool/symtool/cmd/symtool/internal/inspect"
	"github.com/symtool/symtool/cmd/symtool/internal/lint"
	"github.com/symtool/symtool/cmd/symtool/internal/logs"
	"github.com/symtool/symtool/cmd/symtool/internal/resolve"
	"github.com/symtool/symtool/cmd/symtool/internal/serve"
	"github.com/symtool/symtool/cmd/symtool/internal/sframe"
	"github.com/symtool/symtool/cmd/symtool/internal/store"
	"github.com/symtool/symtool/cmd/symtool/internal/upload"
	"github.com/symtool/symtool/cmd/symtool/internal/version"
	"github.com/symtool/symtool/cmd/symtool/internal/walk"
)

// Run runs the program and returns its exit status. The first of args is the name of the program.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Run(ctx, Commands, dropin.Args(args), stdin, stdout, stderr)
}

// Commands returns the commands of the program in the order of its help. msgs is the error stream.
func Commands(msgs *cli.Messages) []*cli.Command {
	return []*cli.Command{
		dump.Command(msgs),
		convert.Command(msgs),
		sframe.Command(msgs),
		inspect.Command(msgs),
		resolve.Command(msgs),
		walk.Command(msgs),
		lint.Command(msgs),
		diff.Command(msgs),
		store.Command(msgs),
		serve.Command(msgs),
		upload.Command(msgs),
		integration.Command(),
		doctor.Command(msgs),
		dropin.Command(msgs),
		completion.Command(),
		version.Command(),
		cli.HelpCommand(cli.ExitTopic(), formats.Topic(), logs.Topic()),
	}
}
