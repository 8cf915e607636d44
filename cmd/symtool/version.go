package main

import (
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"
)

// version is a constant, not taken from the build: two builds of one source
// write the same symbol files.
const version = "0.1.0-dev"

// generator is the value of INFO GENERATOR.
const generator = "symtool " + version

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:      "version",
		Usage:     "print the version",
		UsageText: "symtool version",
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usagef("version", "unexpected operand %q", c.Args().First())
			}
			return printVersion(c)
		},
	}
}

func printVersion(c *cli.Context) error {
	return writeText(c.App.Writer, fmt.Sprintf("%s (%s %s/%s)\n", generator, runtime.Version(), runtime.GOOS, runtime.GOARCH))
}
