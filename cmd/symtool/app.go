package main

import (
	"io"

	"github.com/urfave/cli/v2"
)

// commands returns the commands of the program, in the order of its help. msgs is the error stream.
func commands(msgs *messages) []*cli.Command {
	return []*cli.Command{
		dumpCommand(msgs),
		convertCommand(msgs),
		sframeCommand(msgs),
		inspectCommand(msgs),
		resolveCommand(msgs),
		walkCommand(msgs),
		lintCommand(msgs),
		diffCommand(msgs),
		storeCommand(msgs),
		serveCommand(msgs),
		uploadCommand(msgs),
		integrationCommand(),
		doctorCommand(msgs),
		completionCommand(),
		versionCommand(),
		helpCommand(),
	}
}

// newApp returns the program with its commands.
func newApp(stdin io.Reader, stdout io.Writer, msgs *messages) *cli.App {
	return newProgram(stdin, stdout, msgs, commands(msgs)...)
}
