package cli

import (
	"slices"

	"github.com/urfave/cli/v2"
)

// hasLogLevel reports whether a command has the flag. Only commands that do work do; the others
// just print.
func hasLogLevel(c *cli.Command) bool { return len(c.Flags) > 0 && c.Name != "version" }

// addLogLevel gives a command the flag.
func addLogLevel(c *cli.Command, msgs *Messages) {
	c.Flags = append(c.Flags, Words(&cli.StringFlag{Name: "log-level", Value: "warn", Usage: "what goes to standard error: `LEVEL` is off, error (as --quiet where that is), warn\n" +
		"(default), info (as --verbose), debug (and version, time and memory) or trace\n(and the steps of walk)"}, logLevels...))
	c.Before = func(c *cli.Context) error { return applyLogLevel(c, msgs) }
}

// applyLogLevel sets the level of the messages, and the flag that it stands for. What
// goes to standard output does not depend on it.
func applyLogLevel(c *cli.Context, msgs *Messages) error {
	if !c.IsSet("log-level") {
		return nil
	}
	name := c.Command.Name
	if err := OneOf(c, "log-level", logLevels...); err != nil {
		return Usagef(name, "%v", err)
	}
	has := func(flag string) bool {
		return slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return f.Names()[0] == flag })
	}
	for _, flag := range []string{"verbose", "quiet"} {
		if has(flag) && c.IsSet(flag) {
			return Usagef(name, "--log-level and --%s exclude each other", flag)
		}
	}
	level := logLevel(slices.Index(logLevels, c.String("log-level")))
	msgs.setLevel(level)
	flag := ""
	switch {
	case level <= logError:
		flag = "quiet"
	case level >= logInfo:
		flag = "verbose"
	}
	if flag != "" && has(flag) {
		if err := c.Set(flag, "true"); err != nil {
			return Usagef(name, "%v", err)
		}
	}
	if level >= logDebug && !(name == "dump" && c.String("format") == FormatJSON) { // standard error may hold the document then
		msgs.startDebug(name)
	}
	return nil
}
